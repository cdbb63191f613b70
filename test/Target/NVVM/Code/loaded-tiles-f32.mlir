// A residual of f32 beside the sums: eight pieces a warpgroup by copy engines, each of which meets the sums before the next one
// is waited for. Without that the residual has as many registers as the sums, and spills.
//
// REQUIRES: ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/gemm.ptx
// RUN: FileCheck %s --input-file %t/gemm.ptx
// RUN: %ptxas -arch=sm_90a -v %t/gemm.ptx -o %t/gemm.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHECK-NOT: ld.global
// CHECK-COUNT-8: ld.shared.v2.b32
// CHECK-COUNT-16: add.rn.f32
// CHECK: mbarrier.try_wait
// CHECK-COUNT-8: ld.shared.v2.b32
// CHECK-COUNT-16: add.rn.f32
// CHECK: st.shared.v2.b32
// CHECK-NOT: ld.global

// PTXAS-NOT: warning
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

func.func @gemm(%a: tensor<512x1024xbf16>, %b: tensor<1024x512xbf16>, %r: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64],
          warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", registers = [40, 232], persistent = true, tma_store = true>}
      ins(%a, %b : tensor<512x1024xbf16>, tensor<1024x512xbf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  %o = tensor.empty() : tensor<512x512xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%p, %r : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<512x512xf32>
  return %s : tensor<512x512xf32>
}
