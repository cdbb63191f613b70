// RUN: tilewright-opt %s -tilewright-tile -cse | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, mma = ["mma.m16n8k16.f16.f32"], async_copy, load_matrices}>
#config = #tilewright.lowering_config<strategy = matrix_unit, block = [1, 64, 32, 32], warps = [1, 2, 2, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">

module attributes {tilewright.target = #target} {

// In front of the loop along k, the number of the matrix that the tile's entry names.
// CHECK-LABEL: func.func private @Experts(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x128x64xf16>, %[[W:[a-z0-9]+]]: tensor<6x64x64xf16>, %[[E:[a-z0-9]+]]: tensor<6xi64>
// CHECK-DAG: %[[LAST:.*]] = arith.constant 2 : index
// CHECK: %[[B:.*]]:3 = tilewright.tile_id
// CHECK: %[[I:.*]] = tensor.extract %[[E]][%[[B]]#0] : tensor<6xi64>
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : i64 to index
// CHECK: %[[C:.*]] = arith.minui %[[N]], %[[LAST]]
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK:   tensor.extract_slice %[[X]][%[[B]]#0,
// CHECK:   tensor.extract_slice %[[W]][%[[C]], %[[K]],
func.func private @Experts(%x: tensor<6x128x64xf16>, %w: tensor<6x64x64xf16>, %e: tensor<6xi64>, %o: tensor<6x128x64xf32>) -> tensor<6x128x64xf32>
    attributes {tilewright.kernel, tilewright.picks = [{argument = 1 : i64, count = 3 : i64, table = 2 : i64}]} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<6x128x64xf32>) -> tensor<6x128x64xf32>
  %p = linalg.batch_matmul {tilewright.lowering_config = #config} ins(%x, %w : tensor<6x128x64xf16>, tensor<6x64x64xf16>) outs(%z : tensor<6x128x64xf32>) -> tensor<6x128x64xf32>
  return %p : tensor<6x128x64xf32>
}

// Two tensors by one table, of 8 and 3 matrices: each has its own last one.
// CHECK-LABEL: func.func private @Two(
// CHECK-DAG: %[[SEVEN:.*]] = arith.constant 7 : index
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: arith.minui %{{.*}}, %[[SEVEN]]
// CHECK-DAG: arith.minui %{{.*}}, %[[TWO]]
// CHECK: scf.for
func.func private @Two(%x: tensor<6x128x64xf16>, %w: tensor<6x64x64xf16>, %e: tensor<6xi64>, %v: tensor<6x64x64xf16>, %o: tensor<6x128x64xf32>) -> tensor<6x128x64xf32>
    attributes {tilewright.kernel, tilewright.picks = [{argument = 1 : i64, count = 8 : i64, table = 2 : i64}, {argument = 3 : i64, count = 3 : i64, table = 2 : i64}]} {
  %zero = arith.constant 0.0 : f32
  %d = tensor.empty() : tensor<6x128x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%d : tensor<6x128x64xf32>) -> tensor<6x128x64xf32>
  %y = linalg.fill ins(%zero : f32) outs(%o : tensor<6x128x64xf32>) -> tensor<6x128x64xf32>
  %g = linalg.batch_matmul ins(%x, %w : tensor<6x128x64xf16>, tensor<6x64x64xf16>) outs(%z : tensor<6x128x64xf32>) -> tensor<6x128x64xf32>
  %u = linalg.batch_matmul {tilewright.lowering_config = #config} ins(%x, %v : tensor<6x128x64xf16>, tensor<6x64x64xf16>) outs(%y : tensor<6x128x64xf32>) -> tensor<6x128x64xf32>
  %r = linalg.mul ins(%g, %u : tensor<6x128x64xf32>, tensor<6x128x64xf32>) outs(%o : tensor<6x128x64xf32>) -> tensor<6x128x64xf32>
  return %r : tensor<6x128x64xf32>
}
}
