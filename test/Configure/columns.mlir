// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

// Vectors of CPUs along what is not summed: a row of the sum at a time, in wide vectors. Of windows whose rows are shorter than
// a vector, along the result's rows, whose neighbours start a short stride apart.
#map = affine_map<(i, j) -> (j, i)>
#sums = affine_map<(i, j) -> (i)>
#means = affine_map<(c, y, x) -> (y, x, c)>
#mean = affine_map<(c, y, x) -> (c)>
#windows = affine_map<(c, y, x, i, j) -> (c, y, i, x, j)>
#pooled = affine_map<(c, y, x, i, j) -> (c, y, x)>
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64}>} {
// CHECK-LABEL: func.func private @Columns(
// CHECK: thread = [{{64|128}}, 1]>
func.func private @Columns(%x: tensor<4096x1024xf32>, %o: tensor<1024xf32>) -> tensor<1024xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#map, #sums], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4096x1024xf32>) outs(%o : tensor<1024xf32>) {
  ^bb0(%l: f32, %s: f32):
    %t = arith.addf %l, %s : f32
    linalg.yield %t : f32
  } -> tensor<1024xf32>
  return %r : tensor<1024xf32>
}
// A part of each short row would be read far slower than all of it.
// CHECK-LABEL: func.func private @FewColumns(
// CHECK: thread = [64, 1, 1]>
func.func private @FewColumns(%x: tensor<128x128x64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#means, #mean], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<128x128x64xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%l: f32, %s: f32):
    %t = arith.addf %l, %s : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
// CHECK-LABEL: func.func private @Pooling(
// CHECK: thread = [1, 1, 32, 1, 1]>
func.func private @Pooling(%x: tensor<64x56x3x56x3xf32>, %o: tensor<64x56x56xf32>) -> tensor<64x56x56xf32>
    attributes {tilewright.kernel, tilewright.views = [strided<[12996, 228, 114, 2, 1], offset: ?>, unit]} {
  %r = linalg.generic {indexing_maps = [#windows, #pooled], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x : tensor<64x56x3x56x3xf32>) outs(%o : tensor<64x56x56xf32>) {
  ^bb0(%l: f32, %s: f32):
    %t = arith.maximumf %l, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x56x56xf32>
  return %r : tensor<64x56x56xf32>
}
}
