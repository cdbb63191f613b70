// A sum whose terms have what it begins with as a factor.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cpu,vulkan,cuda:sm_80,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --function=filled --device=cpu --check=oracle --input=4x3xi32=int:-2:3:1 | FileCheck %s
// RUN: tilewright-run %t.tw --function=filled --device=ptxsim --check=oracle --input=4x3xi32=int:-2:3:1 | FileCheck %s
// RUN: tilewright-run %t.tw --function=doubled --device=cpu --check=oracle --input=4x3xi32=int:-2:3:1 --input=6x4xi32=int:-2:3:4 | FileCheck %s
// RUN: tilewright-run %t.tw --function=doubled --device=ptxsim --check=oracle --input=4x3xi32=int:-2:3:1 --input=6x4xi32=int:-2:3:4 | FileCheck %s

// CHECK: result[0]: ok: 6x4xi32, all elements equal
#ij = affine_map<(p, i, j) -> (i, j)>
#pi = affine_map<(p, i, j) -> (p, i)>
func.func @filled(%x: tensor<4x3xi32>) -> tensor<6x4xi32> {
  %one = arith.constant 1 : i32
  %e = tensor.empty() : tensor<6x4xi32>
  %f = linalg.fill ins(%one : i32) outs(%e : tensor<6x4xi32>) -> tensor<6x4xi32>
  %r = linalg.generic {indexing_maps = [#ij, #pi, #pi], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %f : tensor<4x3xi32>, tensor<6x4xi32>) outs(%f : tensor<6x4xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %m = arith.muli %a, %b : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<6x4xi32>
  return %r : tensor<6x4xi32>
}

func.func @doubled(%x: tensor<4x3xi32>, %y: tensor<6x4xi32>) -> tensor<6x4xi32> {
  %e = tensor.empty() : tensor<6x4xi32>
  %f = linalg.add ins(%y, %y : tensor<6x4xi32>, tensor<6x4xi32>) outs(%e : tensor<6x4xi32>) -> tensor<6x4xi32>
  %r = linalg.generic {indexing_maps = [#ij, #pi, #pi], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %f : tensor<4x3xi32>, tensor<6x4xi32>) outs(%f : tensor<6x4xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %m = arith.muli %a, %b : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<6x4xi32>
  return %r : tensor<6x4xi32>
}
