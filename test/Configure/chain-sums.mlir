// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80 -o /dev/null --explain 2>&1 | FileCheck %s

// The first product sums 24, in one step of two instructions, whatever the steps of the
// second, which sums 100.
// CHECK: block = [16, 32, 128]
// CHECK: operand 0 in shared memory: 16x32xf16
// CHECK-NEXT: operand 1 in shared memory: 32x128xf16
// CHECK-NEXT: operand 0 in shared memory: 16x128xf16
func.func @main(%a: tensor<64x24xf16>, %b: tensor<24x100xf16>, %c: tensor<100x32xf16>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<64x100xf32>
  %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<64x100xf32>) -> tensor<64x100xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x24xf16>, tensor<24x100xf16>) outs(%zp : tensor<64x100xf32>) -> tensor<64x100xf32>
  %eh = tensor.empty() : tensor<64x100xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<64x100xf32>) outs(%eh : tensor<64x100xf16>) {
  ^bb0(%x: f32, %out: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<64x100xf16>
  %er = tensor.empty() : tensor<64x32xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<64x32xf32>) -> tensor<64x32xf32>
  %r = linalg.matmul ins(%h, %c : tensor<64x100xf16>, tensor<100x32xf16>) outs(%zr : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
