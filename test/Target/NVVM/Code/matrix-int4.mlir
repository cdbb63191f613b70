// Products of i4 on the units for them, as they lie in memory; of any size, of a
// transposed right operand, and on targets that have none.
//
// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && tilewright-compile %s --target=cuda:sm_75,cuda:sm_80,cuda:sm_90 --require=matrix-unit --explain --emit=ptx -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=SM75 --input-file %t/cuda_sm_75/rows_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=SM80 --input-file %t/cuda_sm_80/rows_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=ASYNC --input-file %t/cuda_sm_80/dynamic_matmul_0_aligned.ptx
// RUN: FileCheck %s --check-prefix=SM90 --input-file %t/cuda_sm_90/rows_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=COLUMNS --input-file %t/cuda_sm_80/columns_matmul_1.ptx

// RUN: tilewright-compile %s --target=cuda:sm_75,cpu-reference -o %t/75.tw
// RUN: tilewright-run %t/75.tw --device=ptxsim --check=oracle --function=rows --input=133x200xi4=int:-8:7:1 --input=90x200xi4=int:-8:7:2 --input=133x90xi32=int:-9:9:3 | FileCheck %s --check-prefix=EQUAL
// RUN: tilewright-compile %s --target=cuda:sm_80,cpu-reference -o %t/80.tw
// RUN: tilewright-run %t/80.tw --device=ptxsim --check=oracle --function=rows --input=133x200xi4=int:-8:7:1 --input=90x200xi4=int:-8:7:2 --input=133x90xi32=int:-9:9:3 | FileCheck %s --check-prefix=EQUAL
// RUN: tilewright-run %t/80.tw --device=ptxsim --check=oracle --function=columns --input=133x200xi4=int:-8:7:1 --input=200x90xi4=int:-8:7:2 --input=133x90xi32=int:-9:9:3 | FileCheck %s --check-prefix=EQUAL
// RUN: tilewright-run %t/80.tw --device=ptxsim --check=oracle --function=dynamic --input=3x65x70xi4=int:-8:7:1 --input=3x17x70xi4=int:-8:7:2 --input=3x65x17xi32=int:-9:9:3 | FileCheck %s --check-prefix=EQUAL
// RUN: tilewright-compile %s --target=cuda:sm_90,cpu-reference -o %t/90.tw
// RUN: env PTXSIM_ARCH=sm_90 tilewright-run %t/90.tw --device=ptxsim --check=oracle --function=rows --input=133x200xi4=int:-8:7:1 --input=90x200xi4=int:-8:7:2 --input=133x90xi32=int:-9:9:3 | FileCheck %s --check-prefix=EQUAL
// EQUAL: all elements equal

// CHECK: cuda:sm_80
// CHECK: i4 is multiplied as bytes: two elements that share a byte of operand 1 (%b) belong to different sums
// CHECK: cuda:sm_90
// CHECK: i4 is multiplied as bytes: cuda:sm_90 has no units for i4

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// SM75: mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32
// SM80: ldmatrix.sync.aligned.m8n8.x4
// SM80: mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32
// SM90: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
func.func @rows(%a: tensor<133x200xi4>, %b: tensor<90x200xi4>, %c: tensor<133x90xi32>) -> tensor<133x90xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn]
      ins(%a, %b : tensor<133x200xi4>, tensor<90x200xi4>) outs(%c : tensor<133x90xi32>) -> tensor<133x90xi32>
  return %r : tensor<133x90xi32>
}

// COLUMNS: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
func.func @columns(%a: tensor<133x200xi4>, %b: tensor<200x90xi4>, %c: tensor<133x90xi32>) -> tensor<133x90xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<133x200xi4>, tensor<200x90xi4>) outs(%c : tensor<133x90xi32>) -> tensor<133x90xi32>
  return %r : tensor<133x90xi32>
}

// ASYNC: cp.async
// ASYNC: mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32
func.func @dynamic(%a: tensor<?x?x?xi4>, %b: tensor<?x?x?xi4>, %c: tensor<?x?x?xi32>) -> tensor<?x?x?xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?x?xi4>, tensor<?x?x?xi4>) outs(%c : tensor<?x?x?xi32>) {
  ^bb0(%x: i4, %y: i4, %sum: i32):
    %v = arith.extui %x : i4 to i32
    %w = arith.extsi %y : i4 to i32
    %p = arith.muli %v, %w : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  } -> tensor<?x?x?xi32>
  return %r : tensor<?x?x?xi32>
}
