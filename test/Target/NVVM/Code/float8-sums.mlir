// Hopper's tensor cores keep about 14 bits of a sum of 8-bit floats. Sums of 8192 products
// are wrong in them, as --fp=fast-f8-sums takes them, and right in two levels: the partial
// sums of each 128 are added in f32.
//
// REQUIRES: ptxas, tilewright-run
// RUN: rm -rf %t && mkdir %t
// RUN: sed "s/, two_level_sums = true//" %s > %t/one.mlir
// RUN: not tilewright-compile %t/one.mlir --target=cuda:sm_90a -o %t/one.tw 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: tilewright-compile %s --target=cuda:sm_90a --explain -o %t/two.tw 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: tilewright-compile %t/one.mlir --target=cuda:sm_90a --fp=fast-f8-sums --explain -o %t/one.tw 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: %build/venv/bin/python %S/Inputs/float8-sums.py %t/data %t/two.tw 64 128 8192 | FileCheck %s --check-prefix=TWO-SUMS
// RUN: %build/venv/bin/python %S/Inputs/float8-sums.py %t/data %t/one.tw 64 128 8192 | FileCheck %s --check-prefix=ONE-SUMS
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/two.ptx
// RUN: tilewright-compile %t/one.mlir --target=cuda:sm_90a --fp=fast-f8-sums --emit=ptx -o %t/one.ptx
// RUN: FileCheck %s --check-prefix=TWO-PTX --input-file %t/two.ptx
// RUN: FileCheck %s --check-prefix=ONE-PTX --input-file %t/one.ptx
// RUN: %ptxas -arch=sm_90a -v %t/two.ptx -o %t/two.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: %ptxas -arch=sm_90a -v %t/one.ptx -o %t/one.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// REFUSED: tensor cores keep 14 bits of sums of 8-bit floats; without 'two_level_sums' that is for --fp=fast-f8-sums

// TWO: two_level_sums = true
// TWO: partial sums of 128 terms are added in f32 registers
// ONE-NOT: two_level_sums = true
// ONE: sums of 8-bit floats stay in the tensor cores, which keep 14 bits of them

// TWO-SUMS: exact: right
// TWO-SUMS: truncated: right
// ONE-SUMS: exact: right
// ONE-SUMS: truncated: wrong

// One instruction of four begins at zero; each step's results are waited for and added.
// TWO-PTX: .version 8.0
// TWO-PTX-COUNT-64: add.rn.f32
// TWO-PTX-NOT: add.rn.f32
// TWO-PTX: }, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 0, 1, 1;
// TWO-PTX-COUNT-3: }, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 1, 1, 1;
// TWO-PTX: wgmma.wait_group.sync.aligned 0;
// TWO-PTX-NOT: wgmma.wait_group
// ONE-PTX: .version 8.0
// ONE-PTX-NOT: add.rn.f32
// ONE-PTX-COUNT-4: }, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 1, 1, 1;
// ONE-PTX: wgmma.wait_group.sync.aligned 1;
// ONE-PTX: wgmma.wait_group.sync.aligned 0;
// ONE-PTX-NOT: add.rn.f32

// PTXAS-NOT: warning
// PTXAS-NOT: C7
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

func.func @gemm(%a: tensor<64x8192xf8E4M3FN>, %b: tensor<128x8192xf8E4M3FN>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x128xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 128],
          warps = [4, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k32.e4m3.f32", two_level_sums = true>}
      ins(%a, %b : tensor<64x8192xf8E4M3FN>, tensor<128x8192xf8E4M3FN>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
