// RUN: tilewright-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tilewright-channels-last))' | FileCheck %s

// Two convolutions, what is between them and behind them: the image is transposed in front of the padding, the result behind
// the last op of elements; filters that are constants are stored in the new order, others transposed; a bias of each channel is
// read as it is.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2 + d5, d3 + d6, d4)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d5, d6, d4, d1)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2, d3, d1)>
// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d1, 0, 0)>
// CHECK-LABEL: func.func @Chain
// CHECK-SAME: %[[X:.*]]: tensor<1x2x40x40xf32>, %[[W:.*]]: tensor<8x128x3x3xf32>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<{{.*}}> : tensor<3x3x2x128xf32>
// CHECK-DAG: %[[XT:.*]] = linalg.transpose ins(%[[X]] : {{.*}} permutation = [0, 2, 3, 1]
// CHECK-DAG: tensor.pad %{{.*}} low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK-DAG: tensor<1x40x40x2xf32> to tensor<1x42x42x2xf32>
// CHECK: linalg.generic {indexing_maps = [#[[READ]], #[[FILTER]], #[[RESULT]]]
// CHECK-SAME: ins(%{{.*}}, %[[C]] : tensor<1x42x42x2xf32>, tensor<3x3x2x128xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[IMAGE]], #[[BIAS]], #[[IMAGE]]]
// CHECK-SAME: tensor<1x40x40x128xf32>, tensor<1x128x1x1xf32>
// CHECK: tensor.pad %{{.*}} low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK: linalg.transpose ins(%[[W]] {{.*}} permutation = [2, 3, 1, 0]
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[READ]], #[[FILTER]], #[[RESULT]]]
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[R]] : tensor<1x40x40x8xf32>) {{.*}} permutation = [0, 3, 1, 2]
// CHECK: return %[[T]]
#read = affine_map<(n, f, y, x, c, i, j) -> (n, c, y + i, x + j)>
#filter = affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>
#result = affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>
#image = affine_map<(n, c, y, x) -> (n, c, y, x)>
#bias = affine_map<(n, c, y, x) -> (0, c, 0, 0)>
#conv = {indexing_maps = [#read, #filter, #result],
         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
func.func @Chain(%x: tensor<1x2x40x40xf32>, %w: tensor<8x128x3x3xf32>, %bias: tensor<1x128x1x1xf32>) -> tensor<1x8x40x40xf32> {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant dense<1.0> : tensor<128x2x3x3xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x2x40x40xf32> to tensor<1x2x42x42xf32>
  %e = tensor.empty() : tensor<1x128x40x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x128x40x40xf32>) -> tensor<1x128x40x40xf32>
  %s = linalg.generic #conv ins(%p, %first : tensor<1x2x42x42xf32>, tensor<128x2x3x3xf32>) outs(%z : tensor<1x128x40x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x128x40x40xf32>
  %biased = linalg.generic {indexing_maps = [#image, #bias, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %bias : tensor<1x128x40x40xf32>, tensor<1x128x1x1xf32>) outs(%e : tensor<1x128x40x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %t = arith.addf %l, %r : f32
    linalg.yield %t : f32
  } -> tensor<1x128x40x40xf32>
  %q = tensor.pad %biased low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x128x40x40xf32> to tensor<1x128x42x42xf32>
  %d = tensor.empty() : tensor<1x8x40x40xf32>
  %y = linalg.fill ins(%zero : f32) outs(%d : tensor<1x8x40x40xf32>) -> tensor<1x8x40x40xf32>
  %u = linalg.generic #conv ins(%q, %w : tensor<1x128x42x42xf32>, tensor<8x128x3x3xf32>) outs(%y : tensor<1x8x40x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x8x40x40xf32>
  return %u : tensor<1x8x40x40xf32>
}

// -----

// Of one convolution nothing is known about what is around it.
// CHECK-LABEL: func.func @Alone
// CHECK-NOT: linalg.transpose
// CHECK: return
#read = affine_map<(n, f, y, x, c, i, j) -> (n, c, y + i, x + j)>
#filter = affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>
#result = affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>
#conv = {indexing_maps = [#read, #filter, #result],
         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
func.func @Alone(%x: tensor<1x32x42x42xf32>, %w: tensor<32x32x3x3xf32>, %z: tensor<1x32x40x40xf32>) -> tensor<1x32x40x40xf32> {
  %s = linalg.generic #conv ins(%x, %w : tensor<1x32x42x42xf32>, tensor<32x32x3x3xf32>) outs(%z : tensor<1x32x40x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x32x40x40xf32>
  return %s : tensor<1x32x40x40xf32>
}

// -----

// Small images behind large transposes do not pay.
// CHECK-LABEL: func.func @Narrow
// CHECK-NOT: linalg.transpose
// CHECK: return
#read = affine_map<(n, f, y, x, c, i, j) -> (n, c, y + i, x + j)>
#filter = affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>
#result = affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>
#conv = {indexing_maps = [#read, #filter, #result],
         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
func.func @Narrow(%x: tensor<1x4x42x42xf32>, %w: tensor<4x4x1x1xf32>, %z: tensor<1x4x42x42xf32>) -> tensor<1x4x42x42xf32> {
  %s = linalg.generic #conv ins(%x, %w : tensor<1x4x42x42xf32>, tensor<4x4x1x1xf32>) outs(%z : tensor<1x4x42x42xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x4x42x42xf32>
  %t = linalg.generic #conv ins(%s, %w : tensor<1x4x42x42xf32>, tensor<4x4x1x1xf32>) outs(%z : tensor<1x4x42x42xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x4x42x42xf32>
  return %t : tensor<1x4x42x42xf32>
}

// -----

// What has one pixel stays as it is, whoever makes or reads it: here the mean of each channel, by which the image is scaled. A
// slice of one pixel is no image either.
// CHECK-LABEL: func.func @Scaled
// CHECK: %[[R:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x40x40x64xf32>)
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[R]] : tensor<1x40x40x64xf32>) outs(%{{.*}} : tensor<1x64x1x1xf32>)
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[R]], %[[M]] : tensor<1x40x40x64xf32>, tensor<1x64x1x1xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[S]], %{{.*}} : tensor<1x40x40x64xf32>, tensor<1x1x64x64xf32>)
// CHECK: %[[T:.*]] = linalg.transpose
// CHECK: tensor.extract_slice %[[T]][0, 0, 3, 3] [1, 2, 1, 1] [1, 1, 1, 1]
#read = affine_map<(n, f, y, x, c, i, j) -> (n, c, y + i, x + j)>
#filter = affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>
#result = affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>
#image = affine_map<(n, c, y, x) -> (n, c, y, x)>
#pixel = affine_map<(n, c, y, x) -> (n, c, 0, 0)>
#conv = {indexing_maps = [#read, #filter, #result],
         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
func.func @Scaled(%x: tensor<1x1x42x42xf32>, %means: tensor<1x64x1x1xf32>) -> (tensor<1x64x1x1xf32>, tensor<1x2x1x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant dense<1.0> : tensor<64x1x3x3xf32>
  %second = arith.constant dense<1.0> : tensor<64x64x1x1xf32>
  %e = tensor.empty() : tensor<1x64x40x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x40x40xf32>) -> tensor<1x64x40x40xf32>
  %s = linalg.generic #conv ins(%x, %first : tensor<1x1x42x42xf32>, tensor<64x1x3x3xf32>) outs(%z : tensor<1x64x40x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x64x40x40xf32>
  %mean = linalg.generic {indexing_maps = [#image, #pixel], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%s : tensor<1x64x40x40xf32>) outs(%means : tensor<1x64x1x1xf32>) {
  ^bb0(%l: f32, %o: f32):
    %t = arith.addf %o, %l : f32
    linalg.yield %t : f32
  } -> tensor<1x64x1x1xf32>
  %scaled = linalg.generic {indexing_maps = [#image, #pixel, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %mean : tensor<1x64x40x40xf32>, tensor<1x64x1x1xf32>) outs(%e : tensor<1x64x40x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %t = arith.mulf %l, %r : f32
    linalg.yield %t : f32
  } -> tensor<1x64x40x40xf32>
  %u = linalg.generic #conv ins(%scaled, %second : tensor<1x64x40x40xf32>, tensor<64x64x1x1xf32>) outs(%z : tensor<1x64x40x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x64x40x40xf32>
  %last = arith.constant dense<1.0> : tensor<2x64x1x1xf32>
  %d = tensor.empty() : tensor<1x2x40x40xf32>
  %y = linalg.fill ins(%zero : f32) outs(%d : tensor<1x2x40x40xf32>) -> tensor<1x2x40x40xf32>
  %v = linalg.generic #conv ins(%u, %last : tensor<1x64x40x40xf32>, tensor<2x64x1x1xf32>) outs(%y : tensor<1x2x40x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x2x40x40xf32>
  %pixel = tensor.extract_slice %v[0, 0, 3, 3] [1, 2, 1, 1] [1, 1, 1, 1] : tensor<1x2x40x40xf32> to tensor<1x2x1x1xf32>
  return %mean, %pixel : tensor<1x64x1x1xf32>, tensor<1x2x1x1xf32>
}

// -----

// A bias that is broadcast to what a convolution adds to is broadcast in the new order.
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1)>
// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-LABEL: func.func @Biased
// CHECK: %[[B:.*]] = linalg.generic {indexing_maps = [#[[BIAS]], #[[IMAGE]]]{{.*}} outs(%{{.*}} : tensor<1x40x40x64xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[B]] : tensor<1x40x40x64xf32>)
#read = affine_map<(n, f, y, x, c, i, j) -> (n, c, y + i, x + j)>
#filter = affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>
#result = affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>
#image = affine_map<(n, c, y, x) -> (n, c, y, x)>
#bias = affine_map<(n, c, y, x) -> (c)>
#conv = {indexing_maps = [#read, #filter, #result],
         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
func.func @Biased(%x: tensor<1x2x40x40xf32>, %bias: tensor<64xf32>) -> tensor<1x2x40x40xf32> {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant dense<1.0> : tensor<64x2x1x1xf32>
  %second = arith.constant dense<1.0> : tensor<64x64x1x1xf32>
  %last = arith.constant dense<1.0> : tensor<2x64x1x1xf32>
  %e = tensor.empty() : tensor<1x64x40x40xf32>
  %z = linalg.generic {indexing_maps = [#bias, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%bias : tensor<64xf32>) outs(%e : tensor<1x64x40x40xf32>) {
  ^bb0(%l: f32, %o: f32):
    linalg.yield %l : f32
  } -> tensor<1x64x40x40xf32>
  %s = linalg.generic #conv ins(%x, %first : tensor<1x2x40x40xf32>, tensor<64x2x1x1xf32>) outs(%z : tensor<1x64x40x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x64x40x40xf32>
  %u = linalg.generic #conv ins(%s, %second : tensor<1x64x40x40xf32>, tensor<64x64x1x1xf32>) outs(%z : tensor<1x64x40x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x64x40x40xf32>
  %d = tensor.empty() : tensor<1x2x40x40xf32>
  %y = linalg.fill ins(%zero : f32) outs(%d : tensor<1x2x40x40xf32>) -> tensor<1x2x40x40xf32>
  %v = linalg.generic #conv ins(%u, %last : tensor<1x64x40x40xf32>, tensor<2x64x1x1xf32>) outs(%y : tensor<1x2x40x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x2x40x40xf32>
  return %v : tensor<1x2x40x40xf32>
}

// -----

// Filters of a parameter file are turned when the program is loaded, and cost nothing in a call.
// CHECK-LABEL: func.func @Parameters
// CHECK: %[[W:.*]] = arith.constant dense_resource<second>
// CHECK: linalg.transpose ins(%[[W]] {{.*}} permutation = [2, 3, 1, 0] {tilewright.at_load}
#read = affine_map<(n, f, y, x, c, i, j) -> (n, c, y + i, x + j)>
#filter = affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>
#result = affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>
#conv = {indexing_maps = [#read, #filter, #result],
         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
func.func @Parameters(%x: tensor<1x64x16x16xf32>) -> tensor<1x64x12x12xf32> {
  %e = tensor.empty() : tensor<1x128x14x14xf32>
  %d = tensor.empty() : tensor<1x64x12x12xf32>
  %v = arith.constant dense_resource<first> : tensor<128x64x3x3xf32>
  %w = arith.constant dense_resource<second> : tensor<64x128x3x3xf32>
  %s = linalg.generic #conv ins(%x, %v : tensor<1x64x16x16xf32>, tensor<128x64x3x3xf32>) outs(%e : tensor<1x128x14x14xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x128x14x14xf32>
  %u = linalg.generic #conv ins(%s, %w : tensor<1x128x14x14xf32>, tensor<64x128x3x3xf32>) outs(%d : tensor<1x64x12x12xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x64x12x12xf32>
  return %u : tensor<1x64x12x12xf32>
}
