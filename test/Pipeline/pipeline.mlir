// RUN: tilewright-opt %s -tilewright-pipeline | FileCheck %s

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: @matmul
// CHECK: memref.alloc() {tilewright.stages = 2 : i64} : memref<2x16x64xf32, strided<[1024, 64, 1]>, #tilewright.shared>
// CHECK: scf.if
// CHECK:   vector.transfer_read
// CHECK:   vector.transfer_write
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK:   vector.transfer_read
// CHECK:   tilewright.mma
// CHECK:   vector.transfer_write
// CHECK:   gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK:   scf.yield
func.func private @matmul(%a: memref<512x64xf32>, %b: memref<512x64xf32>, %init: vector<64x64xf32>, %k: index) -> vector<64x64xf32>
    attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %sa = memref.alloc() : memref<16x64xf32, #tilewright.shared>
  %sb = memref.alloc() : memref<16x64xf32, #tilewright.shared>
  %r = scf.for %i = %c0 to %k step %c16 iter_args(%c = %init) -> vector<64x64xf32> {
    %va = vector.transfer_read %a[%i, %c0], %pad {in_bounds = [true, true]} : memref<512x64xf32>, vector<16x64xf32>
    %vb = vector.transfer_read %b[%i, %c0], %pad {in_bounds = [true, true]} : memref<512x64xf32>, vector<16x64xf32>
    vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true]} : vector<16x64xf32>, memref<16x64xf32, #tilewright.shared>
    vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<16x64xf32>, memref<16x64xf32, #tilewright.shared>
    gpu.barrier
    %n = tilewright.mma %sa, %sb, %c {maps = [#a, #b, #c]} : memref<16x64xf32, #tilewright.shared>, memref<16x64xf32, #tilewright.shared>, vector<64x64xf32>
    gpu.barrier
    scf.yield %n : vector<64x64xf32>
  }
  return %r : vector<64x64xf32>
}

// One step: there is nothing to load ahead of.
// CHECK-LABEL: @one_step
// CHECK-SAME: tilewright.explain = ["no loop to pipeline: 'stages' = 2 makes no difference where none copies tiles into shared memory in several steps"]
func.func private @one_step(%a: memref<16x64xf32>, %b: memref<16x64xf32>, %init: vector<64x64xf32>) -> vector<64x64xf32>
    attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, stages = 2>} {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %sa = memref.alloc() : memref<16x64xf32, #tilewright.shared>
  %sb = memref.alloc() : memref<16x64xf32, #tilewright.shared>
  %va = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x64xf32>, vector<16x64xf32>
  %vb = vector.transfer_read %b[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x64xf32>, vector<16x64xf32>
  vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true]} : vector<16x64xf32>, memref<16x64xf32, #tilewright.shared>
  vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<16x64xf32>, memref<16x64xf32, #tilewright.shared>
  gpu.barrier
  %n = tilewright.mma %sa, %sb, %init {maps = [#a, #b, #c]} : memref<16x64xf32, #tilewright.shared>, memref<16x64xf32, #tilewright.shared>, vector<64x64xf32>
  return %n : vector<64x64xf32>
}

// What is computed from loaded values waits behind the product.
// CHECK-LABEL: @computed
// CHECK: scf.if
// CHECK:   arith.sitofp
// CHECK: scf.for
// CHECK:   %[[RAW:.*]] = vector.transfer_read %{{.*}} : memref<512x64xi8>, vector<16x64xi8>
// CHECK-NOT: arith.sitofp
// CHECK:   tilewright.mma
// CHECK:   %[[F:.*]] = arith.sitofp %[[RAW]]
// CHECK:   vector.transfer_write %[[F]]
func.func private @computed(%a: memref<512x64xi8>, %b: memref<512x64xf32>, %init: vector<64x64xf32>, %k: index) -> vector<64x64xf32>
    attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %none = arith.constant 0 : i8
  %pad = arith.constant 0.0 : f32
  %sa = memref.alloc() : memref<16x64xf32, #tilewright.shared>
  %sb = memref.alloc() : memref<16x64xf32, #tilewright.shared>
  %r = scf.for %i = %c0 to %k step %c16 iter_args(%c = %init) -> vector<64x64xf32> {
    %raw = vector.transfer_read %a[%i, %c0], %none {in_bounds = [true, true]} : memref<512x64xi8>, vector<16x64xi8>
    %va = arith.sitofp %raw : vector<16x64xi8> to vector<16x64xf32>
    %vb = vector.transfer_read %b[%i, %c0], %pad {in_bounds = [true, true]} : memref<512x64xf32>, vector<16x64xf32>
    vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true]} : vector<16x64xf32>, memref<16x64xf32, #tilewright.shared>
    vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<16x64xf32>, memref<16x64xf32, #tilewright.shared>
    gpu.barrier
    %n = tilewright.mma %sa, %sb, %c {maps = [#a, #b, #c]} : memref<16x64xf32, #tilewright.shared>, memref<16x64xf32, #tilewright.shared>, vector<64x64xf32>
    gpu.barrier
    scf.yield %n : vector<64x64xf32>
  }
  return %r : vector<64x64xf32>
}
