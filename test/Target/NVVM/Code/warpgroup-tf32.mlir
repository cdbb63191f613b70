// f32 by warpgroups where --fp=tf32 allows it, by default and with every technique: exact on the simulator for integers that
// tf32 holds, within the oracle's bound for others; without it, not on the matrix unit.
//
// REQUIRES: ptxas, tilewright-run
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --fp=tf32 --target=cuda:sm_90a,cpu-reference -o %t/gemm.tw --explain --explain-output=%t/said
// RUN: FileCheck %s --check-prefix=CONFIG --input-file %t/said
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/exact.ptx
// RUN: FileCheck %s --check-prefix=EXACT --input-file %t/exact.ptx
// RUN: tilewright-compile %s --fp=tf32 --target=cuda:sm_90a --emit=ptx -o %t/gemm.ptx
// RUN: FileCheck %s --input-file %t/gemm.ptx
// RUN: %ptxas -arch=sm_90a -v %t/gemm.ptx -o %t/gemm.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: env PTXSIM_ARCH=sm_90 PTXSIM_MULTIPROCESSORS=2 tilewright-run %t/gemm.tw --device=ptxsim --check=oracle --input=256x200xf32=int:-99:99:1 --input=384x200xf32=int:-99:99:2 2>&1 | FileCheck %s --check-prefix=INTEGERS
// RUN: env PTXSIM_ARCH=sm_90 PTXSIM_MULTIPROCESSORS=2 tilewright-run %t/gemm.tw --device=ptxsim --check=oracle --input=256x200xf32=random:1 --input=384x200xf32=random:2 2>&1 | FileCheck %s --check-prefix=RANDOM

// CONFIG: config: {{.*}}strategy = warp_specialized, {{.*}}mma = "wgmma.m64n{{[0-9]+}}k8.tf32.f32"{{.*}}persistent = true, {{.*}}tma_store = true
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k8.f32.tf32.tf32
// EXACT-NOT: mma
// PTXAS-NOT: {{warning|C75}}
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// INTEGERS-NOT: {{warning|ptxsim:}}
// INTEGERS: 256x384xf32, all elements equal
// RANDOM-NOT: {{warning|ptxsim:}}
// RANDOM: ok: 256x384xf32

func.func @gemm(%a: tensor<256x200xf32>, %b: tensor<384x200xf32>) -> tensor<256x384xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x384xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x384xf32>) -> tensor<256x384xf32>
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<256x200xf32>, tensor<384x200xf32>) outs(%c : tensor<256x384xf32>) -> tensor<256x384xf32>
  return %r : tensor<256x384xf32>
}
