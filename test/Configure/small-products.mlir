// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

// A product that one thread computes while others would be woken. Columns that are no whole number of tiles lie in one block:
// in blocks of one tile each all of them would be read and written under masks.
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 16, access_bytes = 32, vector_bytes = 32, thread_memory = 1048576, l1_bytes = 32768, l2_bytes = 262144}>} {
// CHECK-LABEL: func.func private @Ragged(
// CHECK: block = [100, 112, 1], thread = [5, 16, 1]>
func.func private @Ragged(%a: tensor<100x24xf32>, %b: tensor<24x100xf32>, %c: tensor<100x100xf32>) -> tensor<100x100xf32>
    attributes {tilewright.kernel} {
  %r = linalg.matmul ins(%a, %b : tensor<100x24xf32>, tensor<24x100xf32>) outs(%c : tensor<100x100xf32>) -> tensor<100x100xf32>
  return %r : tensor<100x100xf32>
}
// A block for each of four threads packs the columns again.
// CHECK-LABEL: func.func private @Whole(
// CHECK: block = [64, 64, 64], thread = [4, 16, 8], promote = [1]>
func.func private @Whole(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32>
    attributes {tilewright.kernel} {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
}
