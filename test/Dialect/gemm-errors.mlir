// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @SeveralSums(%a: tensor<8x4x32xf32>, %b: tensor<4x32x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{is nothing that CBLAS computes: its rows, its columns or its sum are several loops}}
  %r = tilewright.gemm ins(%a, %b : tensor<8x4x32xf32>, tensor<4x32x16xf32>) outs(%c : tensor<8x16xf32>) {library = "l",
    maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (g, k, n)>, affine_map<(m, n, g, k) -> (m, n)>]} -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

func.func @BatchInnermost(%a: tensor<8x32x4xf32>, %b: tensor<4x32x16xf32>, %c: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  // expected-error @below {{is nothing that CBLAS computes: neither rows nor columns of an operand lie side by side in memory}}
  %r = tilewright.gemm ins(%a, %b : tensor<8x32x4xf32>, tensor<4x32x16xf32>) outs(%c : tensor<4x8x16xf32>) {library = "l",
    maps = [affine_map<(b, m, n, k) -> (m, k, b)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]} -> tensor<4x8x16xf32>
  return %r : tensor<4x8x16xf32>
}

// -----

func.func @Halves(%a: tensor<8x32xf16>, %b: tensor<32x16xf16>, %c: tensor<8x16xf16>) -> tensor<8x16xf16> {
  // expected-error @below {{has elements of 'f16'; they are of f32 or f64}}
  %r = tilewright.gemm ins(%a, %b : tensor<8x32xf16>, tensor<32x16xf16>) outs(%c : tensor<8x16xf16>) {library = "l",
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]} -> tensor<8x16xf16>
  return %r : tensor<8x16xf16>
}

// -----

func.func @Sizes(%a: tensor<8x32xf32>, %b: tensor<31x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{has a loop of 32 and of 31}}
  %r = tilewright.gemm ins(%a, %b : tensor<8x32xf32>, tensor<31x16xf32>) outs(%c : tensor<8x16xf32>) {library = "l",
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]} -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
