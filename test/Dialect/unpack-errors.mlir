// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @Types(%w: tensor<4x6xi16>) {
  // expected-error @+1 {{takes and gives numbers of i8}}
  %u = tilewright.unpack %w : tensor<4x6xi16> to tensor<4x12xi8>
  return
}

// -----

func.func @Rows(%w: tensor<4x6xi8>) {
  // expected-error @+1 {{changes the innermost dim only}}
  %u = tilewright.unpack %w : tensor<4x6xi8> to tensor<8x12xi8>
  return
}

// -----

func.func @Elements(%w: tensor<4x6xi8>) {
  // expected-error @+1 {{has two elements for each byte of the innermost dim, whose size is static}}
  %u = tilewright.unpack %w : tensor<4x6xi8> to tensor<4x6xi8>
  return
}
