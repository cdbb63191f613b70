// RUN: tilewright-compile %s --target=cpu:x86-64-v4 --emit=asm -o - | FileCheck %s
// RUN: tilewright-compile %s --target=cpu:x86-64-v3 --emit=asm -o - | FileCheck %s --check-prefix=V3

// The result has 32 MiB. Stores that pass the caches by want an aligned address, and a
// fence behind them; f16 are stored as integers. A kernel whose stores are all whole lines
// behind its buffer asks once whether that is aligned, one with shorter registers each time.
// CHECK-LABEL: doubled{{.*}}body:
// CHECK: testb $63
// CHECK: callq [[UNALIGNED:doubled.*body.unaligned]]
// CHECK: vmovntdq %zmm
// CHECK-NOT: testb $63
// CHECK: sfence
// CHECK: [[UNALIGNED]]:
// CHECK-NOT: vmovnt
// CHECK: retq
// V3-LABEL: doubled{{.*}}body:
// V3-NOT: unaligned
// V3-COUNT-2: vmovntdq %ymm
func.func @doubled(%x: tensor<16384x1024xf16>) -> tensor<16384x1024xf16> {
  %e = tensor.empty() : tensor<16384x1024xf16>
  %r = linalg.add ins(%x, %x : tensor<16384x1024xf16>, tensor<16384x1024xf16>) outs(%e : tensor<16384x1024xf16>) -> tensor<16384x1024xf16>
  return %r : tensor<16384x1024xf16>
}
