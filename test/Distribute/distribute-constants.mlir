// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-distribute,canonicalize,cse))" -split-input-file -verify-diagnostics | FileCheck %s

#l = #tilewright.layout<"regs=[2:1@0] lanes=[4:2@0] warps=[]">

// Registers 0 and 1 of a lane are elements 2 * lane and 2 * lane + 1.
// CHECK-LABEL: func.func private @Mask(
// CHECK: %[[E0:.+]] = arith.muli %{{.+}}, %c2
// CHECK: %[[IN0:.+]] = arith.cmpi slt, %[[E0]], %c5
// CHECK: %[[E1:.+]] = arith.addi %[[E0]], %c1
// CHECK: %[[IN1:.+]] = arith.cmpi slt, %[[E1]], %c5
// CHECK-DAG: arith.select %[[IN0]]
// CHECK-DAG: arith.select %[[IN1]]
func.func private @Mask(%x: memref<8xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 4, subgroup = 4, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant {tilewright.layouts = [#l]} dense<1.0> : vector<8xf32>
  %two = arith.constant {tilewright.layouts = [#l]} dense<2.0> : vector<8xf32>
  %m = vector.constant_mask [5] {tilewright.layouts = [#l]} : vector<8xi1>
  %s = arith.select %m, %one, %two {tilewright.layouts = [#l]} : vector<8xi1>, vector<8xf32>
  vector.transfer_write %s, %x[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
  return
}

// Runs of equal elements: the last run that begins at or before the element.
// CHECK-LABEL: func.func private @Runs(
// CHECK: %[[E0:.+]] = arith.muli %{{.+}}, %c2
// CHECK: %[[A:.+]] = arith.cmpi sge, %[[E0]], %c3
// CHECK: %[[B:.+]] = arith.select %[[A]], %{{cst.*}}, %{{cst.*}} : f32
// CHECK: %[[C:.+]] = arith.cmpi sge, %[[E0]], %c7
// CHECK: arith.select %[[C]], %{{cst.*}}, %[[B]] : f32
func.func private @Runs(%x: memref<8xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 4, subgroup = 4, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant {tilewright.layouts = [#l]} dense<[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 5.0]> : vector<8xf32>
  vector.transfer_write %v, %x[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
  return
}

// Coordinates that were folded are computed again.
// CHECK-LABEL: func.func private @Counts(
// CHECK-NOT: arith.select
// CHECK: %[[LANE:.+]] = gpu.lane_id
// CHECK: %[[SIX:.+]] = arith.muli %[[LANE]], %c6
// CHECK: arith.addi %[[SIX]], %c7
// CHECK: arith.addi %[[SIX]], %c10
func.func private @Counts(%x: memref<8xi64>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 4, subgroup = 4, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant {tilewright.layouts = [#l]} dense<[7, 10, 13, 16, 19, 22, 25, 28]> : vector<8xindex>
  %i = arith.index_cast %v {tilewright.layouts = [#l]} : vector<8xindex> to vector<8xi64>
  vector.transfer_write %i, %x[%c0] {in_bounds = [true]} : vector<8xi64>, memref<8xi64>
  return
}

// Every thread has all of it: constants.
// CHECK-LABEL: func.func private @InRegisters(
// CHECK-NOT: arith.select
// CHECK: vector.store
func.func private @InRegisters(%x: memref<4xi32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 4, subgroup = 4, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant {tilewright.layouts = [#tilewright.layout<"regs=[4:1@0] lanes=[4:*] warps=[]">]} dense<[3, 1, 4, 2]> : vector<4xi32>
  vector.transfer_write %v, %x[%c0] {in_bounds = [true]} : vector<4xi32>, memref<4xi32>
  return
}
