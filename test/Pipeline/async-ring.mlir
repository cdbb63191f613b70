// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-pipeline))' | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, access_bytes = 16, async_copy, load_matrices}>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tilewright.target = #target} {

// Three stages: two steps ahead, one group may be under way behind the wait. The
// last of two steps in a stage hides the reads of the next stage's first fragments.
// CHECK-LABEL: @ring
// CHECK-SAME: "ring of 3 stages in shared memory, filled 2 steps ahead by asynchronous copies of 16 and 16 bytes a thread"
// CHECK: memref.alloc() {tilewright.stages = 3 : i64} : memref<3x64x32xf16, strided<[2048, 32, 1]>, #tilewright.shared<swizzle = [2, 3, 3]>>
// CHECK: tilewright.async_copy %arg0
// CHECK: tilewright.async_commit
// CHECK: tilewright.async_copy %arg0
// CHECK: tilewright.async_commit
// CHECK-NEXT: tilewright.async_wait 1
// CHECK-NEXT: gpu.barrier
// CHECK: %[[A0:.*]] = vector.transfer_read {{.*}} vector<64x16xf16>
// CHECK: %[[B0:.*]] = vector.transfer_read {{.*}} vector<16x64xf16>
// CHECK: %[[R:.*]]:4 = scf.for {{.*}} iter_args(%[[C:.*]] = %arg2, %[[A:.*]] = %[[A0]], %[[B:.*]] = %[[B0]], %[[READ:.*]] = %{{.*}})
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[READ]], %c0
// CHECK: %[[BEFORE:.*]] = arith.subi %[[READ]], %c1
// CHECK: %[[FILL:.*]] = arith.select %[[FIRST]], %c2{{.*}}, %[[BEFORE]]
// CHECK: memref.subview %{{.*}}[%[[FILL]], 0, 0]
// CHECK: tilewright.async_copy %arg0{{.*}} if %{{.*}} {in_bounds = [false, true]
// CHECK: tilewright.async_commit
// CHECK: memref.subview %{{.*}}[%[[READ]], 0, 0]
// CHECK: %[[A1:.*]] = vector.transfer_read
// CHECK: %[[B1:.*]] = vector.transfer_read
// CHECK: %[[M:.*]] = tilewright.mma %[[A]], %[[B]], %[[C]]
// CHECK: tilewright.async_wait 1
// CHECK-NEXT: gpu.barrier
// CHECK: %[[NEXT_A:.*]] = vector.transfer_read
// CHECK: %[[NEXT_B:.*]] = vector.transfer_read
// CHECK: %[[N:.*]] = tilewright.mma %[[A1]], %[[B1]], %[[M]]
// CHECK-NOT: gpu.barrier
// CHECK: scf.yield %[[N]], %[[NEXT_A]], %[[NEXT_B]]
// CHECK: tilewright.async_wait 0
func.func private @ring(%a: memref<?x512xf16>, %b: memref<512x64xf16>, %init: vector<64x64xf32>) -> vector<64x64xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read"], tilewright.explain = [],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, stages = 3, mma = "mma.m16n8k16.f16.f32">} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %pad = arith.constant 0.0 : f16
  %sa = memref.alloc() : memref<64x32xf16, #tilewright.shared<swizzle = [2, 3, 3]>>
  %sb = memref.alloc() : memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>
  %r = scf.for %k = %c0 to %c512 step %c32 iter_args(%c = %init) -> vector<64x64xf32> {
    %va = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [false, true]} : memref<?x512xf16>, vector<64x32xf16>
    %vb = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<512x64xf16>, vector<32x64xf16>
    vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf16>, memref<64x32xf16, #tilewright.shared<swizzle = [2, 3, 3]>>
    vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<32x64xf16>, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>
    gpu.barrier
    %n = tilewright.mma %sa, %sb, %c {maps = [#mk, #kn, #mn], instruction = "mma.m16n8k16.f16.f32"} : memref<64x32xf16, #tilewright.shared<swizzle = [2, 3, 3]>>, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>, vector<64x64xf32>
    gpu.barrier
    scf.yield %n : vector<64x64xf32>
  }
  return %r : vector<64x64xf32>
}

// Of a loop inside of another one, others may be reading the last stage when it is filled again.
// CHECK-LABEL: @again
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: tilewright.async_copy %arg0
// CHECK: scf.for
func.func private @again(%a: memref<?x512xf16>, %b: memref<512x64xf16>, %init: vector<64x64xf32>) -> vector<64x64xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read"], tilewright.explain = [],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, stages = 3, mma = "mma.m16n8k16.f16.f32">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  %pad = arith.constant 0.0 : f16
  %sa = memref.alloc() : memref<64x16xf16, #tilewright.shared<swizzle = [1, 3, 3]>>
  %sb = memref.alloc() : memref<16x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%o = %init) -> vector<64x64xf32> {
    %s = scf.for %k = %c0 to %c512 step %c16 iter_args(%c = %o) -> vector<64x64xf32> {
      %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [false, true]} : memref<?x512xf16>, vector<64x16xf16>
      %vb = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<512x64xf16>, vector<16x64xf16>
      vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true]} : vector<64x16xf16>, memref<64x16xf16, #tilewright.shared<swizzle = [1, 3, 3]>>
      vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<16x64xf16>, memref<16x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>
      gpu.barrier
      %n = tilewright.mma %sa, %sb, %c {maps = [#mk, #kn, #mn], instruction = "mma.m16n8k16.f16.f32"} : memref<64x16xf16, #tilewright.shared<swizzle = [1, 3, 3]>>, memref<16x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>, vector<64x64xf32>
      gpu.barrier
      scf.yield %n : vector<64x64xf32>
    }
    scf.yield %s : vector<64x64xf32>
  }
  return %r : vector<64x64xf32>
}

// Rows of 33 halves begin at every second byte: two stages, B through registers. A
// needs none: its copies start where B is loaded, and are waited for at the barrier.
// CHECK-LABEL: @odd_rows
// CHECK-SAME: "two stages of shared memory, one operand by asynchronous copies of 16 bytes a thread, the other through registers: operand 1: rows begin at multiples of 2 bytes, which asynchronous copies of 4 and more cannot"
// CHECK-DAG: memref.alloc() {tilewright.stages = 2 : i64} : memref<2x64x32xf16
// CHECK-DAG: memref.alloc() {tilewright.stages = 2 : i64} : memref<2x32x64xf16
// CHECK: tilewright.async_copy %arg0
// CHECK: tilewright.async_commit
// CHECK: scf.if
// CHECK-NOT: vector.transfer_read %arg0
// CHECK: tilewright.async_wait 0
// CHECK-NEXT: gpu.barrier
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[SLOT:.*]] = %c0{{.*}})
// CHECK: %[[OTHER:.*]] = arith.subi %c1{{.*}}, %[[SLOT]]
// CHECK: memref.subview {{.*}}[%[[OTHER]], 0, 0] {{.*}} : memref<2x64x32xf16
// CHECK: tilewright.async_copy %arg0
// CHECK: tilewright.async_commit
// CHECK: %[[B:.*]] = vector.transfer_read %arg1
// CHECK: tilewright.mma
// CHECK: vector.transfer_write %[[B]]
// CHECK: tilewright.async_wait 0
// CHECK-NEXT: gpu.barrier
func.func private @odd_rows(%a: memref<?x512xf16>, %b: memref<512x33xf16>, %init: vector<64x64xf32>) -> vector<64x64xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read"], tilewright.explain = [],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, stages = 3, mma = "mma.m16n8k16.f16.f32">} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %pad = arith.constant 0.0 : f16
  %sa = memref.alloc() : memref<64x32xf16, #tilewright.shared>
  %sb = memref.alloc() : memref<32x64xf16, #tilewright.shared>
  %r = scf.for %k = %c0 to %c512 step %c32 iter_args(%c = %init) -> vector<64x64xf32> {
    %va = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [false, true]} : memref<?x512xf16>, vector<64x32xf16>
    %vb = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, false]} : memref<512x33xf16>, vector<32x64xf16>
    vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf16>, memref<64x32xf16, #tilewright.shared>
    vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<32x64xf16>, memref<32x64xf16, #tilewright.shared>
    gpu.barrier
    %n = tilewright.mma %sa, %sb, %c {maps = [#mk, #kn, #mn], instruction = "mma.m16n8k16.f16.f32"} : memref<64x32xf16, #tilewright.shared>, memref<32x64xf16, #tilewright.shared>, vector<64x64xf32>
    gpu.barrier
    scf.yield %n : vector<64x64xf32>
  }
  return %r : vector<64x64xf32>
}

// A cast on the way: registers, of that operand.
// CHECK-LABEL: @computed
// CHECK-SAME: the other through registers: an operand is computed on its way
// CHECK-NOT: tilewright.async_copy %arg0
// CHECK: tilewright.async_copy %arg1
// CHECK-NOT: tilewright.async_copy %arg0
// CHECK: scf.for
// CHECK-NOT: tilewright.async_copy %arg0
// CHECK: tilewright.async_copy %arg1
// CHECK: tilewright.mma
// CHECK: arith.truncf
// CHECK: vector.transfer_write
// CHECK: tilewright.async_wait 0
func.func private @computed(%a: memref<64x512xf32>, %b: memref<512x64xf16>, %init: vector<64x64xf32>) -> vector<64x64xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read"], tilewright.explain = [],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, stages = 3, mma = "mma.m16n8k16.f16.f32">} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %pad = arith.constant 0.0 : f16
  %wide = arith.constant 0.0 : f32
  %sa = memref.alloc() : memref<64x32xf16, #tilewright.shared>
  %sb = memref.alloc() : memref<32x64xf16, #tilewright.shared>
  %r = scf.for %k = %c0 to %c512 step %c32 iter_args(%c = %init) -> vector<64x64xf32> {
    %ra = vector.transfer_read %a[%c0, %k], %wide {in_bounds = [true, true]} : memref<64x512xf32>, vector<64x32xf32>
    %va = arith.truncf %ra : vector<64x32xf32> to vector<64x32xf16>
    %vb = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<512x64xf16>, vector<32x64xf16>
    vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf16>, memref<64x32xf16, #tilewright.shared>
    vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<32x64xf16>, memref<32x64xf16, #tilewright.shared>
    gpu.barrier
    %n = tilewright.mma %sa, %sb, %c {maps = [#mk, #kn, #mn], instruction = "mma.m16n8k16.f16.f32"} : memref<64x32xf16, #tilewright.shared>, memref<32x64xf16, #tilewright.shared>, vector<64x64xf32>
    gpu.barrier
    scf.yield %n : vector<64x64xf32>
  }
  return %r : vector<64x64xf32>
}

// Rows lie in pages that a table names: what it has for a step is read with that step's
// copies, and not behind the last step.
// CHECK-LABEL: @pages
// CHECK-SAME: "ring of 2 stages in shared memory, filled 1 steps ahead by asynchronous copies of 16 and 16 bytes a thread"
// CHECK: scf.for
// CHECK: %[[AHEAD:.*]] = arith.addi
// CHECK: %[[LIVE:.*]] = arith.cmpi slt, %[[AHEAD]], %c512
// CHECK: %[[PAGE:.*]] = scf.if %[[LIVE]] -> (index) {
// CHECK-NEXT: memref.load %arg3[%{{.*}}]
// CHECK: } else {
// CHECK-NEXT: arith.constant 0
// CHECK: %[[SLICE:.*]] = memref.subview %arg0[%[[PAGE]], 0, 0] [1, 32, 64]
// CHECK: tilewright.async_copy %[[SLICE]]
// CHECK-SAME: if %[[LIVE]]
func.func private @pages(%a: memref<?x32x64xf16>, %b: memref<512x64xf16>, %init: vector<32x64xf32>, %table: memref<16xindex>) -> vector<32x64xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "read"], tilewright.explain = [],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, stages = 2, mma = "mma.m16n8k16.f16.f32">} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %pad = arith.constant 0.0 : f16
  %sa = memref.alloc() : memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>
  %sb = memref.alloc() : memref<64x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>
  %r = scf.for %k = %c0 to %c512 step %c32 iter_args(%c = %init) -> vector<32x64xf32> {
    %number = arith.divui %k, %c32 : index
    %page = memref.load %table[%number] : memref<16xindex>
    %slice = memref.subview %a[%page, 0, 0] [1, 32, 64] [1, 1, 1] : memref<?x32x64xf16> to memref<1x32x64xf16, strided<[2048, 64, 1], offset: ?>>
    %va = vector.transfer_read %slice[%c0, %c0, %c0], %pad {in_bounds = [true, true]} : memref<1x32x64xf16, strided<[2048, 64, 1], offset: ?>>, vector<32x64xf16>
    %vb = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<512x64xf16>, vector<64x64xf16>
    vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true]} : vector<32x64xf16>, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>
    vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf16>, memref<64x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>
    gpu.barrier
    %n = tilewright.mma %sa, %sb, %c {maps = [#mk, #kn, #mn], instruction = "mma.m16n8k16.f16.f32"} : memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>, memref<64x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>, vector<32x64xf32>
    gpu.barrier
    scf.yield %n : vector<32x64xf32>
  }
  return %r : vector<32x64xf32>
}
}
