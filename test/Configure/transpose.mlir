// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

// The result lies along another dim than what is read: square tiles, whose rows are runs of memory on both sides.
#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
// CHECK-LABEL: func.func private @Transpose(
// CHECK-SAME: "strategy streaming: root linalg.generic has only parallel loops"
// CHECK: strategy = streaming, block = [[[SIDE:[0-9]+]], [[SIDE]]]
func.func private @Transpose(%x: tensor<1024x2048xf32>, %o: tensor<2048x1024xf32>) -> tensor<2048x1024xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x2048xf32>) outs(%o : tensor<2048x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2048x1024xf32>
  return %r : tensor<2048x1024xf32>
}
// One row has nothing to turn around.
// CHECK-LABEL: func.func private @Row(
// CHECK: strategy = streaming, block = [{{[0-9]+}}, 1]
func.func private @Row(%x: tensor<1x2048xf32>, %o: tensor<2048x1xf32>) -> tensor<2048x1xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1x2048xf32>) outs(%o : tensor<2048x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2048x1xf32>
  return %r : tensor<2048x1xf32>
}
}
