// RUN: tilewright-opt %s -tilewright-promote | FileCheck %s

// Queries, keys and values go through rings of their own; each product is waited for, and
// its stage is free then. Rows of 256 bytes are two boxes.
module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {chip = "sm_90a", sm = 90 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func private @k
  // CHECK: %[[Q:[a-z0-9_]+]] = tilewright.ring : <1, memref<2x64x64xf16, #{{.*}}>>
  // CHECK: %[[K:[a-z0-9_]+]] = tilewright.ring : <2, memref<2x32x64xf16, #{{.*}}>>
  // CHECK: %[[V:[a-z0-9_]+]] = tilewright.ring : <2, memref<32x2x64xf16, strided<[64, 2048, 1]>, #{{.*}}>>
  // CHECK: tilewright.warps[4, 4]
  // CHECK: tilewright.warps[4, 1]
  // CHECK: tilewright.acquire %[[Q]][%[[ZERO:[a-z0-9_]+]]]
  // CHECK: tilewright.tile_copy %arg0
  // CHECK: tilewright.fill %[[Q]]
  // CHECK: scf.for %[[KEY:[a-z0-9_]+]] = {{.*}} iter_args(%[[P:[a-z0-9_]+]] = %[[ZERO]])
  // CHECK: tilewright.acquire %[[K]][%[[P]]]
  // CHECK: tilewright.tile_copy %arg1[%[[KEY]],
  // CHECK: tilewright.fill %[[K]][%[[P]]]
  // CHECK: tilewright.acquire %[[V]][%[[P]]]
  // CHECK: tilewright.tile_copy %arg2[%[[KEY]],
  // CHECK: tilewright.fill %[[V]][%[[P]]]
  // CHECK: tilewright.warps[0, 4]
  // CHECK: %[[QS:[a-z0-9_]+]] = tilewright.wait %[[Q]]
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:[a-z0-9_]+]] = %{{[a-z0-9_]+}}, %[[AT:[a-z0-9_]+]] = %{{[a-z0-9_]+}})
  // CHECK: %[[KS:[a-z0-9_]+]] = tilewright.wait %[[K]][%[[AT]]]
  // CHECK: %[[S:[a-z0-9_]+]] = tilewright.mma %[[QS]], %[[KS]],
  // CHECK: %[[DONE:[a-z0-9_]+]] = tilewright.mma_wait 0(%[[S]]
  // CHECK: tilewright.release %[[K]][%[[AT]]]
  // CHECK: %[[POWERS:[a-z0-9_]+]] = arith.truncf %[[DONE]]
  // CHECK: %[[VS:[a-z0-9_]+]] = tilewright.wait %[[V]][%[[AT]]]
  // CHECK: %[[O:[a-z0-9_]+]] = tilewright.mma %[[POWERS]], %[[VS]], %[[ACC]]
  // CHECK: tilewright.mma_wait 0(%[[O]]
  // CHECK: tilewright.release %[[V]][%[[AT]]]
  // CHECK: tilewright.release %[[Q]]
  // CHECK: vector.transfer_write
  func.func private @k(%q: memref<64x128xf16>, %k: memref<?x128xf16>, %v: memref<?x128xf16>, %out: memref<64x128xf32>, %end: index)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 32], warps = [4, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32">,
        tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %pad = arith.constant 0.0 : f16
    %zs = arith.constant dense<0.0> : vector<64x32xf32>
    %zo = arith.constant dense<0.0> : vector<64x128xf32>
    %vq = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x128xf16>, vector<64x128xf16>
    %o = scf.for %j = %c0 to %end step %c32 iter_args(%acc = %zo) -> vector<64x128xf32> {
      %vk = vector.transfer_read %k[%j, %c0], %pad {in_bounds = [false, true]} : memref<?x128xf16>, vector<32x128xf16>
      %s = tilewright.mma %vq, %vk, %zs {instruction = "wgmma.m64n32k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]}
          : vector<64x128xf16>, vector<32x128xf16>, vector<64x32xf32>
      %p = arith.truncf %s : vector<64x32xf32> to vector<64x32xf16>
      %vv = vector.transfer_read %v[%j, %c0], %pad {in_bounds = [false, true]} : memref<?x128xf16>, vector<32x128xf16>
      %n = tilewright.mma %p, %vv, %acc {instruction = "wgmma.m64n128k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
          : vector<64x32xf16>, vector<32x128xf16>, vector<64x128xf32>
      scf.yield %n : vector<64x128xf32>
    }
    vector.transfer_write %o, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x128xf32>, memref<64x128xf32>
    return
  }

  // Where keys end at a number in memory, each role reads it.
  // CHECK-LABEL: func.func private @lengths
  // CHECK-NOT: memref.load
  // CHECK: tilewright.warps[4, 4]
  // CHECK: %[[LENGTH:.*]] = memref.load %arg4
  // CHECK: %[[END:.*]] = arith.index_cast %[[LENGTH]]
  // CHECK: %[[LAST:.*]] = arith.subi %[[END]], %c32
  // CHECK: scf.for %[[KEY:[a-z0-9_]+]] = %{{.*}} to %[[END]]
  // CHECK: %[[BEGIN:.*]] = arith.minsi %[[KEY]], %[[LAST]]
  // CHECK: tilewright.tile_copy %arg1[%[[BEGIN]],
  // CHECK: tilewright.tile_copy %arg2[%[[BEGIN]],
  // CHECK: tilewright.warps[0, 4]
  // CHECK: %[[LENGTH:.*]] = memref.load %arg4
  // CHECK: %[[END:.*]] = arith.index_cast %[[LENGTH]]
  // CHECK: scf.for %{{.*}} to %[[END]]
  func.func private @lengths(%q: memref<64x64xf16>, %k: memref<?x64xf16>, %v: memref<?x64xf16>, %out: memref<64x64xf32>, %n: memref<1xi32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write", "read"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 32], warps = [4, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32">,
        tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %pad = arith.constant 0.0 : f16
    %zs = arith.constant dense<0.0> : vector<64x32xf32>
    %zo = arith.constant dense<0.0> : vector<64x64xf32>
    %length = memref.load %n[%c0] : memref<1xi32>
    %end = arith.index_cast %length : i32 to index
    %last = arith.subi %end, %c32 : index
    %vq = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xf16>, vector<64x64xf16>
    %o = scf.for %j = %c0 to %end step %c32 iter_args(%acc = %zo) -> vector<64x64xf32> {
      %begin = arith.minsi %j, %last : index
      %vk = vector.transfer_read %k[%begin, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<32x64xf16>
      %s = tilewright.mma %vq, %vk, %zs {instruction = "wgmma.m64n32k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]}
          : vector<64x64xf16>, vector<32x64xf16>, vector<64x32xf32>
      %p = arith.truncf %s : vector<64x32xf32> to vector<64x32xf16>
      %vv = vector.transfer_read %v[%begin, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<32x64xf16>
      %x = tilewright.mma %p, %vv, %acc {instruction = "wgmma.m64n64k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
          : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32>
      scf.yield %x : vector<64x64xf32>
    }
    vector.transfer_write %o, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
    return
  }

  // Pages, of which a step has two, are copied to their rows of the stage.
  // CHECK-LABEL: func.func private @pages
  // CHECK: tilewright.warps[4, 1]
  // CHECK: scf.for
  // CHECK: %[[FIRST:.*]] = memref.load %arg4
  // CHECK: %[[SECOND:.*]] = memref.load %arg4
  // CHECK: %[[KS:.*]] = tilewright.acquire
  // CHECK: %[[UPPER:.*]] = memref.subview %[[KS]][0, 0, 0] [2, 16, 64] [1, 1, 1]
  // CHECK: tilewright.tile_copy %arg1[%{{.*}}, %c0, %c0] to %[[UPPER]]
  // CHECK: %[[LOWER:.*]] = memref.subview %[[KS]][0, 16, 0] [2, 16, 64] [1, 1, 1]
  // CHECK: tilewright.tile_copy %arg1[%{{.*}}, %c0, %c0] to %[[LOWER]]
  // CHECK: tilewright.fill
  // CHECK: %[[VS:.*]] = tilewright.acquire
  // CHECK: memref.subview %[[VS]][0, 0, 0] [16, 2, 64] [1, 1, 1]
  // CHECK: memref.subview %[[VS]][16, 0, 0] [16, 2, 64] [1, 1, 1]
  // CHECK: tilewright.fill
  // CHECK: tilewright.warps[0, 4]
  // CHECK-NOT: insert_strided_slice
  func.func private @pages(%q: memref<64x128xf16>, %k: memref<?x16x128xf16>, %v: memref<?x16x128xf16>, %out: memref<64x128xf32>, %t: memref<?xindex>, %end: index)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write", "read"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 32], warps = [4, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32">,
        tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %pad = arith.constant 0.0 : f16
    %none = arith.constant dense<0.0> : vector<32x128xf16>
    %zs = arith.constant dense<0.0> : vector<64x32xf32>
    %zo = arith.constant dense<0.0> : vector<64x128xf32>
    %vq = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x128xf16>, vector<64x128xf16>
    %o = scf.for %j = %c0 to %end step %c32 iter_args(%acc = %zo) -> vector<64x128xf32> {
      %n0 = arith.divui %j, %c16 : index
      %n1 = arith.addi %n0, %c1 : index
      %p0 = memref.load %t[%n0] : memref<?xindex>
      %p1 = memref.load %t[%n1] : memref<?xindex>
      %k0 = vector.transfer_read %k[%p0, %c0, %c0], %pad {in_bounds = [true, true]} : memref<?x16x128xf16>, vector<16x128xf16>
      %k1 = vector.transfer_read %k[%p1, %c0, %c0], %pad {in_bounds = [true, true]} : memref<?x16x128xf16>, vector<16x128xf16>
      %kh = vector.insert_strided_slice %k0, %none {offsets = [0, 0], strides = [1, 1]} : vector<16x128xf16> into vector<32x128xf16>
      %vk = vector.insert_strided_slice %k1, %kh {offsets = [16, 0], strides = [1, 1]} : vector<16x128xf16> into vector<32x128xf16>
      %s = tilewright.mma %vq, %vk, %zs {instruction = "wgmma.m64n32k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]}
          : vector<64x128xf16>, vector<32x128xf16>, vector<64x32xf32>
      %p = arith.truncf %s : vector<64x32xf32> to vector<64x32xf16>
      %v0 = vector.transfer_read %v[%p0, %c0, %c0], %pad {in_bounds = [true, true]} : memref<?x16x128xf16>, vector<16x128xf16>
      %v1 = vector.transfer_read %v[%p1, %c0, %c0], %pad {in_bounds = [true, true]} : memref<?x16x128xf16>, vector<16x128xf16>
      %vh = vector.insert_strided_slice %v0, %none {offsets = [0, 0], strides = [1, 1]} : vector<16x128xf16> into vector<32x128xf16>
      %vv = vector.insert_strided_slice %v1, %vh {offsets = [16, 0], strides = [1, 1]} : vector<16x128xf16> into vector<32x128xf16>
      %n = tilewright.mma %p, %vv, %acc {instruction = "wgmma.m64n128k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
          : vector<64x32xf16>, vector<32x128xf16>, vector<64x128xf32>
      scf.yield %n : vector<64x128xf32>
    }
    vector.transfer_write %o, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x128xf32>, memref<64x128xf32>
    return
  }
}
