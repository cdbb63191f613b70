// A dual product takes the accumulators and the tiles of both; the operand that they share is there once.
// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

#target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, mma = ["mma.m16n8k16.f16.f32"], async_copy, load_matrices}>

module attributes {tilewright.target = #target} {

// Of 128 x 128, four warps would have 2 x 128 sums a thread.
// CHECK-LABEL: func.func private @Dual(
// CHECK-SAME: refused #tilewright.lowering_config<strategy = matrix_unit, block = [128, 128, 32], warps = [2, 2, 1], stages = 4, {{.*}}>: needs 3{{[0-9]+}} registers per thread but cuda:sm_80 has 255
// CHECK: linalg.matmul ins
// CHECK: linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [128, 64, 64], warps = [2, 2, 1]
func.func private @Dual(%x: tensor<4096x4096xf16>, %w: tensor<4096x8192xf16>, %v: tensor<4096x8192xf16>, %o: tensor<4096x8192xf32>) -> tensor<4096x8192xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %g = linalg.matmul ins(%x, %w : tensor<4096x4096xf16>, tensor<4096x8192xf16>) outs(%z : tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %u = linalg.matmul ins(%x, %v : tensor<4096x4096xf16>, tensor<4096x8192xf16>) outs(%z : tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %r = linalg.mul ins(%g, %u : tensor<4096x8192xf32>, tensor<4096x8192xf32>) outs(%o : tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  return %r : tensor<4096x8192xf32>
}
}
