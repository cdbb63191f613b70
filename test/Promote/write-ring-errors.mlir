// What no ring can be written around. `configure` refuses it earlier, with the way out.

// RUN: tilewright-opt %s -split-input-file -tilewright-promote -verify-diagnostics

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 2,
    promote = [0, 1], mma = "wgmma.m64n128k16.bf16.f32">

func.func private @store_in_the_loop(%a: memref<64x512xbf16>, %b: memref<128x512xbf16>, %c: memref<64x128xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %zero = arith.constant dense<0.0> : vector<64x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %r = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (vector<64x128xf32>) {
    %va = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [true, true]} : memref<64x512xbf16>, vector<64x64xbf16>
    %vb = vector.transfer_read %b[%c0, %k], %pad {in_bounds = [true, true]} : memref<128x512xbf16>, vector<128x64xbf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #nk, #mn]}
        : vector<64x64xbf16>, vector<128x64xbf16>, vector<64x128xf32>
    // expected-error @+1 {{'vector.transfer_write' op stands in the loop of a warpgroup's product, which does no more than multiply}}
    vector.transfer_write %n, %c[%c0, %c0] {in_bounds = [true, true]} : vector<64x128xf32>, memref<64x128xf32>
    scf.yield %n : vector<64x128xf32>
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 2,
    promote = [0, 1], mma = "wgmma.m64n128k16.bf16.f32">

func.func private @computed(%a: memref<64x64xbf16>, %b: memref<128x64xbf16>, %c: memref<64x128xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %zero = arith.constant dense<0.0> : vector<64x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %va = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xbf16>, vector<64x64xbf16>
  %vb = vector.transfer_read %b[%c0, %c0], %pad {in_bounds = [true, true]} : memref<128x64xbf16>, vector<128x64xbf16>
  %minus = arith.negf %va : vector<64x64xbf16>
  // expected-error @+1 {{by a warpgroup takes tiles of the kernel's arguments, as they are; operand 0 is none}}
  %n = tilewright.mma %minus, %vb, %zero {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #nk, #mn]}
      : vector<64x64xbf16>, vector<128x64xbf16>, vector<64x128xf32>
  vector.transfer_write %n, %c[%c0, %c0] {in_bounds = [true, true]} : vector<64x128xf32>, memref<64x128xf32>
  return
}
