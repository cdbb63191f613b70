// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu,cpu-reference --emit=manifest -o - | tr -d ' \n' | FileCheck %s

// Arguments keep the names of the text, of every target.
// CHECK: "driver":"cpu"
// CHECK-SAME: "inputs":[{"dtype":"f32","kind":"tensor","name":"left","shape":[4]},{"dtype":"f32","kind":"tensor","name":"right.hand_side","shape":[4]}],"name":"named"
// CHECK-SAME: "inputs":[{"dtype":"f32","kind":"tensor","shape":[4]},{"dtype":"f32","kind":"scalar","name":"s"}],"name":"numbered"
// CHECK-SAME: "reference":false
// CHECK-SAME: "name":"left"
// CHECK-SAME: "reference":true
func.func @named(%left: tensor<4xf32>,
                 %right.hand_side: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.add ins(%left, %right.hand_side : tensor<4xf32>, tensor<4xf32>) outs(%left : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @numbered(%0: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %r = linalg.fill ins(%s : f32) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
