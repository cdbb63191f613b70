// RUN: tilewright-opt %s -tilewright-normalize -tilewright-dispatch -split-input-file | FileCheck %s

// A convolution reads the padded image where the image lies.
// CHECK: #[[$INSIDE:.*]] = affine_set<(d0, d1, d2, d3, d4) : (d0 + d1 - 1 >= 0, -d0 - d1 + 8 >= 0, d2 + d3 - 2 >= 0, -d2 - d3 + 9 >= 0)>
// CHECK-LABEL: func.func @convolution
// CHECK: %[[PADDED:.*]] = tensor.pad
// CHECK: %[[WINDOWS:.*]] = tilewright.im2col %[[PADDED]]
// CHECK: tilewright.dispatch @convolution_matmul_0(%[[WINDOWS]],
// CHECK-NOT: tilewright.dispatch
// CHECK: func.func private @convolution_matmul_0
// CHECK-SAME: tilewright.padding = [{fill = 0.000000e+00 : f16, inside = #[[$INSIDE]], symbols = array<i64>}, unit, unit]
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64}>} {
  func.func @convolution(%x: tensor<1x8x8x16xf16>, %w: tensor<3x3x16x32xf16>, %o: tensor<1x8x9x32xf32>) -> tensor<1x8x9x32xf32> {
    %zero = arith.constant 0.0 : f16
    %p = tensor.pad %x low[0, 1, 2, 0] high[0, 1, 1, 0] {
    ^bb0(%n: index, %h: index, %c: index, %f: index):
      tensor.yield %zero : f16
    } : tensor<1x8x8x16xf16> to tensor<1x10x11x16xf16>
    %r = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<1x10x11x16xf16>, tensor<3x3x16x32xf16>) outs(%o : tensor<1x8x9x32xf32>) -> tensor<1x8x9x32xf32>
    return %r : tensor<1x8x9x32xf32>
  }
}

// -----

// Where sizes are dynamic they are arguments. A result is copied, and nothing else.
// CHECK: #[[$INSIDE:.*]] = affine_set<(d0, d1)[s0, s1] : (d0 - s0 >= 0, -d0 + s0 + s1 - 1 >= 0)>
// CHECK-LABEL: func.func @both
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>, %[[BY:.*]]: index
// CHECK: %[[P:.*]] = tensor.pad
// CHECK: %[[N:.*]] = tensor.dim %[[X]]
// CHECK: tilewright.dispatch @both_elementwise_0(%[[P]], %[[BY]], %[[N]]
// CHECK: tilewright.dispatch @both_elementwise_1(%[[P]], %[[BY]], %[[N]]
// CHECK: func.func private @both_elementwise_0({{.*}}: tensor<?x4xf32>, {{.*}}: index, {{.*}}: index
// CHECK-SAME: tilewright.padding = [{fill = 1.000000e+00 : f32, inside = #[[$INSIDE]], symbols = array<i64: 1, 2>}, unit]
// CHECK: tilewright.copies = "func.return needs the padded tensor in memory"
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64}>} {
  func.func @both(%x: tensor<?x4xf32>, %by: index, %e: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %one = arith.constant 1.0 : f32
    %p = tensor.pad %x low[%by, 0] high[%by, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %one : f32
    } : tensor<?x4xf32> to tensor<?x4xf32>
    %r = linalg.exp ins(%p : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    return %p, %r : tensor<?x4xf32>, tensor<?x4xf32>
  }
}

// -----

// By a value that is no constant: filled, and the source put into it.
// CHECK-LABEL: func.func @argument
// CHECK: tilewright.dispatch @argument_fill_0
// CHECK: tensor.insert_slice
// CHECK-NOT: tensor.pad
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64}>} {
  func.func @argument(%x: tensor<5xf32>, %v: f32) -> tensor<8xf32> {
    %p = tensor.pad %x low[1] high[2] {
    ^bb0(%i: index):
      tensor.yield %v : f32
    } : tensor<5xf32> to tensor<8xf32>
    return %p : tensor<8xf32>
  }
}
