// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-assign-layouts,tilewright-distribute))' -split-input-file -verify-diagnostics

#l = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>
func.func private @NobodyReleases(%a: memref<64x64xf16>, %p: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "read"], tilewright.launch = #l} {
  %ring = tilewright.ring : !tilewright.ring<2, memref<64x64xf16, #tilewright.shared>>
  // expected-error @below {{waits for a stage of a ring that no consumer releases}}
  %s = tilewright.acquire %ring[%p] : !tilewright.ring<2, memref<64x64xf16, #tilewright.shared>>
  return
}

// -----

#l = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>
func.func private @BoxOfManyRows(%a: memref<512x64xf16>)
    attributes {tilewright.kernel, tilewright.access = ["read"], tilewright.launch = #l} {
  %c0 = arith.constant 0 : index
  %ring = tilewright.ring : !tilewright.ring<1, memref<512x64xf16, #tilewright.shared>>
  tilewright.warps [0, 1] {
    %s = tilewright.acquire %ring[%c0] : !tilewright.ring<1, memref<512x64xf16, #tilewright.shared>>
    // expected-error @below {{box has 512 elements along one dim; a tensor map takes 256}}
    tilewright.tile_copy %a[%c0, %c0] to %s {map = affine_map<(r, c) -> (r, c)>} : memref<512x64xf16> to memref<512x64xf16, #tilewright.shared>
    tilewright.release %ring[%c0] : !tilewright.ring<1, memref<512x64xf16, #tilewright.shared>>
  }
  return
}

// -----

#l = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>
#s = #tilewright.shared<swizzle = [3, 3, 3]>
func.func private @SwizzleOfOtherWidth(%a: memref<64x32xf16>)
    attributes {tilewright.kernel, tilewright.access = ["read"], tilewright.launch = #l} {
  %c0 = arith.constant 0 : index
  %ring = tilewright.ring : !tilewright.ring<1, memref<64x32xf16, #s>>
  tilewright.warps [0, 1] {
    %s = tilewright.acquire %ring[%c0] : !tilewright.ring<1, memref<64x32xf16, #s>>
    // expected-error @below {{rows of 64 bytes are not swizzled as copy engines do}}
    tilewright.tile_copy %a[%c0, %c0] to %s {map = affine_map<(r, c) -> (r, c)>} : memref<64x32xf16> to memref<64x32xf16, #s>
    tilewright.release %ring[%c0] : !tilewright.ring<1, memref<64x32xf16, #s>>
  }
  return
}

// -----

#l = #tilewright.launch<threads = 96, subgroup = 32, tiles = affine_map<() -> (1)>>
#s = #tilewright.shared<swizzle = [3, 3, 3]>
func.func private @ThreeWarps(%a: memref<64x64xf16, #s>, %acc: memref<64x64xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "read"], tilewright.launch = #l} {
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  // expected-error @below {{is for whole warpgroups of four warps, not 3 warps from warp 0 on}}
  %next = tilewright.mma %a, %a, %zero {instruction = "wgmma.m64n64k16.f16.f32",
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
      : memref<64x64xf16, #s>, memref<64x64xf16, #s>, vector<64x64xf32>
  return
}

// -----

#l = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>
#s = #tilewright.shared<swizzle = [3, 3, 3]>
func.func private @ThreadsAndEngines(%a: memref<64x64xf16>)
    attributes {tilewright.kernel, tilewright.access = ["read"], tilewright.launch = #l} {
  %c0 = arith.constant 0 : index
  %ring = tilewright.ring : !tilewright.ring<1, memref<64x64xf16, #s>, memref<64x64xf16, #s>>
  tilewright.warps [0, 4] {
    %s:2 = tilewright.acquire %ring[%c0] {known_empty} : !tilewright.ring<1, memref<64x64xf16, #s>, memref<64x64xf16, #s>>
    tilewright.tile_copy %a[%c0, %c0] to %s#0 {by_threads, map = affine_map<(r, c) -> (r, c)>} : memref<64x64xf16> to memref<64x64xf16, #s>
    // expected-error @below {{fills a ring that other copies fill by 128 threads, not by 0}}
    tilewright.tile_copy %a[%c0, %c0] to %s#1 {map = affine_map<(r, c) -> (r, c)>} : memref<64x64xf16> to memref<64x64xf16, #s>
    tilewright.fill %ring[%c0] : !tilewright.ring<1, memref<64x64xf16, #s>, memref<64x64xf16, #s>>
  }
  return
}

// -----

#l = #tilewright.launch<threads = 96, subgroup = 32, tiles = affine_map<() -> (1)>>
#s = #tilewright.shared<swizzle = [3, 3, 3]>
func.func private @ThreeWarpsCopy(%a: memref<64x64xf16>)
    attributes {tilewright.kernel, tilewright.access = ["read"], tilewright.launch = #l} {
  %c0 = arith.constant 0 : index
  %ring = tilewright.ring : !tilewright.ring<1, memref<64x64xf16, #s>>
  tilewright.warps [0, 3] {
    %s = tilewright.acquire %ring[%c0] {known_empty} : !tilewright.ring<1, memref<64x64xf16, #s>>
    // expected-error @below {{is by 96 threads, no power of two}}
    tilewright.tile_copy %a[%c0, %c0] to %s {by_threads, map = affine_map<(r, c) -> (r, c)>} : memref<64x64xf16> to memref<64x64xf16, #s>
    tilewright.fill %ring[%c0] : !tilewright.ring<1, memref<64x64xf16, #s>>
  }
  return
}
