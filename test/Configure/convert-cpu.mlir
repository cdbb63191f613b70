// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

// Numbers that are narrower than the sums are converted once, while panels are packed, rather than by each register tile that loads
// them. Those that are multiplied as they are stay where they lie.
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, l1_bytes = 32768, l2_bytes = 1048576, thread_memory = 1048576}>} {
// CHECK-LABEL: func.func private @Halves(
// CHECK: = linalg.matmul {{.*}}promote = [0, 1]
func.func private @Halves(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %o: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {tilewright.kernel} {
  %r = linalg.matmul ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%o : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
// CHECK-LABEL: func.func private @Bytes(
// CHECK: = linalg.matmul {{.*}}promote = [0, 1]
func.func private @Bytes(%a: tensor<64x256xf8E4M3FN>, %b: tensor<256x256xf8E4M3FN>, %o: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {tilewright.kernel} {
  %r = linalg.matmul ins(%a, %b : tensor<64x256xf8E4M3FN>, tensor<256x256xf8E4M3FN>) outs(%o : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}
// CHECK-LABEL: func.func private @Singles(
// CHECK: = linalg.matmul
// CHECK-NOT: promote
// CHECK-SAME: ins(
func.func private @Singles(%a: tensor<64x256xf32>, %b: tensor<256x256xf32>, %o: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {tilewright.kernel} {
  %r = linalg.matmul ins(%a, %b : tensor<64x256xf32>, tensor<256x256xf32>) outs(%o : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}
}
