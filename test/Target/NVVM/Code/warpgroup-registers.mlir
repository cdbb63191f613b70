// Int8 weights by warpgroups: a tile of them as they are is copied into the ring, the
// consumers dequantise it in registers, out of which wgmma takes its operand A (operands
// are swapped: weights are the right ones). `promote` names what is multiplied out of
// shared memory; with both operands there the weights are dequantised by a kernel of
// their own, and A has a descriptor.
//
// REQUIRES: ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx --explain -o %t/gemm.ptx 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: FileCheck %s --input-file %t/gemm.ptx
// RUN: sed "s/promote = .0./promote = [0, 1]/" %s > %t/both.mlir
// RUN: tilewright-compile %t/both.mlir --target=cuda:sm_90a --emit=ptx -o %t/both
// RUN: cat %t/both/*/* | FileCheck %s --check-prefix=BOTH
// RUN: %ptxas -arch=sm_90a -v %t/gemm.ptx -o %t/gemm.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// EXPLAIN: operand A of the product is computed in registers, from a tile of the ring

// Four products of 16 along the sum, each with four registers of A and a descriptor of B.
// CHECK: .version 8.0
// CHECK-COUNT-4: }, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd{{[0-9]+}}, 1, 1, 1, 0;
// CHECK-NOT: wgmma.mma_async
// CHECK: wgmma.wait_group.sync.aligned 0;

// BOTH-COUNT-4: }, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 1, 1, 1, 0, 0;

// PTXAS-NOT: warning
// PTXAS-NOT: C7
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

func.func @gemm(%x: tensor<16x1024xf16>, %w: tensor<2048x1024xi8>, %s: tensor<2048xf16>) -> tensor<16x2048xf32> {
  %h = tensor.empty() : tensor<2048x1024xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>, affine_map<(n, k) -> (n, k)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<2048x1024xi8>, tensor<2048xf16>) outs(%h : tensor<2048x1024xf16>) {
  ^bb0(%q: i8, %scale: f16, %out: f16):
    %0 = arith.sitofp %q : i8 to f16
    %1 = arith.mulf %0, %scale : f16
    linalg.yield %1 : f16
  } -> tensor<2048x1024xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x2048xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x2048xf32>) -> tensor<16x2048xf32>
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [16, 64, 64], warps = [1, 4, 1],
          stages = 6, promote = [0], mma = "wgmma.m64n16k16.f16.f32", persistent = true>}
      ins(%x, %d : tensor<16x1024xf16>, tensor<2048x1024xf16>) outs(%z : tensor<16x2048xf32>) -> tensor<16x2048xf32>
  return %r : tensor<16x2048xf32>
}
