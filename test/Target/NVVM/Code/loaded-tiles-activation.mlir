// Two residuals and an activation in the config that such a product has by default: what is loaded meets the sums piece by piece,
// what follows is computed piece by piece as results leave, and nothing spills.
//
// REQUIRES: ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/gemm.ptx
// RUN: FileCheck %s --input-file %t/gemm.ptx
// RUN: %ptxas -arch=sm_90a -v %t/gemm.ptx -o %t/gemm.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHECK-NOT: ld.global
// CHECK: wgmma.mma_async
// CHECK-NOT: ld.global

// PTXAS-NOT: warning
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

func.func @g(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %r0: tensor<4096x4096xf32>, %r1: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.contract indexing_maps = [affine_map<(m,n,k) -> (m,k)>, affine_map<(m,n,k) -> (n,k)>, affine_map<(m,n,k) -> (m,n)>] ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %o = tensor.empty() : tensor<4096x4096xbf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %r0, %r1 : tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xbf16>) outs(%o : tensor<4096x4096xbf16>) {
  ^bb0(%x: f32, %y0: f32, %y1: bf16, %out: bf16):
  %s0 = arith.addf %x, %y0 : f32
  %e1 = arith.extf %y1 : bf16 to f32
  %s1 = arith.addf %s0, %e1 : f32
  %n = arith.negf %s1 : f32
  %ex = math.exp %n : f32
  %one = arith.constant 1.0 : f32
  %d = arith.addf %ex, %one : f32
  %q = arith.divf %s1, %d : f32
  %t = arith.truncf %q : f32 to bf16
  linalg.yield %t : bf16
  } -> tensor<4096x4096xbf16>
  return %s : tensor<4096x4096xbf16>
}
