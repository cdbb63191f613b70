// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu --explain --emit=manifest -o /dev/null 2>&1 | FileCheck %s

// CHECK: a copy that the compiler added: func.return needs the window as a dense tensor
func.func @returned(%x: tensor<8x8xf32>) -> tensor<4x4xf32> {
  %w = tensor.extract_slice %x[2, 2] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
  return %w : tensor<4x4xf32>
}
