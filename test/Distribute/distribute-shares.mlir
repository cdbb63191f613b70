// RUN: tilewright-opt %s -tilewright-distribute -canonicalize -cse | FileCheck %s

// Block b of three has steps 8 b / 3 on of two tiles' 8, step s is that of block (3 (s + 1) - 1) / 8. A block's items begin at
// the part that counts the blocks before it in the tile of its first step, and end where the next block's begin.

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16}>} {
// CHECK-LABEL: func.func private @walk
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK: %[[B:.*]] = gpu.block_id x
// CHECK: %[[W:.*]] = arith.muli %[[B]], %[[EIGHT]]
// CHECK: %[[BEGIN:.*]] = arith.divui %[[W]], %[[THREE]]
// CHECK: %[[TILE:.*]] = arith.divui %[[BEGIN]], %[[FOUR]]
// CHECK: %[[ITEM:.*]] = arith.muli %[[TILE]], %[[TWO]]
// CHECK: %[[STEP:.*]] = arith.muli %[[TILE]], %[[FOUR]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[STEP]], %[[ONE]]
// CHECK: %[[SCALED:.*]] = arith.muli %[[NEXT]], %[[THREE]]
// CHECK: %[[LESS:.*]] = arith.subi %[[SCALED]], %[[ONE]]
// CHECK: %[[OWNER:.*]] = arith.divui %[[LESS]], %[[EIGHT]]
// CHECK: %[[PART:.*]] = arith.subi %[[B]], %[[OWNER]]
// CHECK: %[[FIRST:.*]] = arith.addi %[[ITEM]], %[[PART]]
// CHECK: arith.addi %[[B]], %[[ONE]]
// CHECK: scf.for %[[N:.*]] = %[[FIRST]] to
// CHECK: %[[T:.*]] = arith.divui %[[N]], %[[TWO]]
// CHECK: %[[P:.*]] = arith.remui %[[N]], %[[TWO]]
// CHECK: %[[LOW:.*]] = arith.muli %[[T]], %[[FOUR]]
// CHECK: %[[HIGH:.*]] = arith.addi %[[LOW]], %[[FOUR]]
// CHECK: arith.maxui %{{.*}}, %[[LOW]]
// CHECK: arith.minui %{{.*}}, %[[HIGH]]
func.func private @walk(%A: memref<2x2x4xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (3)>>} {
  %c1 = arith.constant 1 : index
  %v = arith.constant 1.0 : f32
  %first, %last = tilewright.work_walk #tilewright.shares<tiles = 2, steps = 4, blocks = 3, parts = 2>
  scf.for %n = %first to %last step %c1 {
    %tile, %part, %begin, %end = tilewright.work_item #tilewright.shares<tiles = 2, steps = 4, blocks = 3, parts = 2> number %n
    scf.for %k = %begin to %end step %c1 {
      memref.store %v, %A[%tile, %part, %k] : memref<2x2x4xf32>
    }
  }
  return
}

// Clusters of two blocks walk together, each block over neighbouring tiles.
// CHECK-LABEL: func.func private @together
// CHECK: %[[B:.*]] = gpu.block_id x
// CHECK: %[[C:.*]] = arith.divui %[[B]], %c2
// CHECK: arith.muli %[[C]], %c8
// CHECK: arith.addi %[[C]], %c1
// CHECK: scf.for
// CHECK: tilewright.cluster_rank
func.func private @together(%A: memref<4x2x4xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (6)>, cluster = [2]>} {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %v = arith.constant 1.0 : f32
  %first, %last = tilewright.work_walk #tilewright.shares<tiles = 2, steps = 4, blocks = 3, parts = 2>
  scf.for %n = %first to %last step %c1 {
    %tile, %part, %begin, %end = tilewright.work_item #tilewright.shares<tiles = 2, steps = 4, blocks = 3, parts = 2> number %n
    %i = tilewright.tile_id(%c4) number %tile : index
    scf.for %k = %begin to %end step %c1 {
      memref.store %v, %A[%i, %part, %k] : memref<4x2x4xf32>
    }
  }
  return
}
}
