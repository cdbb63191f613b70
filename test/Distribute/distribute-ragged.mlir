// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-distribute,canonicalize,cse))" | FileCheck %s

#l = #tilewright.layout<"regs=[4:1@0] lanes=[4:4@0] warps=[]">

// Only the bound forbids 16 bytes: a thread that is inside altogether takes
// them, others take element by element.
// CHECK-LABEL: func.func private @AnyLength(
// CHECK: %[[INSIDE:.+]] = arith.cmpi slt
// CHECK: %[[V:.+]]:4 = scf.if %[[INSIDE]] -> (f32, f32, f32, f32)
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
// CHECK: } else {
// CHECK-COUNT-4: memref.load
// CHECK: %[[ALL:.+]] = arith.cmpi slt
// CHECK: scf.if %[[ALL]] {
// CHECK: vector.store {{.*}} {alignment = 16 : i64}
// CHECK: } else {
// CHECK-COUNT-4: memref.store
func.func private @AnyLength(%x: memref<?xf32>, %o: memref<?xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 4, subgroup = 4, tiles = affine_map<()[s0] -> (s0 ceildiv 16)>, dims = [0, 0]>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %id = tilewright.tile_id(%n) : index
  %i = affine.apply affine_map<(d0) -> (d0 * 16)>(%id)
  %v = vector.transfer_read %x[%i], %zero {tilewright.layouts = [#l]} : memref<?xf32>, vector<16xf32>
  vector.transfer_write %v, %o[%i] : vector<16xf32>, memref<?xf32>
  return
}

// Rows of any length are not aligned: nothing to gain.
// CHECK-LABEL: func.func private @AnyRows(
// CHECK-NOT: vector.load
func.func private @AnyRows(%x: memref<?x?xf32>, %o: memref<16xf32>, %r: index)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 4, subgroup = 4, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%r, %c0], %zero {tilewright.layouts = [#l]} : memref<?x?xf32>, vector<16xf32>
  vector.transfer_write %v, %o[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  return
}
