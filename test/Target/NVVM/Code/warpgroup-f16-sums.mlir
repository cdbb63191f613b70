// Sums in f16 by warpgroups: two in a register, which the loop carries as they are, so
// that the next stage is waited for while products are under way; no warning of ptxas
// (which would serialise them), no spills.
//
// REQUIRES: ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/gemm.ptx
// RUN: FileCheck %s --input-file %t/gemm.ptx
// RUN: %ptxas -arch=sm_90a -v %t/gemm.ptx -o %t/gemm.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHECK: .version 8.0
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f16.f16.f16
// CHECK-NOT: wgmma.mma_async
// CHECK: wgmma.commit_group
// CHECK-NOT: %rs
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: stmatrix

// PTXAS-NOT: warning
// PTXAS-NOT: C7
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

func.func @gemm(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<4096x4096xf16>
  %c = linalg.fill ins(%zero : f16) outs(%empty : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64],
          warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.f16.f16", registers = [40, 232],
          persistent = true, cluster = [2, 1, 1], tma_store = true>}
      ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
