// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f16 and bf16 are computed as vectors of f32, rounded where they are stored. At edges,
// where AVX2 has no masked access, one call takes the place of a branch per
// element; AVX-512 has the access.

// RUN: tilewright-compile %s --target=cpu:x86-64-v3 --emit=llvm -o %t
// RUN: FileCheck %s --input-file=%t/cpu_x86_64_v3/bf16_elementwise_0.ll
// RUN: tilewright-compile %s --target=cpu:x86-64-v4 --emit=llvm -o %t
// RUN: FileCheck %s --check-prefix=V4 --input-file=%t/cpu_x86_64_v4/bf16_elementwise_0.ll
// RUN: tilewright-compile %s --target=cpu:x86-64-v3 --emit=asm -o %t
// RUN: cat %t/cpu_x86_64_v3/bf16_elementwise_0.s %t/cpu_x86_64_v3/f16_elementwise_0.s | FileCheck %s --check-prefix=ASM

// CHECK-LABEL: @bf16_elementwise_0.body
// CHECK-NOT: fadd <{{.*}} x bfloat>
// CHECK: fadd <{{[0-9]+}} x float>
// CHECK: call <[[N:[0-9]+]] x i16> @masked.load.v[[N]]i16(
// CHECK: call void @masked.store.v[[N]]i16(

// V4: call <{{[0-9]+}} x i16> @llvm.masked.load.v{{[0-9]+}}i16
// V4-NOT: select {{.*}}bfloat
// V4: select <{{[0-9]+}} x i1> {{.*}}, <[[N:[0-9]+]] x i16> splat (i16 32704), <[[N]] x i16>

// ASM-NOT: {{__truncsfbf2|vpextr}}
// ASM-LABEL: f16_elementwise_0.body:
// ASM: vcvtph2ps {{.*}}, %ymm
// ASM: vaddps %ymm
// ASM: vcvtps2ph {{.*}}%ymm
func.func @bf16(%a: tensor<?xbf16>, %b: tensor<?xbf16>) -> tensor<?xbf16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?xbf16>
  %e = tensor.empty(%d) : tensor<?xbf16>
  %r = linalg.add ins(%a, %b : tensor<?xbf16>, tensor<?xbf16>)
                  outs(%e : tensor<?xbf16>) -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}

func.func @f16(%a: tensor<?xf16>, %b: tensor<?xf16>) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?xf16>
  %e = tensor.empty(%d) : tensor<?xf16>
  %r = linalg.add ins(%a, %b : tensor<?xf16>, tensor<?xf16>)
                  outs(%e : tensor<?xf16>) -> tensor<?xf16>
  return %r : tensor<?xf16>
}
