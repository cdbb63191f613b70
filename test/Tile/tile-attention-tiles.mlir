// RUN: tilewright-opt %s -tilewright-tile -canonicalize -cse | FileCheck %s

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>

// Panels by tile registers: queries and powers as words of two neighbours along the sum,
// values transposed, the depth with zeros up to whole steps.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[WORDS:.*]] = affine_map<(d0, d1, d2) -> (d2 floordiv 2, d1, d2 mod 2)>
// CHECK-LABEL: func.func private @tiles
// CHECK-DAG: %[[Q:.*]] = memref.alloc() {{.*}} : memref<2x32x64xbf16>
// CHECK-DAG: %[[P:.*]] = memref.alloc() {{.*}} : memref<32x64xbf16>
// CHECK-DAG: %[[QW:.*]] = memref.expand_shape %[[Q]] {{.*}} into memref<2x32x32x2xbf16>
// CHECK-DAG: %[[PW:.*]] = memref.expand_shape %[[P]] {{.*}} into memref<32x32x2xbf16>
// CHECK-DAG: %[[K:.*]] = memref.alloc() {{.*}} : memref<64x64xbf16>
// CHECK-DAG: %[[V:.*]] = memref.alloc() {{.*}} : memref<64x64xbf16>
// CHECK: vector.transpose %{{.*}} : vector<32x4xi32> to vector<4x32xi32>
// CHECK: vector.transfer_write %{{.*}}, %[[Q]]
// CHECK: vector.transfer_write %{{.*}}, %[[K]]
// CHECK: vector.transpose %{{.*}} : vector<8x8xbf16> to vector<8x8xbf16>
// CHECK: vector.transfer_write %{{.*}}, %[[V]]
// CHECK: %[[KR:.*]] = memref.subview %[[K]]
// CHECK: %[[QC:.*]] = memref.subview %[[QW]]
// CHECK: tilewright.mma %[[KR]], %[[QC]], %{{.*}} {instruction = "amx.m16n16k32.bf16.f32", maps = [#[[ROWS]], #[[WORDS]], #
// CHECK: arith.cmpf ogt
// CHECK: math.exp2
// CHECK: arith.ori %{{.*}} : vector<32xi32>
// CHECK: vector.transfer_write %{{.*}}, %[[P]]
// CHECK: arith.mulf %{{.*}} : vector<2x32xf32>
// CHECK: %[[VR:.*]] = memref.subview %[[V]]
// CHECK: %[[PC:.*]] = memref.subview %[[PW]]
// CHECK: tilewright.mma %[[VR]], %[[PC]]
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4+amx-bf16", "cpu", {max_threads = 1 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, vector_bytes = 64 : i64, thread_memory = 1048576 : i64, panel_mma = ["amx.m16n16k32.bf16.f32"]}>} {
  func.func private @tiles(%q: tensor<2x64x40xbf16>, %k: tensor<2x128x40xbf16>, %v: tensor<2x128x64xbf16>, %o: tensor<2x64x64xbf16>) -> tensor<2x64x64xbf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
    %r = tilewright.attention ins(%q, %k, %v : tensor<2x64x40xbf16>, tensor<2x128x40xbf16>, tensor<2x128x64xbf16>)
        outs(%o : tensor<2x64x64xbf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], thread = [32, 32], mma = "amx.m16n16k32.bf16.f32">} -> tensor<2x64x64xbf16>
    return %r : tensor<2x64x64xbf16>
  }
}
