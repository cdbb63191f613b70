// REQUIRES: tilewright-compile
// RUN: not tilewright-compile %s --target=cpu -o %t 2>&1 | FileCheck %s

// What a message tells to write is not called by the name of the op that it speaks of.
// CHECK: error: 'tensor.extract_slice' op has a step of -3, and windows go forwards; read backwards in a linalg.generic,
func.func @main(%x: tensor<14xf32>) -> tensor<4xf32> {
  %r = tensor.extract_slice %x[12] [4] [-3] : tensor<14xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
