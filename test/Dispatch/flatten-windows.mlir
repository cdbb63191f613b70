// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-flatten-windows))' | FileCheck %s

// Rows of 7 fill less than half of a vector of 16; all rows of the padded image, 9 each, are
// one row of 63. Windows that cross the end of the last row read in the row behind it.
// CHECK-DAG: #[[MAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 + d2 * 9 + d3)>
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d1, d3, d4)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>
// CHECK-LABEL: func.func @Narrow
// CHECK-SAME: tilewright.explain = ["linalg.generic (line {{[0-9]+}}): the rows of the padded image are one row, as they are shorter than a vector"]
// CHECK: %[[P:.*]] = tensor.pad %{{.*}} low[0, 1, 1] high[0, 2, 1]
// CHECK: tensor<64x7x7xf32> to tensor<64x10x9xf32>
// CHECK: %[[L:.*]] = tensor.collapse_shape %[[P]] {{\[\[}}0], [1, 2]] : tensor<64x10x9xf32> into tensor<64x90xf32>
// CHECK: %[[W:.*]] = tilewright.im2col %[[L]][] {map = #[[MAP]]} : tensor<64x90xf32> to tensor<64x63x3x3xf32>
// CHECK: %[[A:.*]] = linalg.generic {indexing_maps = [#[[READ]], #[[FILTER]], #[[RESULT]]]
// CHECK: ins(%[[W]], %{{.*}} : tensor<64x63x3x3xf32>, tensor<32x64x3x3xf32>) outs(%{{.*}} : tensor<32x63xf32>)
// CHECK: %[[E:.*]] = tensor.expand_shape %[[A]] {{\[\[}}0], [1, 2]] output_shape [32, 7, 9]
// CHECK: %[[R:.*]] = tensor.extract_slice %[[E]][0, 0, 0] [32, 7, 7] [1, 1, 1]
// CHECK: return %[[R]]
// 14 of 16 lanes are as many as 16-element rows of the padded image leave.
// CHECK-LABEL: func.func @Wide
// CHECK-NOT: tilewright.explain
// CHECK: tilewright.im2col %{{.*}} : tensor<64x16x16xf32> to tensor<64x14x3x14x3xf32>
// What a stride picks does not lie side by side.
// CHECK-LABEL: func.func @Strided
// CHECK: tilewright.im2col %{{.*}} : tensor<64x15x15xf32> to tensor<64x7x3x7x3xf32>
#windows = affine_map<(c, y, i, x, j) -> (c, y + i, x + j)>
#strided = affine_map<(c, y, i, x, j) -> (c, y * 2 + i, x * 2 + j)>
#read = affine_map<(f, y, x, c, i, j) -> (c, y, i, x, j)>
#filter = affine_map<(f, y, x, c, i, j) -> (f, c, i, j)>
#result = affine_map<(f, y, x, c, i, j) -> (f, y, x)>
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, dispatch_vector_bytes = 64}>} {
  func.func @Narrow(%x: tensor<64x7x7xf32>, %f: tensor<32x64x3x3xf32>) -> tensor<32x7x7xf32> {
    %zero = arith.constant 0.0 : f32
    %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
      ^bb0(%a: index, %b: index, %c: index):
        tensor.yield %zero : f32
    } : tensor<64x7x7xf32> to tensor<64x9x9xf32>
    %w = tilewright.im2col %p[] {map = #windows} : tensor<64x9x9xf32> to tensor<64x7x3x7x3xf32>
    %e = tensor.empty() : tensor<32x7x7xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x7x7xf32>) -> tensor<32x7x7xf32>
    %r = linalg.generic {indexing_maps = [#read, #filter, #result],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
         ins(%w, %f : tensor<64x7x3x7x3xf32>, tensor<32x64x3x3xf32>) outs(%z : tensor<32x7x7xf32>) {
      ^bb0(%v: f32, %u: f32, %acc: f32):
        %m = arith.mulf %v, %u : f32
        %s = arith.addf %acc, %m : f32
        linalg.yield %s : f32
    } -> tensor<32x7x7xf32>
    return %r : tensor<32x7x7xf32>
  }
  func.func @Wide(%x: tensor<64x14x14xf32>, %f: tensor<32x64x3x3xf32>) -> tensor<32x14x14xf32> {
    %zero = arith.constant 0.0 : f32
    %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
      ^bb0(%a: index, %b: index, %c: index):
        tensor.yield %zero : f32
    } : tensor<64x14x14xf32> to tensor<64x16x16xf32>
    %w = tilewright.im2col %p[] {map = #windows} : tensor<64x16x16xf32> to tensor<64x14x3x14x3xf32>
    %e = tensor.empty() : tensor<32x14x14xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x14x14xf32>) -> tensor<32x14x14xf32>
    %r = linalg.generic {indexing_maps = [#read, #filter, #result],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
         ins(%w, %f : tensor<64x14x3x14x3xf32>, tensor<32x64x3x3xf32>) outs(%z : tensor<32x14x14xf32>) {
      ^bb0(%v: f32, %u: f32, %acc: f32):
        %m = arith.mulf %v, %u : f32
        %s = arith.addf %acc, %m : f32
        linalg.yield %s : f32
    } -> tensor<32x14x14xf32>
    return %r : tensor<32x14x14xf32>
  }
  func.func @Strided(%x: tensor<64x13x13xf32>, %f: tensor<32x64x3x3xf32>) -> tensor<32x7x7xf32> {
    %zero = arith.constant 0.0 : f32
    %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
      ^bb0(%a: index, %b: index, %c: index):
        tensor.yield %zero : f32
    } : tensor<64x13x13xf32> to tensor<64x15x15xf32>
    %w = tilewright.im2col %p[] {map = #strided} : tensor<64x15x15xf32> to tensor<64x7x3x7x3xf32>
    %e = tensor.empty() : tensor<32x7x7xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x7x7xf32>) -> tensor<32x7x7xf32>
    %r = linalg.generic {indexing_maps = [#read, #filter, #result],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
         ins(%w, %f : tensor<64x7x3x7x3xf32>, tensor<32x64x3x3xf32>) outs(%z : tensor<32x7x7xf32>) {
      ^bb0(%v: f32, %u: f32, %acc: f32):
        %m = arith.mulf %v, %u : f32
        %s = arith.addf %acc, %m : f32
        linalg.yield %s : f32
    } -> tensor<32x7x7xf32>
    return %r : tensor<32x7x7xf32>
  }
}
