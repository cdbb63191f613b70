// Few ops for many layouts: a contraction with any maps, whose operands are broadcast and extended on their way; convolutions and
// poolings with channels in front or last, in groups, with a depth multiplier. Each is one kernel.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80,vulkan,cpu,cpu-reference -o %t.tw --explain 2>&1 | FileCheck %s
// RUN: tilewright-run %t.tw --device=cpu --function=contraction --check=oracle --input=5x24x40xi8=int:-8:7 --input=36x40xi8=int:-8:7 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=cpu --function=grouped --check=oracle --input=2x10x12x4x6xf32=int:-3:3 --input=4x8x3x3x6xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=cpu --function=multiplied --check=oracle --input=1x11x9x6xf32=int:-3:3 --input=3x3x6x2xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=cpu --function=pooled --check=oracle --input=2x6x12x10xf32=int:-9:9 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=ptxsim --function=contraction --check=oracle --input=5x24x40xi8=int:-8:7 --input=36x40xi8=int:-8:7 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=ptxsim --function=grouped --check=oracle --input=2x10x12x4x6xf32=int:-3:3 --input=4x8x3x3x6xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=ptxsim --function=multiplied --check=oracle --input=1x11x9x6xf32=int:-3:3 --input=3x3x6x2xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=ptxsim --function=pooled --check=oracle --input=2x6x12x10xf32=int:-9:9 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=vulkan --function=contraction --check=oracle --input=5x24x40xi8=int:-8:7 --input=36x40xi8=int:-8:7 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=vulkan --function=grouped --check=oracle --input=2x10x12x4x6xf32=int:-3:3 --input=4x8x3x3x6xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=vulkan --function=multiplied --check=oracle --input=1x11x9x6xf32=int:-3:3 --input=3x3x6x2xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=vulkan --function=pooled --check=oracle --input=2x6x12x10xf32=int:-9:9 | FileCheck %s --check-prefix=RIGHT

// CHECK-DAG: @contraction({{.*}}): 1 kernel
// CHECK-DAG: @grouped({{.*}}): 1 kernel
// CHECK-DAG: @multiplied({{.*}}): 1 kernel
// CHECK-DAG: @pooled({{.*}}): 1 kernel
// RIGHT: ok

// All images by one matrix, which lies the other way round; signed bytes.
func.func @contraction(%a: tensor<5x24x40xi8>, %b: tensor<36x40xi8>) -> tensor<5x24x36xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<5x24x36xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<5x24x36xi32>) -> tensor<5x24x36xi32>
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%a, %b : tensor<5x24x40xi8>, tensor<36x40xi8>) outs(%f : tensor<5x24x36xi32>) -> tensor<5x24x36xi32>
  return %r : tensor<5x24x36xi32>
}
func.func @grouped(%x: tensor<2x10x12x4x6xf32>, %w: tensor<4x8x3x3x6xf32>) -> tensor<2x8x10x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x10x4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x10x4x8xf32>) -> tensor<2x8x10x4x8xf32>
  %r = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x10x12x4x6xf32>, tensor<4x8x3x3x6xf32>) outs(%f : tensor<2x8x10x4x8xf32>) -> tensor<2x8x10x4x8xf32>
  return %r : tensor<2x8x10x4x8xf32>
}
func.func @multiplied(%x: tensor<1x11x9x6xf32>, %w: tensor<3x3x6x2xf32>) -> tensor<1x5x4x6x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x5x4x6x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x4x6x2xf32>) -> tensor<1x5x4x6x2xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<1x11x9x6xf32>, tensor<3x3x6x2xf32>) outs(%f : tensor<1x5x4x6x2xf32>) -> tensor<1x5x4x6x2xf32>
  return %r : tensor<1x5x4x6x2xf32>
}
func.func @pooled(%x: tensor<2x6x12x10xf32>) -> tensor<2x6x5x4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<2x6x5x4xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<2x6x5x4xf32>) -> tensor<2x6x5x4xf32>
  %r = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x, %window : tensor<2x6x12x10xf32>, tensor<3x3xf32>) outs(%f : tensor<2x6x5x4xf32>) -> tensor<2x6x5x4xf32>
  return %r : tensor<2x6x5x4xf32>
}
