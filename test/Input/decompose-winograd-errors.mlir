// RUN: tilewright-opt %s -tilewright-decompose-winograd -split-input-file -verify-diagnostics

func.func @Dynamic(%x: tensor<?x10x8x5xf32>, %v: tensor<4x4x4x3x?x5xf32>) -> tensor<4x4x4x3x?x5xf32> {
  // expected-error @below {{is compiled for static shapes, of f16, bf16, f32 and f64}}
  %r = linalg.winograd_input_transform fmr(F_2_3) ins(%x : tensor<?x10x8x5xf32>) outs(%v : tensor<4x4x4x3x?x5xf32>) -> tensor<4x4x4x3x?x5xf32>
  return %r : tensor<4x4x4x3x?x5xf32>
}

// -----

func.func @Integers(%g: tensor<7x3x3x5xi32>, %u: tensor<4x4x5x7xi32>) -> tensor<4x4x5x7xi32> {
  // expected-error @below {{is compiled for static shapes, of f16, bf16, f32 and f64}}
  %r = linalg.winograd_filter_transform fmr(F_2_3) ins(%g : tensor<7x3x3x5xi32>) outs(%u : tensor<4x4x5x7xi32>) -> tensor<4x4x5x7xi32>
  return %r : tensor<4x4x5x7xi32>
}
