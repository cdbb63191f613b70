// A residual of bf16 beside the sums: four pieces a warpgroup by copy engines, read as matrices; none of it by plain loads, and
// no spills.
//
// REQUIRES: ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a --stop-after=tile -o - | FileCheck %s --check-prefix=TILE
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/gemm.ptx
// RUN: FileCheck %s --input-file %t/gemm.ptx
// RUN: %ptxas -arch=sm_90a -v %t/gemm.ptx -o %t/gemm.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// TILE: tilewright.loaded_tiles = array<i64: 2>

// CHECK-NOT: ld.global
// CHECK-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT: ld.global
// CHECK-COUNT-12: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT: ldmatrix
// CHECK-COUNT-16: stmatrix.sync.aligned.m8n8.x4
// CHECK-NOT: stmatrix
// CHECK-NOT: ld.global

// PTXAS-NOT: warning
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

func.func @gemm(%a: tensor<512x1024xbf16>, %b: tensor<1024x512xbf16>, %r: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64],
          warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", registers = [40, 232], persistent = true, tma_store = true>}
      ins(%a, %b : tensor<512x1024xbf16>, tensor<1024x512xbf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  %o = tensor.empty() : tensor<512x512xbf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%p, %r : tensor<512x512xf32>, tensor<512x512xbf16>) outs(%o : tensor<512x512xbf16>) {
  ^bb0(%x: f32, %y: bf16, %out: bf16):
    %0 = arith.extf %y : bf16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<512x512xbf16>
  return %s : tensor<512x512xbf16>
}
