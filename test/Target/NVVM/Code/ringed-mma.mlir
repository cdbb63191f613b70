// Targets with copy engines and without instructions of warpgroups: a warp fills the ring
// through tensor maps, the others load matrices out of it for mma.sync. No spills, and no
// warning of ptxas.
//
// REQUIRES: ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90 --emit=ptx -o %t/sm_90.ptx
// RUN: FileCheck %s --input-file %t/sm_90.ptx
// RUN: %ptxas -arch=sm_90 -v %t/sm_90.ptx -o %t/sm_90.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: tilewright-compile %s --target=cuda:sm_120 --emit=ptx -o %t/sm_120.ptx
// RUN: %ptxas -arch=sm_120 -v %t/sm_120.ptx -o %t/sm_120.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHECK: .version 8.0
// CHECK-NOT: wgmma
// CHECK-DAG: cp.async.bulk.tensor.2d
// CHECK-DAG: mbarrier.try_wait.parity
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-DAG: bar.warp.sync
// CHECK-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: cp.async.cg

// PTXAS-NOT: warning
// PTXAS: 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

func.func @gemm(%a: tensor<512x1024xbf16>, %b: tensor<1024x512xbf16>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64],
          warps = [2, 2, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.bf16.f32", persistent = true>}
      ins(%a, %b : tensor<512x1024xbf16>, tensor<1024x512xbf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
