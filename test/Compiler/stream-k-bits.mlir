// Blocks that share all sums (stream_k) give the same bits in every run, in whatever order copies arrive, warps and blocks
// run: what a block has of a tile is in a place of its own, and a second kernel adds these up in one order. No atomic
// touches a result. The same kernel in parts of equal length has other sums, and so other bits.

// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a -o %t/split.tw
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/ptx
// RUN: cat %t/ptx/cuda_sm_90a/*.ptx | not grep -E '\b(atom|red|cp\.reduce)\.'
// RUN: sh %S/Inputs/same-bits.sh shared %t
// RUN: sh %S/Inputs/same-bits.sh alone %t
// RUN: not cmp %t/shared.npy %t/alone.npy
// RUN: FileCheck %s --check-prefix=SHARED --input-file=%t/ptx/cuda_sm_90a/shared_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=ALONE --input-file=%t/ptx/cuda_sm_90a/alone_matmul_0.ptx
// RUN: tilewright-compile %s --target=cuda:sm_90a -o %t/split.tw --explain 2>&1 | FileCheck %s --check-prefix=SAID

// The field alone switches it: blocks walk to the item at which the next one begins, and not by the number of blocks.
// SHARED: .entry shared_matmul_0
// SHARED-NOT: %nctaid.x
// SHARED: wgmma.mma_async
// ALONE: .entry alone_matmul_0
// ALONE: %nctaid.x
// ALONE: wgmma.mma_async

// SAID: shared_matmul_0: 1 op
// SAID: 5 blocks share the 26 steps along loop 2 of each of 4 tiles, 3 parts of a tile at most; a second kernel combines them
// SAID: grid (5, 1, 1)
// SAID: alone_matmul_0: 1 op
// SAID: computes 3 parts of loop 2
// SAID: grid (min(2 * 2 * 3, max(device(multiprocessors), 1)), 1, 1)

func.func @shared(%a: tensor<72x1608xbf16>, %b: tensor<1608x40xbf16>) -> tensor<72x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<72x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<72x40xf32>) -> tensor<72x40xf32>
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized,
      block = [64, 32, 64], warps = [4, 1, 1], stages = 3, promote = [0, 1], mma = "wgmma.m64n32k16.bf16.f32", splits = 3,
      persistent = true, stream_k = 5>}
    ins(%a, %b : tensor<72x1608xbf16>, tensor<1608x40xbf16>) outs(%z : tensor<72x40xf32>) -> tensor<72x40xf32>
  return %p : tensor<72x40xf32>
}

func.func @alone(%a: tensor<72x1608xbf16>, %b: tensor<1608x40xbf16>) -> tensor<72x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<72x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<72x40xf32>) -> tensor<72x40xf32>
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized,
      block = [64, 32, 64], warps = [4, 1, 1], stages = 3, promote = [0, 1], mma = "wgmma.m64n32k16.bf16.f32", splits = 3,
      persistent = true>}
    ins(%a, %b : tensor<72x1608xbf16>, tensor<1608x40xbf16>) outs(%z : tensor<72x40xf32>) -> tensor<72x40xf32>
  return %p : tensor<72x40xf32>
}
