// RUN: tilewright-compile %s --target=cuda:sm_90a --stop-after=specialize -o - | sed 's/tilewright.target = #tilewright.target<.*>}/T}/' | FileCheck %s
//
// A convolution of images becomes a product of pixels and filters: padding, steps and dilations are in the image.
// REQUIRES: tilewright-compile

// CHECK-DAG: #[[$PIXELS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>
// CHECK-DAG: #[[$RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>

// CHECK-LABEL: func.func private @padded_matmul_0_im2col
// CHECK-SAME: tensor<512x3x3x64xf16>, %{{.*}}: tensor<3x3x64x128xf16>, %{{.*}}: tensor<512x128xf32>
// CHECK-SAME: tilewright.aligned = array<i64: 0>
// CHECK-SAME: tilewright.images = [#tilewright.image<dims = [2, 16, 16, 64], strides = [16384, 1024, 64], places = [16, 16], lower = [-1, -1], upper = [-1, -1], steps = [1, 1], taps = [1, 2], dilations = [1, 1]>, unit, unit]
// CHECK-SAME: tilewright.merged = array<i64: 1, 1, 3>
// CHECK-NOT: tilewright.padding
// CHECK: linalg.generic {indexing_maps = [#[[$PIXELS]], #{{.*}}, #[[$RESULT]]]
// CHECK-NOT: @padded_matmul_0_aligned
// CHECK-LABEL: func.func private @padded_matmul_0(
func.func @padded(%x: tensor<2x16x16x64xf16>, %w: tensor<3x3x64x128xf16>, %c: tensor<2x16x16x128xf32>) -> tensor<2x16x16x128xf32> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f16
  } : tensor<2x16x16x64xf16> to tensor<2x18x18x64xf16>
  %r = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<2x18x18x64xf16>, tensor<3x3x64x128xf16>)
      outs(%c : tensor<2x16x16x128xf32>) -> tensor<2x16x16x128xf32>
  return %r : tensor<2x16x16x128xf32>
}

// One image, every second row and third column, taps two columns apart; the last column has no window.
// CHECK-LABEL: func.func private @steps_matmul_0_im2col
// CHECK-SAME: tensor<77x3x2x64xf16>
// CHECK-SAME: dims = [1, 15, 35, 64], strides = [33600, 2240, 64], places = [7, 11], lower = [0, 0], upper = [-2, -2], steps = [2, 3], taps = [1, 2], dilations = [1, 2]
func.func @steps(%x: tensor<1x15x35x64xf16>, %w: tensor<3x2x64x128xf16>, %c: tensor<1x7x11x128xf32>) -> tensor<1x7x11x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 3]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>}
      ins(%x, %w : tensor<1x15x35x64xf16>, tensor<3x2x64x128xf16>) outs(%c : tensor<1x7x11x128xf32>) -> tensor<1x7x11x128xf32>
  return %r : tensor<1x7x11x128xf32>
}

// Windows every second pixel, of one tap.
// CHECK-LABEL: func.func private @point_matmul_0_im2col
// CHECK-SAME: tensor<75x64xf16>
// CHECK-SAME: lower = [0, 0], upper = [0, 0], steps = [2, 2], taps = [0, 0], dilations = [1, 1]
func.func @point(%x: tensor<3x9x9x64xf16>, %w: tensor<1x1x64x128xf16>, %c: tensor<3x5x5x128xf32>) -> tensor<3x5x5x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<3x9x9x64xf16>, tensor<1x1x64x128xf16>) outs(%c : tensor<3x5x5x128xf32>) -> tensor<3x5x5x128xf32>
  return %r : tensor<3x5x5x128xf32>
}

// CHECK-LABEL: func.func private @corner_matmul_0_aligned
// CHECK-SAME: not read through an im2col tensor map: operand 0 has windows that begin or end -129 elements from an edge of the image; an im2col map of 2 dims of space takes -128 to 127
func.func @corner(%x: tensor<1x16x16x64xf16>, %w: tensor<3x3x64x128xf16>, %c: tensor<1x144x16x128xf32>) -> tensor<1x144x16x128xf32> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 129, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f16
  } : tensor<1x16x16x64xf16> to tensor<1x146x18x64xf16>
  %r = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<1x146x18x64xf16>, tensor<3x3x64x128xf16>)
      outs(%c : tensor<1x144x16x128xf32>) -> tensor<1x144x16x128xf32>
  return %r : tensor<1x144x16x128xf32>
}

// CHECK-LABEL: func.func private @channels_matmul_0_aligned
// CHECK-SAME: not read through an im2col tensor map: operand 0 has images with rows or pixels 136 bytes apart; an im2col map of 2 dims of space takes multiples of 16 below 2^40
func.func @channels(%x: tensor<2x16x16x68xf16>, %w: tensor<3x3x68x128xf16>, %c: tensor<2x14x14x128xf32>) -> tensor<2x14x14x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x16x16x68xf16>, tensor<3x3x68x128xf16>) outs(%c : tensor<2x14x14x128xf32>) -> tensor<2x14x14x128xf32>
  return %r : tensor<2x14x14x128xf32>
}

// Few channels are taken together with columns.
// CHECK-LABEL: func.func private @few_matmul_0_aligned
// CHECK-SAME: not read through an im2col tensor map: the last dim of the image is not channels alone
func.func @few(%x: tensor<2x16x16x12xf16>, %w: tensor<3x3x12x128xf16>, %c: tensor<2x14x14x128xf32>) -> tensor<2x14x14x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x16x16x12xf16>, tensor<3x3x12x128xf16>) outs(%c : tensor<2x14x14x128xf32>) -> tensor<2x14x14x128xf32>
  return %r : tensor<2x14x14x128xf32>
}

// CHECK-LABEL: func.func private @per_image
// CHECK-SAME: not read through an im2col tensor map: operand 1 of a linalg.generic has some of the dims of pixels and not all
func.func @per_image(%x: tensor<2x16x16x64xf16>, %w: tensor<3x3x64x128xf16>, %b: tensor<2x128xf32>) -> tensor<2x14x14x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x14x14x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x14x14x128xf32>) -> tensor<2x14x14x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x16x16x64xf16>, tensor<3x3x64x128xf16>)
      outs(%f : tensor<2x14x14x128xf32>) -> tensor<2x14x14x128xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, h, w, f) -> (n, h, w, f)>, affine_map<(n, h, w, f) -> (n, f)>,
                                        affine_map<(n, h, w, f) -> (n, h, w, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r, %b : tensor<2x14x14x128xf32>, tensor<2x128xf32>) outs(%e : tensor<2x14x14x128xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<2x14x14x128xf32>
  return %s : tensor<2x14x14x128xf32>
}

// Channels in front of rows and columns.
// CHECK-LABEL: func.func private @channels_first_matmul_0_aligned
// CHECK-SAME: not read through an im2col tensor map: channels of the image are dim 1 of 4, not innermost
func.func @channels_first(%x: tensor<2x64x18x18xf16>, %w: tensor<128x64x3x3xf16>, %c: tensor<2x128x16x16xf32>) -> tensor<2x128x16x16xf32> {
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x64x18x18xf16>, tensor<128x64x3x3xf16>)
      outs(%c : tensor<2x128x16x16xf32>) -> tensor<2x128x16x16xf32>
  return %r : tensor<2x128x16x16xf32>
}

// Any number of images; asking how many there are is not reading them. One, four and sixteen of them have variants of
// their own.
// CHECK-LABEL: func.func private @any_number_matmul_0_im2col_upto256(
// CHECK-SAME: tensor<?x3x3x64xf16>, %{{.*}}: tensor<3x3x64x128xf16>, %{{.*}}: tensor<?x128xf32>
// CHECK-SAME: tilewright.at_most = array<i64: 2, 0, 256>
// CHECK-SAME: dims = [?, 18, 18, 64], strides = [20736, 1152, 64], places = [16, 16], lower = [0, 0], upper = [-2, -2]
// CHECK-LABEL: func.func private @any_number_matmul_0_im2col_upto1024(
// CHECK-LABEL: func.func private @any_number_matmul_0_im2col_upto4096(
// CHECK-LABEL: func.func private @any_number_matmul_0_im2col(
// CHECK-NOT: tilewright.at_most
// CHECK-SAME: tilewright.merged = array<i64: 1, 1, 3>
// CHECK-NOT: @any_number_matmul_0_aligned
// CHECK-LABEL: func.func private @any_number_matmul_0(
func.func @any_number(%x: tensor<?x18x18x64xf16>, %w: tensor<3x3x64x128xf16>) -> tensor<?x16x16x128xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x18x18x64xf16>
  %e = tensor.empty(%n) : tensor<?x16x16x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16x16x128xf32>) -> tensor<?x16x16x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x18x18x64xf16>, tensor<3x3x64x128xf16>)
      outs(%f : tensor<?x16x16x128xf32>) -> tensor<?x16x16x128xf32>
  return %r : tensor<?x16x16x128xf32>
}

// Images of any height end with their last window where nothing is padded. Pixels are counted by the host's dims, as the result
// has them; few have variants of their own.
// CHECK-LABEL: func.func private @any_rows_matmul_0_im2col_upto256(
// CHECK-LABEL: func.func private @any_rows_matmul_0_im2col_upto2048(
// CHECK-LABEL: func.func private @any_rows_matmul_0_im2col_upto16384(
// CHECK-LABEL: func.func private @any_rows_matmul_0_im2col(
// CHECK-SAME: tensor<?x3x64xf16>, %{{.*}}: tensor<3x64x128xf16>, %{{.*}}: tensor<?x128xf32>
// CHECK-SAME: images that no map describes are for another variant
// CHECK-SAME: dims = [2, ?, 18, 64], strides = [?, 1152, 64], places = [?, 16], lower = [0, 0], upper = [0, -2], steps = [1, 1], taps = [0, 1], dilations = [1, 1], windows = [1, 2], along = [1, 3], extents = [-1, -1]
// CHECK-SAME: tilewright.merged = array<i64: 1, 1, 3>
// CHECK-NOT: @any_rows_matmul_0_aligned
func.func @any_rows(%x: tensor<2x?x18x64xf16>, %w: tensor<1x3x64x128xf16>, %c: tensor<2x?x16x128xf32>) -> tensor<2x?x16x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x?x18x64xf16>, tensor<1x3x64x128xf16>)
      outs(%c : tensor<2x?x16x128xf32>) -> tensor<2x?x16x128xf32>
  return %r : tensor<2x?x16x128xf32>
}

// Padded, the kernel is told their size; taps say how far rows are apart, and places without taps.
// CHECK-LABEL: func.func private @any_size_matmul_0_im2col(
// CHECK-SAME: tensor<?x3x64xf16>, %{{.*}}: tensor<3x64x128xf16>, %{{.*}}: index, %{{.*}}: tensor<?x128xf16>
// CHECK-SAME: dims = [?, ?, ?, 64], strides = [?, ?, 64], places = [?, ?], lower = [-1, 0], upper = [-1, 0], steps = [2, 3], taps = [1, 0], dilations = [2, 1], windows = [1, 3], along = [2, 3], extents = [0, -1]
// CHECK: %[[PIXELS:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<?x3x64xf16>
// CHECK: tensor.empty(%[[PIXELS]]) : tensor<?x128xf32>
func.func @any_size(%x: tensor<?x?x?x64xf16>, %w: tensor<3x1x64x128xf16>, %height: index, %width: index) -> tensor<?x?x?x128xf16> {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 0, 0] high[0, 3, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %half : f16
  } : tensor<?x?x?x64xf16> to tensor<?x?x?x64xf16>
  %n = tensor.dim %x, %c0 : tensor<?x?x?x64xf16>
  %e = tensor.empty(%n, %height, %width) : tensor<?x?x?x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x128xf32>) -> tensor<?x?x?x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 3]> : tensor<2xi64>, dilations = dense<[2, 1]> : tensor<2xi64>}
      ins(%p, %w : tensor<?x?x?x64xf16>, tensor<3x1x64x128xf16>) outs(%f : tensor<?x?x?x128xf32>) -> tensor<?x?x?x128xf32>
  %h = tensor.empty(%n, %height, %width) : tensor<?x?x?x128xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(n, h, w, f) -> (n, h, w, f)>, affine_map<(n, h, w, f) -> (n, h, w, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<?x?x?x128xf32>) outs(%h : tensor<?x?x?x128xf16>) {
  ^bb0(%a: f32, %o: f16):
    %b = arith.truncf %a : f32 to f16
    linalg.yield %b : f16
  } -> tensor<?x?x?x128xf16>
  return %t : tensor<?x?x?x128xf16>
}

// Any number of filters: their rows are promised to be of whole 16 bytes, also by the new dims of the result. Of fewer than
// eight filters that is none, so there is no variant for one.
// CHECK-NOT: @any_filters_matmul_0_im2col_upto1(
// CHECK-LABEL: func.func private @any_filters_matmul_0_im2col_upto16(
// CHECK-SAME: tilewright.at_most = array<i64: 1, 3, 16>
// CHECK-LABEL: func.func private @any_filters_matmul_0_im2col(
// CHECK-SAME: tensor<512x3x3x64xf16>, %{{.*}}: tensor<3x3x64x?xf16>, %{{.*}}: tensor<?xf32>, %{{.*}}: tensor<512x?xf16>
// CHECK-SAME: tilewright.divisible = array<i64: 1, 3, 8, 2, 0, 4, 3, 1, 8>
// CHECK-SAME: dims = [2, 18, 18, 64]
// CHECK: %[[FILTERS:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<3x3x64x?xf16>
// CHECK: tensor.empty(%[[FILTERS]]) : tensor<512x?xf32>
func.func @any_filters(%x: tensor<2x18x18x64xf16>, %w: tensor<3x3x64x?xf16>, %b: tensor<?xf32>) -> tensor<2x16x16x?xf16> {
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %w, %c3 : tensor<3x3x64x?xf16>
  %e = tensor.empty(%n) : tensor<2x16x16x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x16x16x?xf32>) -> tensor<2x16x16x?xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x18x18x64xf16>, tensor<3x3x64x?xf16>)
      outs(%f : tensor<2x16x16x?xf32>) -> tensor<2x16x16x?xf32>
  %h = tensor.empty(%n) : tensor<2x16x16x?xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(n, h, w, f) -> (n, h, w, f)>, affine_map<(n, h, w, f) -> (f)>,
                                        affine_map<(n, h, w, f) -> (n, h, w, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r, %b : tensor<2x16x16x?xf32>, tensor<?xf32>) outs(%h : tensor<2x16x16x?xf16>) {
  ^bb0(%p: f32, %q: f32, %o: f16):
    %t = arith.addf %p, %q : f32
    %u = arith.truncf %t : f32 to f16
    linalg.yield %u : f16
  } -> tensor<2x16x16x?xf16>
  return %s : tensor<2x16x16x?xf16>
}

// What stays open is what a step of the ring is of.
// CHECK-LABEL: func.func private @any_channels_matmul_0_aligned
// CHECK-SAME: not read through an im2col tensor map: the number of channels is open
func.func @any_channels(%x: tensor<2x18x18x?xf16>, %w: tensor<3x3x?x128xf16>, %c: tensor<2x16x16x128xf32>) -> tensor<2x16x16x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x18x18x?xf16>, tensor<3x3x?x128xf16>)
      outs(%c : tensor<2x16x16x128xf32>) -> tensor<2x16x16x128xf32>
  return %r : tensor<2x16x16x128xf32>
}

// CHECK-LABEL: func.func private @any_taps_matmul_0_aligned
// CHECK-SAME: not read through an im2col tensor map: the number of taps is open
func.func @any_taps(%x: tensor<2x?x18x64xf16>, %w: tensor<?x3x64x128xf16>, %c: tensor<2x16x16x128xf32>) -> tensor<2x16x16x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x?x18x64xf16>, tensor<?x3x64x128xf16>)
      outs(%c : tensor<2x16x16x128xf32>) -> tensor<2x16x16x128xf32>
  return %r : tensor<2x16x16x128xf32>
}

// One row of pixels: its loop is that of the host, and its variants are those of pixels still.
// CHECK-LABEL: func.func private @any_line_matmul_0_im2col_upto256(
// CHECK-LABEL: func.func private @any_line_matmul_0_im2col(
// CHECK-SAME: dims = [1, ?, 64], strides = [64, 64], places = [?], lower = [-1], upper = [-1], steps = [1], taps = [1], dilations = [1], windows = [0], along = [1], extents = [0]
func.func @any_line(%x: tensor<1x?x64xf16>, %w: tensor<3x64x128xf16>, %c: tensor<1x?x128xf32>) -> tensor<1x?x128xf32> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f16
  } : tensor<1x?x64xf16> to tensor<1x?x64xf16>
  %r = linalg.conv_1d_nwc_wcf ins(%p, %w : tensor<1x?x64xf16>, tensor<3x64x128xf16>) outs(%c : tensor<1x?x128xf32>) -> tensor<1x?x128xf32>
  return %r : tensor<1x?x128xf32>
}
