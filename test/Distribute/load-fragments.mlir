// RUN: tilewright-opt %s -tilewright-load-fragments | FileCheck %s

// A matrix instruction's operands leave shared memory in front of it; a product
// by FMA keeps them there.
func.func private @products(%a: memref<64x32xf16, #tilewright.shared>, %b: memref<64x32xf16, #tilewright.shared>,
                            %c: vector<64x64xf32>) -> (vector<64x64xf32>, vector<64x64xf32>)
    attributes {tilewright.kernel} {
  // CHECK: %[[A:.*]] = vector.transfer_read %{{.*}} {in_bounds = [true, true]} : memref<64x32xf16, #tilewright.shared>, vector<64x32xf16>
  // CHECK: %[[B:.*]] = vector.transfer_read
  // CHECK: tilewright.mma %[[A]], %[[B]],
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
