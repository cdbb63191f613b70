// Products of bytes of which one operand is signed and one is not, of 8-bit
// floats of either kind and of both.
//
// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && tilewright-compile %s --target=cuda:sm_75,cuda:sm_80,cuda:sm_89,cuda:sm_90 --emit=ptx -o %t
// RUN: FileCheck %s --check-prefix=SU75 --input-file %t/cuda_sm_75/signed_unsigned_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=US75 --input-file %t/cuda_sm_75/unsigned_signed_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=SU80 --input-file %t/cuda_sm_80/signed_unsigned_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=US80 --input-file %t/cuda_sm_80/unsigned_signed_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=NONE --input-file %t/cuda_sm_80/e4m3_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=E4M3 --input-file %t/cuda_sm_89/e4m3_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=E4M3 --input-file %t/cuda_sm_90/e4m3_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=BOTH --input-file %t/cuda_sm_90/both_matmul_0.ptx

// RUN: tilewright-run %s --device=ptxsim --target=cuda:sm_75 --check=oracle --function=signed_unsigned --input=33x41xi8=int:-128:127 --input=41x19xi8=int:-128:127 --input=33x19xi32=int:-9:9 | FileCheck %s --check-prefix=EQUAL
// RUN: tilewright-run %s --device=ptxsim --check=oracle --function=unsigned_signed --input=33x41xi8=int:-128:127 --input=41x19xi8=int:-128:127 --input=33x19xi32=int:-9:9 | FileCheck %s --check-prefix=EQUAL
// RUN: env PTXSIM_ARCH=sm_90 tilewright-run %s --device=ptxsim --target=cuda:sm_90 --check=oracle --function=both --input=33x41xf8E5M2=int:-3:3 --input=41x19xf8E4M3FN=int:-3:3 --input=33x19xf32=int:-9:9 | FileCheck %s --check-prefix=EQUAL
// EQUAL: all elements equal

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// SU75: mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32
// SU80: mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32
func.func @signed_unsigned(%a: tensor<33x41xi8>, %b: tensor<41x19xi8>, %c: tensor<33x19xi32>) -> tensor<33x19xi32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<33x41xi8>, tensor<41x19xi8>) outs(%c : tensor<33x19xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extui %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  } -> tensor<33x19xi32>
  return %r : tensor<33x19xi32>
}

// US75: mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32
// US80: mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32
func.func @unsigned_signed(%a: tensor<33x41xi8>, %b: tensor<41x19xi8>, %c: tensor<33x19xi32>) -> tensor<33x19xi32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<33x41xi8>, tensor<41x19xi8>) outs(%c : tensor<33x19xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %v = arith.extui %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  } -> tensor<33x19xi32>
  return %r : tensor<33x19xi32>
}

// sm_80 has no such instruction: products in f32.
// NONE-NOT: mma.sync
// NONE: fma.rn.f32
// E4M3: .version 8.4
// E4M3: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
func.func @e4m3(%a: tensor<33x41xf8E4M3FN>, %b: tensor<41x19xf8E4M3FN>, %c: tensor<33x19xf32>) -> tensor<33x19xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<33x41xf8E4M3FN>, tensor<41x19xf8E4M3FN>) outs(%c : tensor<33x19xf32>) -> tensor<33x19xf32>
  return %r : tensor<33x19xf32>
}

// BOTH: mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32
func.func @both(%a: tensor<33x41xf8E5M2>, %b: tensor<41x19xf8E4M3FN>, %c: tensor<33x19xf32>) -> tensor<33x19xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<33x41xf8E5M2>, tensor<41x19xf8E4M3FN>) outs(%c : tensor<33x19xf32>) -> tensor<33x19xf32>
  return %r : tensor<33x19xf32>
}
