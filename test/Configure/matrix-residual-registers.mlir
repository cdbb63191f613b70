// RUN: tilewright-compile %s --target=cuda:sm_90a --stop-after=configure -o - | FileCheck %s

// A residual whose rows may begin anywhere is read element by element, a register each, before any of it meets the sums.
// Beside addresses of windows, tiles of 128 sums a thread have no room for it.
// CHECK-LABEL: func.func private @Residual_matmul_0(
// CHECK: strategy = matrix_unit, block = [128, 1, 1, 128, 1, 1, {{[0-9]+}}], warps = [2, 1, 1, 4, 1, 1, 1]
func.func @Residual(%arg0: tensor<?x9x10x64xf16>, %arg1: tensor<3x3x64x?xf16>, %arg2: tensor<?xf32>, %arg3: tensor<?x9x10x?xf16>) -> (tensor<?x9x10x?xf16>) {
  %v1 = arith.constant 0.0 : f16
  %v2 = tensor.pad %arg0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v1 : f16
  } : tensor<?x9x10x64xf16> to tensor<?x11x12x64xf16>
  %v3 = arith.constant 0.0 : f32
  %v4 = arith.constant 0 : index
  %v5 = tensor.dim %arg0, %v4 : tensor<?x9x10x64xf16>
  %v6 = arith.constant 3 : index
  %v7 = tensor.dim %arg1, %v6 : tensor<3x3x64x?xf16>
  %v8 = tensor.empty(%v5, %v7) : tensor<?x9x10x?xf32>
  %v9 = linalg.fill ins(%v3 : f32) outs(%v8 : tensor<?x9x10x?xf32>) -> tensor<?x9x10x?xf32>
  %v10 = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%v2, %arg1 : tensor<?x11x12x64xf16>, tensor<3x3x64x?xf16>) outs(%v9 : tensor<?x9x10x?xf32>) -> tensor<?x9x10x?xf32>
  %v11 = tensor.empty(%v5, %v7) : tensor<?x9x10x?xf16>
  %v12 = linalg.generic {indexing_maps = [affine_map<(d_n, d_x, d_y, d_f) -> (d_n, d_x, d_y, d_f)>, affine_map<(d_n, d_x, d_y, d_f) -> (d_f)>, affine_map<(d_n, d_x, d_y, d_f) -> (d_n, d_x, d_y, d_f)>, affine_map<(d_n, d_x, d_y, d_f) -> (d_n, d_x, d_y, d_f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v10, %arg2, %arg3 : tensor<?x9x10x?xf32>, tensor<?xf32>, tensor<?x9x10x?xf16>) outs(%v11 : tensor<?x9x10x?xf16>) {
    ^bb0(%s0: f32, %s1: f32, %s2: f16, %s3: f16):
      %t0 = arith.addf %s0, %s1 : f32
      %t1 = arith.extf %s2 : f16 to f32
      %t2 = arith.addf %t0, %t1 : f32
      %z = arith.constant 0.0 : f32
      %t3 = arith.maximumf %t2, %z : f32
      %t4 = arith.truncf %t3 : f32 to f16
      linalg.yield %t4 : f16
  } -> tensor<?x9x10x?xf16>
  return %v12 : tensor<?x9x10x?xf16>
}
