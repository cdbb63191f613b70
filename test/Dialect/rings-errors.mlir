// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{a ring has at least one stage, not 0}}
func.func private @NoStage(!tilewright.ring<0, memref<64x64xf16, #tilewright.shared>>)

// -----

// expected-error @below {{tiles of a ring have a static shape, whole bytes and #tilewright.shared, unlike 'memref<64x64xf16>'}}
func.func private @TileInGlobalMemory(!tilewright.ring<2, memref<64x64xf16>>)

// -----

func.func @CopyWithoutStage(%a: memref<?x?xf16>, %i: index, %s: memref<64x64xf16, #tilewright.shared>) {
  // expected-error @below {{fills a tile of a stage that 'tilewright.acquire' gave, or a subview of one}}
  tilewright.tile_copy %a[%i, %i] to %s {map = affine_map<(r, c) -> (r, c)>} : memref<?x?xf16> to memref<64x64xf16, #tilewright.shared>
  return
}

// -----

func.func @CopyOfOtherType(%a: memref<?x?xf32>, %i: index) {
  %ring = tilewright.ring : !tilewright.ring<2, memref<64x64xf16, #tilewright.shared>>
  %s = tilewright.acquire %ring[%i] : !tilewright.ring<2, memref<64x64xf16, #tilewright.shared>>
  // expected-error @below {{copies elements from global to shared memory, not 'memref<?x?xf32>' to}}
  tilewright.tile_copy %a[%i, %i] to %s {map = affine_map<(r, c) -> (r, c)>} : memref<?x?xf32> to memref<64x64xf16, #tilewright.shared>
  return
}

// -----

func.func @TooFewIndices(%a: memref<?x?xf16>, %i: index) {
  %ring = tilewright.ring : !tilewright.ring<2, memref<64x64xf16, #tilewright.shared>>
  %s = tilewright.acquire %ring[%i] : !tilewright.ring<2, memref<64x64xf16, #tilewright.shared>>
  // expected-error @below {{has 1 indices into 'memref<?x?xf16>'}}
  tilewright.tile_copy %a[%i] to %s {map = affine_map<(r, c) -> (r, c)>} : memref<?x?xf16> to memref<64x64xf16, #tilewright.shared>
  return
}

// -----

func.func @RegistersOfHalfAWarpgroup() {
  tilewright.warps [2, 4] {
    // expected-error @below {{is for whole warpgroups of four warps, not warps [2, 6)}}
    tilewright.set_registers 40
  }
  return
}

// -----

func.func @MeetsWithTheWholeBlock(%mine: i1) {
  // expected-error @below {{meets at a named barrier from 1 to 15, not 0}}
  tilewright.role if %mine meets 0 threads = 128 {
  }
  return
}

// -----

func.func @PartOfAWarp(%mine: i1) {
  // expected-error @below {{is of whole warps of 32 threads, not of 48}}
  tilewright.role if %mine meets 8 threads = 48 {
  }
  return
}

// -----

func.func @OddRegisters() {
  // expected-error @below {{takes a multiple of 8 from 24 to 240, not 42}}
  tilewright.set_registers 42
  return
}

// -----

func.func @BoxesOfOtherWidth(%a: memref<64x64xf16, #tilewright.shared>, %b: memref<64x4x32xf16, #tilewright.shared>, %c: vector<64x256xf32>) {
  // expected-error @below {{b has boxes of 32, its map of 64}}
  %r = tilewright.mma %a, %b, %c {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n floordiv 64, n mod 64)>, affine_map<(m, n, k) -> (m, n)>]}
      : memref<64x64xf16, #tilewright.shared>, memref<64x4x32xf16, #tilewright.shared>, vector<64x256xf32>
  return
}

// -----

func.func @StoreOfOtherType(%v: vector<64x64xf32>, %o: memref<?x?xf16>, %i: index) {
  // expected-error @below {{stores a matrix of 'f16', not 'vector<64x64xf32>'}}
  tilewright.tile_store %v to %o[%i, %i] : vector<64x64xf32> to memref<?x?xf16>
  return
}

// -----

func.func @StoreIntoARow(%v: vector<64x64xf16>, %o: memref<?xf16>, %i: index) {
  // expected-error @below {{stores into 2 to 5 dims of global memory, with an index for each, not into 'memref<?xf16>'}}
  tilewright.tile_store %v to %o[%i] : vector<64x64xf16> to memref<?xf16>
  return
}

// -----

func.func @StoreOfShortRows(%v: vector<64x8xf16>, %o: memref<?x?xf16>, %i: index) {
  // expected-error @below {{stores rows of multiples of 32 bytes, not of 'vector<64x8xf16>'}}
  tilewright.tile_store %v to %o[%i, %i] : vector<64x8xf16> to memref<?x?xf16>
  return
}

// -----

func.func @LoadOfWideElements(%o: memref<?x?xf64>, %i: index) {
  %ring = tilewright.ring : !tilewright.ring<2, memref<64x16xf64, #tilewright.shared>>
  // expected-error @below {{loads elements of 16 or 32 bits, not of 'vector<64x64xf64>'}}
  %v = tilewright.tile_load %o[%i, %i] through %ring[%i] : memref<?x?xf64>, !tilewright.ring<2, memref<64x16xf64, #tilewright.shared>> -> vector<64x64xf64>
  return
}

// -----

func.func @LoadThroughOtherStages(%o: memref<?x?xf16>, %i: index) {
  %ring = tilewright.ring : !tilewright.ring<3, memref<64x64xf16, #tilewright.shared>>
  // expected-error @below {{of 'vector<64x128xf16>' goes through stages of 64x64x'f16', two for each warpgroup}}
  %v = tilewright.tile_load %o[%i, %i] through %ring[%i] : memref<?x?xf16>, !tilewright.ring<3, memref<64x64xf16, #tilewright.shared>> -> vector<64x128xf16>
  return
}

// -----

func.func @LoadFromARow(%o: memref<?xf16>, %i: index) {
  %ring = tilewright.ring : !tilewright.ring<2, memref<64x64xf16, #tilewright.shared>>
  // expected-error @below {{loads from 2 to 5 dims of global memory, with an index for each, not from 'memref<?xf16>'}}
  %v = tilewright.tile_load %o[%i] through %ring[%i] : memref<?xf16>, !tilewright.ring<2, memref<64x64xf16, #tilewright.shared>> -> vector<64x64xf16>
  return
}

// -----

func.func private @ThreadsToManyBlocks(%a: memref<?x?xf16>, %i: index) {
  %ring = tilewright.ring : !tilewright.ring<1, memref<64x64xf16, #tilewright.shared>>
  %s = tilewright.acquire %ring[%i] : !tilewright.ring<1, memref<64x64xf16, #tilewright.shared>>
  // expected-error @below {{is by threads, which copy to their own block}}
  tilewright.tile_copy %a[%i, %i] to %s {by_threads, map = affine_map<(r, c) -> (r, c)>, multicast = 0} : memref<?x?xf16> to memref<64x64xf16, #tilewright.shared>
  return
}
