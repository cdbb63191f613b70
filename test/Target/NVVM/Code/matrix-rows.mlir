// Instructions besides those of halves: f64, bytes on sm_75, and f32 rounded to
// tf32 where that is allowed.
//
// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && tilewright-compile %s --target=cuda:sm_80,cuda:sm_75 --emit=ptx -o %t/exact
// RUN: tilewright-compile %s --target=cuda:sm_80 --fp=tf32 --emit=ptx -o %t/rounded
// RUN: FileCheck %s --check-prefix=F32 --input-file %t/exact/cuda_sm_80/f32_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=TF32 --input-file %t/rounded/cuda_sm_80/f32_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=F64 --input-file %t/exact/cuda_sm_80/f64_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=I8 --input-file %t/exact/cuda_sm_75/i8_matmul_0.ptx

// They compute what the oracle does: small integers survive the rounding.
// RUN: tilewright-run %s --device=ptxsim --compile-arg=--fp=tf32 --check=oracle --function=f32 --input=100x72xf32=int:-9:9 --input=72x90xf32=int:-9:9 --input=100x90xf32=int:-9:9 | FileCheck %s --check-prefix=EQUAL
// RUN: tilewright-run %s --device=ptxsim --check=oracle --function=f64 --input=100x72xf64=int:-9:9 --input=72x90xf64=int:-9:9 --input=100x90xf64=int:-9:9 | FileCheck %s --check-prefix=EQUAL
// RUN: tilewright-run %s --device=ptxsim --target=cuda:sm_75 --check=oracle --function=i8 --input=100x72xi8=int:-99:99 --input=72x90xi8=int:-99:99 --input=100x90xi32=int:-9:9 | FileCheck %s --check-prefix=EQUAL
// EQUAL: all elements equal

// F32-NOT: mma.sync
// F32: fma.rn.f32

// TF32: cvt.rna.tf32.f32
// TF32: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @f32(%a: tensor<100x72xf32>, %b: tensor<72x90xf32>, %c: tensor<100x90xf32>) -> tensor<100x90xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<100x72xf32>, tensor<72x90xf32>) outs(%c : tensor<100x90xf32>) -> tensor<100x90xf32>
  return %r : tensor<100x90xf32>
}

// F64: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
func.func @f64(%a: tensor<100x72xf64>, %b: tensor<72x90xf64>, %c: tensor<100x90xf64>) -> tensor<100x90xf64> {
  %r = linalg.matmul ins(%a, %b : tensor<100x72xf64>, tensor<72x90xf64>) outs(%c : tensor<100x90xf64>) -> tensor<100x90xf64>
  return %r : tensor<100x90xf64>
}

// I8: .version 6.5
// I8: mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32
func.func @i8(%a: tensor<100x72xi8>, %b: tensor<72x90xi8>, %c: tensor<100x90xi32>) -> tensor<100x90xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<100x72xi8>, tensor<72x90xi8>) outs(%c : tensor<100x90xi32>) -> tensor<100x90xi32>
  return %r : tensor<100x90xi32>
}
