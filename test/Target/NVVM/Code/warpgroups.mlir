// The same kernel as the compiler makes it of linalg: right on the simulator, no
// spills and no warning of ptxas; and none of its waits, arrivals, fences, commits,
// phases and counts can be left out or weakened.
//
// REQUIRES: ptxas, tilewright-run
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/gemm.ptx
// RUN: FileCheck %s --input-file %t/gemm.ptx
// RUN: %ptxas -arch=sm_90a -v %t/gemm.ptx -o %t/gemm.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: %build/venv/bin/python %S/Inputs/warp-specialized.py %t/gemm.ptx %t/data --entry=gemm_matmul_0 --static=256x512x1344 | FileCheck %s --check-prefix=RIGHT
// RUN: %build/venv/bin/python %S/Inputs/warp-specialized.py %t/gemm.ptx %t/data --entry=gemm_matmul_0 --static=256x512x1344 --bugs | FileCheck %s --check-prefix=BUGS

// CHECK: .minnctapersm 1
// CHECK-DAG: setmaxnreg.dec.sync.aligned.u32 40;
// CHECK-DAG: setmaxnreg.inc.sync.aligned.u32 232;
// CHECK-DAG: elect.sync
// CHECK-DAG: cp.async.bulk.tensor.2d
// CHECK-DAG: wgmma.fence.sync.aligned;
// CHECK-DAG: wgmma.commit_group.sync.aligned;
// CHECK-DAG: wgmma.wait_group.sync.aligned 1;
// CHECK-DAG: wgmma.wait_group.sync.aligned 0;

// PTXAS-NOT: warning
// PTXAS-NOT: C7
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

// RIGHT: 256x512x1344 equal
// BUGS: planted [[N:[1-9][0-9]+]], found [[N]]

func.func @gemm(%a: tensor<256x1344xbf16>, %b: tensor<1344x512xbf16>) -> tensor<256x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x512xf32>) -> tensor<256x512xf32>
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64],
          warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<256x1344xbf16>, tensor<1344x512xbf16>) outs(%c : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %r : tensor<256x512xf32>
}
