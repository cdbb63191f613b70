// RUN: tilewright-compile %s --target=cpu:x86-64-v3 --emit=asm -o - | FileCheck %s
// RUN: tilewright-compile %s --target=cpu:x86-64-v4 --emit=asm -o - | FileCheck %s

// What is only moved is moved as integers, and converted nowhere.
// CHECK-LABEL: transposed{{.*}}body:
// CHECK-NOT: __truncsfbf2
// CHECK: vpunpcklwd
// CHECK-NOT: __truncsfbf2
func.func @transposed(%x: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %e = tensor.empty() : tensor<4096x4096xbf16>
  %r = linalg.transpose ins(%x : tensor<4096x4096xbf16>) outs(%e : tensor<4096x4096xbf16>) permutation = [1, 0]
  return %r : tensor<4096x4096xbf16>
}
