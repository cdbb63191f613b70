// RUN: rm -rf %t && tilewright-compile %s -o %t --target=cuda:sm_80 --emit=ptx
// RUN: FileCheck %s --check-prefix=ROWS < %t/cuda_sm_80/rows_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=TURNED < %t/cuda_sm_80/turned_matmul_0.ptx

// Rows of the larger operand along n: in the loop, 16-byte loads of it, wide loads of the
// smaller one and multiply-adds, no barrier and no shuffle.
// ROWS-LABEL: .entry rows_matmul_0(
// ROWS: $L__BB0_{{[12]}}:
// ROWS-NOT: {{bar.sync|shfl|ld.global.nc.b32|ld.local}}
// ROWS-COUNT-2: ld.global.nc.v4.b32
// ROWS-COUNT-16: fma.rn.f32
// ROWS: bra
// ROWS: shfl.sync.bfly
// ROWS: bar.sync
func.func @rows(%a: tensor<4x4096xf32>, %b: tensor<4096x4096xf32>, %o: tensor<4x4096xf32>) -> tensor<4x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x4096xf32>, tensor<4096x4096xf32>) outs(%o : tensor<4x4096xf32>) -> tensor<4x4096xf32>
  return %r : tensor<4x4096xf32>
}

// Rows along k: the lanes of a warp meet by shuffles.
// TURNED-LABEL: .entry turned_matmul_0(
// TURNED: ld.global.nc.v4.b32
// TURNED-NOT: {{bar.sync|shfl|ld.global.nc.b16|ld.local}}
// TURNED-COUNT-5: ld.global.nc.v4.b32
// TURNED-COUNT-64: fma.rn.f32
// TURNED: bra
// TURNED: shfl.sync.bfly
func.func @turned(%a: tensor<4x4096xf16>, %b: tensor<4096x4096xf16>, %o: tensor<4x4096xf32>) -> tensor<4x4096xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<4x4096xf16>, tensor<4096x4096xf16>) outs(%o : tensor<4x4096xf32>) -> tensor<4x4096xf32>
  return %r : tensor<4x4096xf32>
}
