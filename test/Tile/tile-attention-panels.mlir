// RUN: tilewright-opt %s -tilewright-tile -canonicalize -cse | FileCheck %s

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>

// Keys of a window are tested only in blocks of keys on its edges.
// CHECK-LABEL: func.func private @window
// CHECK: scf.for %[[J:.*]] = %{{.*}} step %c64
// CHECK: tilewright.mma {{.*}} : vector<8x1xf32>, vector<1x32xf32>, vector<8x32xf32>
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[J]]
// CHECK: %[[ABOVE:.*]] = arith.cmpi sge, %[[J]]
// CHECK: %[[WHOLE:.*]] = arith.andi %[[BELOW]], %[[ABOVE]] : i1
// CHECK: scf.if %[[WHOLE]]

// Queries lie along the vectors. The second panel of 5 queries behind 32 has none, and the
// last keys are hidden.
// CHECK-LABEL: func.func private @panels
// CHECK-DAG: %[[Q:.*]] = memref.alloc() {{.*}} : memref<2x24x32xf32>
// CHECK-DAG: %[[K:.*]] = memref.alloc() {{.*}} : memref<64x24xf32>
// CHECK-DAG: %[[V:.*]] = memref.alloc() {{.*}} : memref<64x48xf32>
// CHECK-DAG: %[[S:.*]] = memref.alloc() {{.*}} : memref<64x32xf32>
// CHECK-DAG: %[[O:.*]] = memref.alloc() {{.*}} : memref<2x48x32xf32>
// CHECK: %[[LEFT:.*]] = arith.subi %c37
// CHECK: %[[FULL:.*]] = arith.ceildivui %[[LEFT]], %c32
// CHECK: %[[PANELS:.*]] = arith.minui %[[FULL]], %c2
// CHECK: scf.for %{{.*}} to %[[PANELS]]
// CHECK: vector.transfer_read %arg0{{.*}}in_bounds = [false, true]{{.*}} vector<32x8xf16>
// CHECK: vector.transpose {{.*}} : vector<32x8xf32> to vector<8x32xf32>
// CHECK: vector.transfer_write %{{.*}}, %[[Q]]
// CHECK: scf.for %[[STEP:.*]] = %c0 to %c100 step %c64
// CHECK: arith.subi %c64, %[[STEP]]
// CHECK: vector.transfer_read %arg1{{.*}}in_bounds = [false, true]{{.*}} vector<4x8xf16>
// CHECK: vector.transfer_write %{{.*}}, %[[K]]
// CHECK: vector.transfer_write %{{.*}}, %[[V]]
// CHECK: scf.for %{{.*}} to %[[PANELS]]
// CHECK: scf.for %[[I:.*]] = %c0 to %c64 step %c8 iter_args(%{{.*}}) -> (vector<32xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c24 step %c8 iter_args(%{{.*}}) -> (vector<8x32xf32>)
// CHECK: memref.load %[[K]]
// CHECK: tilewright.mma {{.*}} : vector<8x1xf32>, vector<1x32xf32>, vector<8x32xf32>
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %[[STEP]], %c64
// CHECK: scf.if %[[WHOLE]]
// CHECK: vector.transfer_write %{{.*}}, %[[S]]
// CHECK: arith.cmpf ogt, {{.*}} : vector<32xf32>
// CHECK: math.exp2 %{{.*}} fastmath<afn> : vector<2x32xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c48 step %c8
// CHECK: memref.load %[[V]]
// CHECK: tilewright.mma
// CHECK: %[[OLD:.*]] = vector.transfer_read %[[O]]
// CHECK: math.fma %[[OLD]], %{{.*}}, %{{.*}} : vector<8x32xf32>
// CHECK: vector.transpose {{.*}} : vector<8x32xf16> to vector<32x8xf16>
// CHECK: vector.transfer_write {{.*}}in_bounds = [false, true]{{.*}} tensor<2x37x48xf16>
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4", "cpu", {max_threads = 1 : i64, shared_memory = 1048576 : i64, subgroup = 1 : i64, vector_bytes = 64 : i64, thread_memory = 1048576 : i64}>} {
  func.func private @window(%q: tensor<2x?x24xf16>, %k: tensor<2x1000x24xf16>, %v: tensor<2x1000x48xf16>, %o: tensor<2x?x48xf16>) -> tensor<2x?x48xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
    %r = tilewright.attention ins(%q, %k, %v : tensor<2x?x24xf16>, tensor<2x1000x24xf16>, tensor<2x1000x48xf16>)
        outs(%o : tensor<2x?x48xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left", window = array<i64: 200, -1>,
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], thread = [32, 8]>} -> tensor<2x?x48xf16>
    return %r : tensor<2x?x48xf16>
  }
  func.func private @panels(%q: tensor<2x37x24xf16>, %k: tensor<2x100x24xf16>, %v: tensor<2x100x48xf16>, %o: tensor<2x37x48xf16>) -> tensor<2x37x48xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
    %r = tilewright.attention ins(%q, %k, %v : tensor<2x37x24xf16>, tensor<2x100x24xf16>, tensor<2x100x48xf16>)
        outs(%o : tensor<2x37x48xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], thread = [32, 8]>} -> tensor<2x37x48xf16>
    return %r : tensor<2x37x48xf16>
  }
}
