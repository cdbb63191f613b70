// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu:x86-64-v3,cpu-reference --emit=manifest -o - | tr -d ' \n' | FileCheck %s

// Callers have tensors of i4, kernels their bytes.
// CHECK: "operands":[{"access":"read","dtype":"i8","shape":[80,48]}
// CHECK-SAME: "inputs":[{"dtype":"i4","kind":"tensor","name":"w","shape":[80,96]}]
// CHECK-SAME: "reference":false
// CHECK-SAME: "inputs":[{"dtype":"i4","kind":"tensor","name":"w","shape":[80,96]}]
// CHECK-SAME: "reference":true
func.func @extend(%w: tensor<80x96xi4>) -> tensor<80x96xi8> {
  %e = tensor.empty() : tensor<80x96xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<80x96xi4>) outs(%e : tensor<80x96xi8>) {
  ^bb0(%x: i4, %out: i8):
    %v = arith.extsi %x : i4 to i8
    linalg.yield %v : i8
  } -> tensor<80x96xi8>
  return %r : tensor<80x96xi8>
}
