// RUN: tilewright-opt %s -tilewright-load-fragments | FileCheck %s

// A matrix instruction's operands leave shared memory in front of it, those of the
// second step along k before the products of the first; a product by FMA keeps
// them there.
func.func private @products(%a: memref<64x32xf16, #tilewright.shared>, %b: memref<64x32xf16, #tilewright.shared>,
                            %c: vector<64x64xf32>) -> (vector<64x64xf32>, vector<64x64xf32>)
    attributes {tilewright.kernel} {
  // CHECK: %[[A0:.*]] = vector.transfer_read %arg0[%{{.*}}, %{{.*}}], %{{.*}} {in_bounds = [true, true]} : memref<64x32xf16, #tilewright.shared>, vector<64x16xf16>
  // CHECK: %[[B0:.*]] = vector.transfer_read %arg1
  // CHECK: %[[K:.*]] = arith.constant 16 : index
  // CHECK: %[[A1:.*]] = vector.transfer_read %arg0[%{{.*}}, %[[K]]]
  // CHECK: %[[B1:.*]] = vector.transfer_read %arg1[%{{.*}}, %{{.*}}]
  // CHECK: %[[M:.*]] = tilewright.mma %[[A0]], %[[B0]], %arg2
  // CHECK: tilewright.mma %[[A1]], %[[B1]], %[[M]]
  %n = tilewright.mma %a, %b, %c
      {instruction = "mma.m16n8k16.f16.f32",
       maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]}
      : memref<64x32xf16, #tilewright.shared>, memref<64x32xf16, #tilewright.shared>, vector<64x64xf32>
  // CHECK: tilewright.mma %{{.*}} : memref
  %f = tilewright.mma %a, %b, %c
      {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]}
      : memref<64x32xf16, #tilewright.shared>, memref<64x32xf16, #tilewright.shared>, vector<64x64xf32>
  return %n, %f : vector<64x64xf32>, vector<64x64xf32>
}
