// RUN: tilewright-compile %s --target=cpu:x86-64-v4 --emit=asm -o - | FileCheck %s

// The result has 32 MiB. Stores that pass the caches by want an aligned address, and a
// fence behind them; f16 are stored as integers.
// CHECK-LABEL: doubled{{.*}}body:
// CHECK-DAG: testb $63
// CHECK-DAG: vmovntdq %zmm
// CHECK-DAG: sfence
func.func @doubled(%x: tensor<16384x1024xf16>) -> tensor<16384x1024xf16> {
  %e = tensor.empty() : tensor<16384x1024xf16>
  %r = linalg.add ins(%x, %x : tensor<16384x1024xf16>, tensor<16384x1024xf16>) outs(%e : tensor<16384x1024xf16>) -> tensor<16384x1024xf16>
  return %r : tensor<16384x1024xf16>
}
