// RUN: tilewright-opt %s -tilewright-recompute-scalars | FileCheck %s

// Each role computes what it reads where its operands are there anyway: %end of %first, which both read, and of the argument.
// CHECK-LABEL: func.func private @Bounds(
// CHECK-SAME: %{{.*}}: memref<?xf32>, %[[N:.*]]: index)
// CHECK: %[[FIRST:.*]] = arith.muli
// CHECK-NOT: arith.addi
// CHECK: scf.if
// CHECK: tilewright.set_registers 40
// CHECK: %[[BEHIND:.*]] = arith.addi %[[FIRST]], %c128
// CHECK: %[[END:.*]] = arith.minsi %[[N]], %[[BEHIND]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]]
// CHECK: scf.if
// CHECK: tilewright.set_registers 232
// CHECK: %[[BEHIND2:.*]] = arith.addi %[[FIRST]], %c128
// CHECK: %[[END2:.*]] = arith.minsi %[[N]], %[[BEHIND2]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END2]]
func.func private @Bounds(%out: memref<?xf32>, %n: index) attributes {tilewright.kernel} {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %x = arith.constant 1.0 : f32
  %block = gpu.block_id x
  %first = arith.muli %block, %c128 : index
  %behind = arith.addi %first, %c128 : index
  %end = arith.minsi %n, %behind : index
  %warp = gpu.subgroup_id : index
  %producer = arith.cmpi uge, %warp, %c8 : index
  scf.if %producer {
    tilewright.set_registers 40
    scf.for %i = %first to %end step %c1 {
      memref.store %x, %out[%i] : memref<?xf32>
    }
  }
  %consumer = arith.cmpi ult, %warp, %c8 : index
  scf.if %consumer {
    tilewright.set_registers 232
    scf.for %i = %first to %end step %c1 {
      memref.store %x, %out[%i] : memref<?xf32>
    }
  }
  return
}

// In place of %end %first would be alive, which nothing else reads.
// CHECK-LABEL: func.func private @NothingElse(
// CHECK: %[[END:.*]] = arith.addi
// CHECK: scf.if
// CHECK-NEXT: tilewright.set_registers 40
// CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[END]]]
func.func private @NothingElse(%out: memref<?xf32>) attributes {tilewright.kernel} {
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %x = arith.constant 1.0 : f32
  %block = gpu.block_id x
  %first = arith.muli %block, %c128 : index
  %end = arith.addi %first, %c128 : index
  %warp = gpu.subgroup_id : index
  %producer = arith.cmpi uge, %warp, %c8 : index
  scf.if %producer {
    tilewright.set_registers 40
    memref.store %x, %out[%end] : memref<?xf32>
  }
  return
}

// So is how many tiles of 128 there are.
// CHECK-LABEL: func.func private @Tiles(
// CHECK-NOT: arith.ceildivui
// CHECK: tilewright.set_registers 40
// CHECK: arith.ceildivui
// CHECK: tilewright.set_registers 232
// CHECK: arith.ceildivui
func.func private @Tiles(%out: memref<?xf32>, %n: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %x = arith.constant 1.0 : f32
  %tiles = arith.ceildivui %n, %c128 : index
  %warp = gpu.subgroup_id : index
  %producer = arith.cmpi uge, %warp, %c8 : index
  scf.if %producer {
    tilewright.set_registers 40
    scf.for %i = %c0 to %tiles step %c1 {
      memref.store %x, %out[%i] : memref<?xf32>
    }
  }
  %consumer = arith.cmpi ult, %warp, %c8 : index
  scf.if %consumer {
    tilewright.set_registers 232
    scf.for %i = %c0 to %tiles step %c1 {
      memref.store %x, %out[%i] : memref<?xf32>
    }
  }
  return
}
