// RUN: tilewright-compile %s --target=cpu:x86-64-v4 --emit=asm -o - | FileCheck %s
// RUN: tilewright-compile %s --target=cpu:x86-64-v3 --emit=asm -o - | FileCheck %s --check-prefix=V3

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

// A transposed tile stores 32 lines at once: whether they are aligned is asked once. With
// shorter registers it is asked for each line, whose two halves stay together.
// CHECK-LABEL: transposed{{.*}}body:
// CHECK: testb $63
// CHECK: callq [[UNALIGNED:transposed.*body.unaligned]]
// CHECK-NOT: testb $63
// CHECK-COUNT-32: vmovntdq %zmm
// CHECK: sfence
// CHECK: [[UNALIGNED]]:
// CHECK-NOT: vmovnt
// CHECK: retq
// V3-LABEL: transposed{{.*}}body:
// V3-NOT: unaligned
// V3: testb $63
// V3: vmovntdq %ymm
// V3-NOT: testb
// V3: vmovntdq %ymm
func.func @transposed(%x: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %e = tensor.empty() : tensor<4096x4096xf16>
  %r = linalg.transpose ins(%x : tensor<4096x4096xf16>) outs(%e : tensor<4096x4096xf16>) permutation = [1, 0]
  return %r : tensor<4096x4096xf16>
}
