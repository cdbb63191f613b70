// Sums whose parts the blocks of a cluster have give the same bits in every run, in whatever order copies arrive, warps and
// blocks run: each block adds up a slice of the tile, part after part in one order, out of the others' shared memory. No atomic
// touches a result. Another number of parts gives other bits.

// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a -o %t/split.tw
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/ptx
// RUN: cat %t/ptx/cuda_sm_90a/*.ptx | FileCheck %s
// RUN: cat %t/ptx/cuda_sm_90a/*.ptx | not grep -E '_reduce_|\b(atom|red|cp\.reduce)\.'
// RUN: sh %S/Inputs/same-bits.sh four %t
// RUN: sh %S/Inputs/same-bits.sh two %t
// RUN: sh %S/Inputs/same-bits.sh columns %t
// RUN: sh %S/Inputs/same-bits.sh by_default %t 64x2048xbf16 2048x128xbf16
// RUN: not cmp %t/four.npy %t/two.npy

// One kernel each, by name, which reads what the other blocks have.
// CHECK: .entry by_default_matmul_0
// CHECK: wgmma.mma_async
// CHECK: ld.shared::cluster
// CHECK: .entry columns_matmul_0
// CHECK: ld.shared::cluster
// CHECK: .entry four_matmul_0
// CHECK: ld.shared::cluster
// CHECK: .entry two_matmul_0
// CHECK: ld.shared::cluster
// CHECK-NOT: .entry

func.func @four(%a: tensor<72x1608xbf16>, %b: tensor<1608x40xbf16>) -> tensor<72x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<72x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<72x40xf32>) -> tensor<72x40xf32>
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized,
      block = [64, 32, 64], warps = [4, 1, 1], stages = 3, promote = [0, 1], mma = "wgmma.m64n32k16.bf16.f32", splits = 4,
      cluster = [1, 1, 4]>}
    ins(%a, %b : tensor<72x1608xbf16>, tensor<1608x40xbf16>) outs(%z : tensor<72x40xf32>) -> tensor<72x40xf32>
  return %p : tensor<72x40xf32>
}

func.func @two(%a: tensor<72x1608xbf16>, %b: tensor<1608x40xbf16>) -> tensor<72x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<72x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<72x40xf32>) -> tensor<72x40xf32>
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized,
      block = [64, 32, 64], warps = [4, 1, 1], stages = 3, promote = [0, 1], mma = "wgmma.m64n32k16.bf16.f32", splits = 2,
      cluster = [1, 1, 2]>}
    ins(%a, %b : tensor<72x1608xbf16>, tensor<1608x40xbf16>) outs(%z : tensor<72x40xf32>) -> tensor<72x40xf32>
  return %p : tensor<72x40xf32>
}

// Columns are the instruction's rows.
func.func @columns(%a: tensor<72x1608xbf16>, %b: tensor<1608x40xbf16>) -> tensor<72x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<72x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<72x40xf32>) -> tensor<72x40xf32>
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized,
      block = [32, 64, 64], warps = [1, 4, 1], stages = 3, promote = [0, 1], mma = "wgmma.m64n32k16.bf16.f32", splits = 8,
      cluster = [1, 1, 8]>}
    ins(%a, %b : tensor<72x1608xbf16>, tensor<1608x40xbf16>) outs(%z : tensor<72x40xf32>) -> tensor<72x40xf32>
  return %p : tensor<72x40xf32>
}

func.func @by_default(%a: tensor<64x2048xbf16>, %b: tensor<2048x128xbf16>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x2048xbf16>, tensor<2048x128xbf16>) outs(%z : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %p : tensor<64x128xf32>
}
