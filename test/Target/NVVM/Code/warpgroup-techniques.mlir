// Persistent blocks in clusters, which share what they copy, and results stored by copy
// engines: right on the simulator, in many orders, no spills and no warning of ptxas;
// and none of their waits, arrivals, fences, commits and counts can be left out or
// weakened. Three rows of tiles are no whole number of clusters.
//
// REQUIRES: ptxas, tilewright-run
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/gemm.ptx
// RUN: FileCheck %s --input-file %t/gemm.ptx
// RUN: %ptxas -arch=sm_90a -v %t/gemm.ptx -o %t/gemm.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: %build/venv/bin/python %S/Inputs/warp-specialized.py %t/gemm.ptx %t/data --entry=gemm_matmul_0 --static=384x512x448 --stored --cluster=2 --grid=2 | FileCheck %s --check-prefix=RIGHT
// RUN: %build/venv/bin/python %S/Inputs/warp-specialized.py %t/gemm.ptx %t/data --entry=gemm_matmul_0 --static=384x512x448 --stored --cluster=2 --grid=2 --orders=5 | FileCheck %s --check-prefix=ORDERS
// RUN: %build/venv/bin/python %S/Inputs/warp-specialized.py %t/gemm.ptx %t/data --entry=gemm_matmul_0 --static=384x512x448 --stored --cluster=2 --grid=2 --bugs | FileCheck %s --check-prefix=BUGS

// CHECK: .minnctapersm 1
// CHECK-DAG: barrier.cluster.arrive.aligned
// CHECK-DAG: multicast::cluster
// CHECK-DAG: mapa.shared::cluster
// CHECK-DAG: stmatrix.sync.aligned.m8n8.x4
// CHECK-DAG: fence.proxy.async.shared::cta
// CHECK-DAG: cp.async.bulk.tensor.2d.global.shared::cta
// CHECK-DAG: cp.async.bulk.wait_group.read {{.*}}1
// CHECK-DAG: cp.async.bulk.wait_group.read {{.*}}0

// PTXAS-NOT: warning
// PTXAS-NOT: C7
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

// RIGHT: 384x512x448 equal
// ORDERS: 5 orders: equal
// BUGS: planted [[N:[1-9][0-9]+]], found [[N]]

func.func @gemm(%a: tensor<384x448xbf16>, %b: tensor<448x512xbf16>) -> tensor<384x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<384x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<384x512xf32>) -> tensor<384x512xf32>
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64],
          warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", registers = [40, 232],
          persistent = true, cluster = [2, 1, 1], tma_store = true>}
      ins(%a, %b : tensor<384x448xbf16>, tensor<448x512xbf16>) outs(%c : tensor<384x512xf32>) -> tensor<384x512xf32>
  %e = tensor.empty() : tensor<384x512xbf16>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<384x512xf32>) outs(%e : tensor<384x512xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<384x512xbf16>
  return %o : tensor<384x512xbf16>
}
