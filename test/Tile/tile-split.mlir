// RUN: tilewright-opt %s -tilewright-tile -cse | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>

// CHECK-DAG: #[[$TILES:.+]] = affine_map<() -> (64)>
// CHECK-DAG: #[[$LENGTH:.+]] = affine_map<()[s0] -> (((s0 ceildiv 64) ceildiv 1024) * 1024)>
module attributes {tilewright.target = #target} {

// A block runs over its part; nothing exceeds the extent, and parts behind the
// end are empty.
// CHECK-LABEL: func.func private @RunOverPart(
// CHECK-SAME: tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = #[[$TILES]]>
func.func private @RunOverPart(%x: tensor<?xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel} {
  // CHECK: %[[N:.+]] = tensor.dim
  // CHECK: %[[ID:.+]] = tilewright.tile_id
  // CHECK: %[[ROUNDED:.+]] = affine.apply #[[$LENGTH]]()[%[[N]]]
  // CHECK: %[[LENGTH:.+]] = arith.maxsi %[[ROUNDED]], %c1024
  // CHECK: %[[LAST:.+]] = arith.divsi %[[N]], %[[LENGTH]]
  // CHECK: %[[PART:.+]] = arith.minsi %[[ID]], %[[LAST]]
  // CHECK: %[[BEGIN:.+]] = arith.muli %[[PART]], %[[LENGTH]]
  // CHECK: %[[LEFT:.+]] = arith.subi %[[N]], %[[BEGIN]]
  // CHECK: %[[SIZE:.+]] = arith.minsi %[[LENGTH]], %[[LEFT]]
  // CHECK: %[[STOP:.+]] = arith.addi %[[BEGIN]], %[[SIZE]]
  // CHECK: %[[IS:.+]] = arith.cmpi sle, %[[ID]], %[[LAST]]
  // CHECK: %[[END:.+]] = arith.select %[[IS]], %[[STOP]], %[[BEGIN]]
  // CHECK: scf.for %{{.+}} = %[[BEGIN]] to %[[END]] step %c512
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<64xf32>)
      attrs = {tilewright.split = array<i64: 0, 1024>, tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [512], warps = [4], thread = [4], splits = 64>} {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
}
