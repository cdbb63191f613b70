// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @parts(%x: tensor<4x7xf32>) -> tensor<4x7xf32> {
  // expected-error @below {{has an input of 'tensor<4x7xf32>'; its last dim is 2, a real and an imaginary part, and the one before is transformed}}
  %r = tilewright.fft ins(%x : tensor<4x7xf32>) outs(%x : tensor<4x7xf32>) -> tensor<4x7xf32>
  return %r : tensor<4x7xf32>
}

// -----

func.func @half(%x: tensor<4x2xf16>) -> tensor<4x2xf16> {
  // expected-error @below {{has elements of 'f16'; they are f32 or f64, the parts of complex numbers}}
  %r = tilewright.fft ins(%x : tensor<4x2xf16>) outs(%x : tensor<4x2xf16>) -> tensor<4x2xf16>
  return %r : tensor<4x2xf16>
}

// -----

func.func @length(%x: tensor<4x2xf32>, %e: tensor<5x2xf32>) -> tensor<5x2xf32> {
  // expected-error @below {{has an output of 'tensor<5x2xf32>' for an input of 'tensor<4x2xf32>'; both are alike}}
  %r = tilewright.fft ins(%x : tensor<4x2xf32>) outs(%e : tensor<5x2xf32>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}
