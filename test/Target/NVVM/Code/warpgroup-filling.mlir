// Rings that warps fill that multiply, and that threads fill: no spills, and no warning of ptxas, as there is where products wait
// for each other.
//
// REQUIRES: ptxas
// RUN: rm -rf %t && tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t
// RUN: %ptxas -arch=sm_90a -v %t/cuda_sm_90a/alone_matmul_0.ptx -o %t/alone.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: %ptxas -arch=sm_90a -v %t/cuda_sm_90a/one_matmul_0.ptx -o %t/one.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: %ptxas -arch=sm_90a -v %t/cuda_sm_90a/every_matmul_0.ptx -o %t/every.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: %ptxas -arch=sm_90a -v %t/cuda_sm_90a/threads_matmul_0.ptx -o %t/threads.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: %ptxas -arch=sm_90a -v %t/cuda_sm_90a/both_matmul_0.ptx -o %t/both.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: FileCheck %s --input-file %t/cuda_sm_90a/alone_matmul_0.ptx --check-prefix=ALONE
// RUN: FileCheck %s --input-file %t/cuda_sm_90a/threads_matmul_0.ptx --check-prefix=THREADS
// RUN: FileCheck %s --input-file %t/cuda_sm_90a/both_matmul_0.ptx --check-prefix=BOTH

// PTXAS-NOT: warning
// PTXAS-NOT: C7
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

// One lane starts the copies behind each step's products, and, further down in the text, those in front of the loop.
// ALONE: .reqntid 256, 1, 1
// ALONE-NOT: setmaxnreg
// ALONE: wgmma.mma_async
// ALONE: wgmma.wait_group.sync.aligned 1;
// ALONE: mbarrier.arrive.shared::cta.b64
// ALONE: elect.sync
// ALONE: cp.async.bulk.tensor.2d.shared::cluster
// ALONE: wgmma.wait_group.sync.aligned 0;
// ALONE: elect.sync
// ALONE: cp.async.bulk.tensor.2d.shared::cluster

// THREADS: .reqntid 384, 1, 1
// THREADS-NOT: cp.async.bulk.tensor.2d.shared::cluster
// THREADS: setmaxnreg.dec.sync.aligned.u32 40;
// THREADS: cp.async.cg.shared.global
// THREADS: cp.async.mbarrier.arrive.noinc.shared::cta.b64
// THREADS: mbarrier.try_wait
// THREADS: fence.proxy.async.shared::cta;
// THREADS: wgmma.mma_async

// BOTH: .reqntid 256, 1, 1
// BOTH: fence.proxy.async.shared::cta;
// BOTH: wgmma.mma_async
// BOTH: cp.async.cg.shared.global
// BOTH: cp.async.mbarrier.arrive.noinc.shared::cta.b64

func.func @alone(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024x1024xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64],
          warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", producer = false, tma_store = true>}
      ins(%a, %b : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %e = tensor.empty() : tensor<1024x1024xbf16>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1024x1024xbf16>
  return %o : tensor<1024x1024xbf16>
}

func.func @one(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024x1024xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 256, 64],
          warps = [4, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", producer = false>}
      ins(%a, %b : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %e = tensor.empty() : tensor<1024x1024xbf16>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1024x1024xbf16>
  return %o : tensor<1024x1024xbf16>
}

func.func @every(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024x1024xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64],
          warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", raster = 4, persistent = true, cluster = [2, 1, 1], tma_store = true, producer = false>}
      ins(%a, %b : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %e = tensor.empty() : tensor<1024x1024xbf16>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1024x1024xbf16>
  return %o : tensor<1024x1024xbf16>
}

func.func @threads(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024x1024xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64],
          warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", registers = [40, 232], persistent = true, tma_store = true, tma_copy = false>}
      ins(%a, %b : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %e = tensor.empty() : tensor<1024x1024xbf16>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1024x1024xbf16>
  return %o : tensor<1024x1024xbf16>
}

func.func @both(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024x1024xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64],
          warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", tma_store = true, producer = false, tma_copy = false>}
      ins(%a, %b : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %e = tensor.empty() : tensor<1024x1024xbf16>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1024x1024xbf16>
  return %o : tensor<1024x1024xbf16>
}
