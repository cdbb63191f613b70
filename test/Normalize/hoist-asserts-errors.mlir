// RUN: tilewright-opt %s -tilewright-hoist-asserts -verify-diagnostics

func.func @PartOfASum(%x: tensor<9xi64>, %o: tensor<i64>) -> tensor<i64> {
  %c = arith.constant 100 : i64
  // expected-error @below {{asserts something of a sum that is not yet complete; assert it of the result}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<9xi64>) outs(%o : tensor<i64>) {
  ^bb0(%a: i64, %acc: i64):
    %s = arith.addi %a, %acc : i64
    %k = arith.cmpi slt, %s, %c : i64
    cf.assert %k, "too large"
    linalg.yield %s : i64
  } -> tensor<i64>
  return %r : tensor<i64>
}
