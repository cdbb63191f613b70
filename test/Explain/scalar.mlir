// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80 -o /dev/null --explain 2>&1 | FileCheck %s --match-full-lines

// A scalar between tensors is no operand: what the tensors after it are for, and their bytes, stay right, and they
// have the numbers that guards and grids use.
// CHECK:        main_matmul_0: 2 ops in one kernel
// CHECK:          operands: read ?x64xf32 %x, read 64x32xf32 %y, read ?x32xf32 %c, write ?x32xf32 %r
// CHECK-NEXT:     scalars: f32
// CHECK-NEXT:     operations {{.*}}
// CHECK-NEXT:     bytes that must move 256 * dim(0, 0) + 8192 + 128 * dim(2, 0) + 128 * dim(3, 0)
func.func @main(%x: tensor<?x64xf32>, %s: f32, %y: tensor<64x32xf32>, %c: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %p = linalg.matmul ins(%x, %y : tensor<?x64xf32>, tensor<64x32xf32>) outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->()>, affine_map<(i,j)->(i,j)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%p, %s : tensor<?x32xf32>, f32) outs(%c : tensor<?x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %q = arith.mulf %a, %b : f32
      linalg.yield %q : f32
  } -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}
