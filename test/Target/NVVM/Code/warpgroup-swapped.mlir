// Few rows by warpgroups: the operands are swapped (warps lie along the columns), so that
// 128 columns are the rows of two warpgroups' instructions and 16 rows their columns; with
// warps along the rows A is x, and most of what is multiplied is none of the problem. Right on the
// simulator in several orders, no spills, no warning of ptxas, and none of the waits,
// arrivals, fences and commits can be left out or weakened.
//
// REQUIRES: ptxas, tilewright-run
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/gemm.ptx
// RUN: FileCheck %s --input-file %t/gemm.ptx
// RUN: sed "s/block = .16, 128, 64./block = [128, 16, 64]/; s/warps = .1, 8, 1./warps = [8, 1, 1]/; s/cluster = .1, 2, 1./cluster = [1, 2, 1]/" %s > %t/rows.mlir
// RUN: tilewright-compile %t/rows.mlir --target=cuda:sm_90a --emit=ptx -o %t/rows.ptx
// RUN: FileCheck %s --check-prefix=ROWS --input-file %t/rows.ptx
// RUN: %ptxas -arch=sm_90a -v %t/gemm.ptx -o %t/gemm.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: %build/venv/bin/python %S/Inputs/warp-specialized.py %t/gemm.ptx %t/data --entry=gemm_matmul_0 --static=16x512x832 --cluster=2 --grid=2 --a-box=8x64 --swapped --shared=82048 | FileCheck %s --check-prefix=RIGHT
// RUN: %build/venv/bin/python %S/Inputs/warp-specialized.py %t/gemm.ptx %t/data --entry=gemm_matmul_0 --static=16x512x832 --cluster=2 --grid=2 --a-box=8x64 --swapped --shared=82048 --orders=5 | FileCheck %s --check-prefix=ORDERS
// RUN: %build/venv/bin/python %S/Inputs/warp-specialized.py %t/gemm.ptx %t/data --entry=gemm_matmul_0 --static=16x512x832 --cluster=2 --grid=2 --a-box=8x64 --swapped --shared=82048 --bugs | FileCheck %s --check-prefix=BUGS

// A is the weights, whose rows lie along the sum's neighbours: transposed.
// CHECK-COUNT-4: m64n16k16.f32.bf16.bf16 {{.*}}, 1, 1, 1, 1, 0;
// CHECK-NOT: m64n16k16
// ROWS-COUNT-4: m64n16k16.f32.bf16.bf16 {{.*}}, 1, 1, 1, 0, 1;
// ROWS-NOT: m64n16k16

// PTXAS-NOT: warning
// PTXAS-NOT: C7
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

// RIGHT: 16x512x832 equal
// ORDERS: 5 orders: equal
// BUGS: planted [[N:[1-9][0-9]+]], found [[N]]

func.func @gemm(%a: tensor<16x832xbf16>, %b: tensor<832x512xbf16>) -> tensor<16x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x512xf32>) -> tensor<16x512xf32>
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [16, 128, 64],
          warps = [1, 8, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n16k16.bf16.f32", registers = [40, 232],
          persistent = true, cluster = [1, 2, 1]>}
      ins(%a, %b : tensor<16x832xbf16>, tensor<832x512xbf16>) outs(%c : tensor<16x512xf32>) -> tensor<16x512xf32>
  return %r : tensor<16x512xf32>
}
