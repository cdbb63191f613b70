// Asserts are checked unless --asserts=off drops them.
// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu --stop-after=normalize -o - | FileCheck %s
// RUN: tilewright-compile %s --target=cpu --stop-after=normalize --asserts=off -o - | FileCheck %s --check-prefix=OFF
// RUN: not tilewright-compile %s --asserts=maybe 2>&1 | FileCheck %s --check-prefix=MAYBE

// CHECK: tilewright.check %{{.*}}, ["too large"]
// OFF-NOT: {{cf.assert|tilewright.check}}
// MAYBE: error: --asserts: maybe not in {on,off}
func.func @f(%x: tensor<9xi64>) -> tensor<9xi64> {
  %c = arith.constant 100 : i64
  %e = tensor.empty() : tensor<9xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<9xi64>) outs(%e : tensor<9xi64>) {
  ^bb0(%a: i64, %out: i64):
    %k = arith.cmpi slt, %a, %c : i64
    cf.assert %k, "too large"
    %s = arith.addi %a, %a : i64
    linalg.yield %s : i64
  } -> tensor<9xi64>
  return %r : tensor<9xi64>
}
