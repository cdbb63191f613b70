// Split-K gives the same bits in every run, in whatever order copies arrive, warps run and
// work on the queue is done: parts of a sum are added in one order by one thread, and no
// atomic touches a result. The inputs are such that another order gives other bits, as
// another number of parts does.

// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a -o %t/split.tw
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/ptx
// RUN: cat %t/ptx/cuda_sm_90a/*.ptx | FileCheck %s
// RUN: cat %t/ptx/cuda_sm_90a/*.ptx | not grep -E '\b(atom|red|cp\.reduce)\.'
// RUN: sh %S/Inputs/same-bits.sh warpgroups %t
// RUN: sh %S/Inputs/same-bits.sh matrix_unit %t
// RUN: not cmp %t/warpgroups.npy %t/matrix_unit.npy

// Parts, and their sums.
// CHECK-DAG: .entry warpgroups_matmul_0
// CHECK-DAG: .entry warpgroups_reduce_1
// CHECK-DAG: .entry matrix_unit_matmul_0
// CHECK-DAG: .entry matrix_unit_reduce_1
// CHECK-DAG: wgmma.mma_async

func.func @warpgroups(%a: tensor<72x1608xbf16>, %b: tensor<1608x40xbf16>) -> tensor<72x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<72x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<72x40xf32>) -> tensor<72x40xf32>
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized,
      block = [64, 32, 64], warps = [4, 1, 1], stages = 3, promote = [0, 1], mma = "wgmma.m64n32k16.bf16.f32", splits = 3,
      persistent = true, cluster = [2, 1, 1]>}
    ins(%a, %b : tensor<72x1608xbf16>, tensor<1608x40xbf16>) outs(%z : tensor<72x40xf32>) -> tensor<72x40xf32>
  return %p : tensor<72x40xf32>
}

func.func @matrix_unit(%a: tensor<72x1608xbf16>, %b: tensor<1608x40xbf16>) -> tensor<72x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<72x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<72x40xf32>) -> tensor<72x40xf32>
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit,
      block = [32, 32, 32], warps = [1, 2, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.bf16.f32", splits = 4>}
    ins(%a, %b : tensor<72x1608xbf16>, tensor<1608x40xbf16>) outs(%z : tensor<72x40xf32>) -> tensor<72x40xf32>
  return %p : tensor<72x40xf32>
}
