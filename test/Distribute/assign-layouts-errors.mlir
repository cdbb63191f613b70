// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-assign-layouts))" -split-input-file -verify-diagnostics

// A grid of warps that is not the block's.
func.func private @Grid(%a: memref<2x4xf32, #tilewright.shared>, %b: memref<2x2xf32, #tilewright.shared>, %out: memref<4x2xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 2, 2], warps = [2, 2, 1]>,
                tilewright.launch = #tilewright.launch<threads = 64, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<4x2xf32>
  // expected-error @below {{has 2 warps, but the lowering config has 4 of them along its result}}
  %n = tilewright.mma %a, %b, %zero {maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
     : memref<2x4xf32, #tilewright.shared>, memref<2x2xf32, #tilewright.shared>, vector<4x2xf32>
  vector.transfer_write %n, %out[%c0, %c0] {in_bounds = [true, true]} : vector<4x2xf32>, memref<4x2xf32>
  return
}

// -----

func.func private @GridOfInstruction(%a: memref<64x16xf16, #tilewright.shared>, %b: memref<16x32xf16, #tilewright.shared>, %out: memref<64x32xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 32, 16], warps = [4, 2, 1], mma = "mma.m16n8k16.f16.f32">,
                tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x32xf32>
  %pad = arith.constant 0.0 : f16
  %x = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x16xf16, #tilewright.shared>, vector<64x16xf16>
  %y = vector.transfer_read %b[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x32xf16, #tilewright.shared>, vector<16x32xf16>
  // expected-error @below {{has 4 warps, but the lowering config has 4 x 2 of them}}
  %n = tilewright.mma %x, %y, %zero {instruction = "mma.m16n8k16.f16.f32", maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
     : vector<64x16xf16>, vector<16x32xf16>, vector<64x32xf32>
  vector.transfer_write %n, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf32>, memref<64x32xf32>
  return
}
