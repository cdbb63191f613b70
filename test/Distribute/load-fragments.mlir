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

// Opaque fragments: a product for each step along k, in a loop from five on.
// CHECK-LABEL: @steps
// CHECK: vector.transfer_read %{{.*}}[%c0{{.*}}, %c0{{.*}}]{{.*}} : memref<16x32xf16, #tilewright.shared>, vector<16x16xf16>
// CHECK: vector.transfer_read %{{.*}}[%c0{{.*}}, %c16{{.*}}]
// CHECK: %[[FIRST:.*]] = tilewright.mma {{.*}} : vector<16x16xf16>, vector<16x16xf16>
// CHECK: tilewright.mma %{{.*}}, %{{.*}}, %[[FIRST]]
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<16x16xf32>)
// CHECK: vector.transfer_read %{{.*}}[%{{.*}}, %[[K]]]
// CHECK: vector.transfer_read %{{.*}}[%[[K]], %{{.*}}]
// CHECK: tilewright.mma %{{.*}}, %{{.*}}, %[[ACC]]
func.func private @steps(%a: memref<16x32xf16, #tilewright.shared>, %b: memref<32x16xf16, #tilewright.shared>,
                         %d: memref<16x128xf16, #tilewright.shared>, %e: memref<128x16xf16, #tilewright.shared>,
                         %c: vector<16x16xf32>) -> (vector<16x16xf32>, vector<16x16xf32>) attributes {tilewright.kernel} {
  %n = tilewright.mma %a, %b, %c
      {instruction = "coopmat.m16n16k16.f16.f32",
       maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
      : memref<16x32xf16, #tilewright.shared>, memref<32x16xf16, #tilewright.shared>, vector<16x16xf32>
  %f = tilewright.mma %d, %e, %c
      {instruction = "coopmat.m16n16k16.f16.f32",
       maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
      : memref<16x128xf16, #tilewright.shared>, memref<128x16xf16, #tilewright.shared>, vector<16x16xf32>
  return %n, %f : vector<16x16xf32>, vector<16x16xf32>
}
