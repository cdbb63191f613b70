// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-distribute))' | FileCheck %s

// Bands of four rows: number / (4 * columns) is the band, what is left walks down
// its rows, of which the last band has fewer.
// CHECK-LABEL: @bands
// CHECK: %[[ID:.*]] = gpu.block_id x
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[BAND:.*]] = arith.muli %[[FOUR]], %[[COLUMNS:.*]] : index
// CHECK: %[[NUMBER:.*]] = arith.divui %[[ID]], %[[BAND]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %[[FOUR]]
// CHECK: %[[INSIDE:.*]] = arith.remui %[[ID]], %[[BAND]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[ROWS:.*]], %[[FIRST]]
// CHECK: %[[HIGH:.*]] = arith.minui %[[LEFT]], %[[FOUR]]
// CHECK: %[[DOWN:.*]] = arith.remui %[[INSIDE]], %[[HIGH]]
// CHECK: arith.addi %[[FIRST]], %[[DOWN]]
// CHECK: arith.divui %[[INSIDE]], %[[HIGH]]
func.func private @bands(%o: memref<?x?xf32>)
    attributes {tilewright.kernel, tilewright.access = ["write"],
      tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<()[r, c] -> (r, c)>, dims = [0, 0, 0, 1]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %r = memref.dim %o, %c0 : memref<?x?xf32>
  %c = memref.dim %o, %c1 : memref<?x?xf32>
  %i, %j = tilewright.tile_id(%r, %c) {raster = 4 : i64} : index, index
  memref.store %f, %o[%i, %j] : memref<?x?xf32>
  return
}
