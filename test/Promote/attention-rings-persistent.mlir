// RUN: tilewright-opt %s -tilewright-promote -cse | FileCheck %s

// Each role walks over tiles, in rounds that go there and back; queries have a ring of two
// stages, and positions of keys and values go on from tile to tile.
module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {chip = "sm_90a", sm = 90 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func private @k
  // CHECK-NOT: tilewright.tile_id
  // CHECK: %[[Q:[a-z0-9_]+]] = tilewright.ring : <2, memref<64x64xf16, #{{.*}}>>
  // CHECK: %[[K:[a-z0-9_]+]] = tilewright.ring : <2, memref<32x64xf16, #{{.*}}>>
  // CHECK: %[[V:[a-z0-9_]+]] = tilewright.ring : <2, memref<32x64xf16, #{{.*}}>>
  // CHECK: tilewright.warps[4, 1]
  // CHECK: %[[FIRST:.*]], %[[ALL:.*]], %[[BLOCKS:.*]] = tilewright.tile_walk(%[[COUNT:.*]])
  // CHECK: %[[BEHIND:.*]] = arith.subi %[[BLOCKS]], %[[ONE:.*]] : index
  // CHECK: %[[BACK:.*]] = arith.subi %[[BEHIND]], %[[FIRST]]
  // CHECK: %[[APART:.*]] = arith.subi %[[BACK]], %[[FIRST]]
  // CHECK: %[[WHOLE:.*]] = arith.divui %[[ALL]], %[[BLOCKS]]
  // CHECK: %[[LEFT:.*]] = arith.remui %[[ALL]], %[[BLOCKS]]
  // CHECK: %[[ODD:.*]] = arith.andi %[[WHOLE]], %[[ONE]]
  // CHECK: %[[OFF:.*]] = arith.muli %[[ODD]], %[[APART]]
  // CHECK: %[[PLACE:.*]] = arith.addi %[[FIRST]], %[[OFF]]
  // CHECK: %[[TAKES:.*]] = arith.cmpi ult, %[[PLACE]], %[[LEFT]]
  // CHECK: %[[MORE:.*]] = arith.select %[[TAKES]], %[[ONE]], %[[ZERO:.*]] : index
  // CHECK: %[[ROUNDS:.*]] = arith.addi %[[WHOLE]], %[[MORE]]
  // CHECK: scf.for %[[ROUND:.*]] = %[[ZERO]] to %[[ROUNDS]] step %[[ONE]] iter_args(%[[BEGIN:.*]] = %[[ZERO]])
  // CHECK: %[[BEFORE:.*]] = arith.muli %[[ROUND]], %[[BLOCKS]]
  // CHECK: %[[NUMBER:.*]] = arith.addi %[[BEFORE]],
  // CHECK: %[[TILE:.*]] = tilewright.tile_id(%[[COUNT]]) number %[[NUMBER]]
  // CHECK: %[[ROW:.*]] = arith.muli %[[TILE]],
  // CHECK: tilewright.acquire %[[Q]][%[[ROUND]]]
  // CHECK: tilewright.tile_copy %arg0[%[[ROW]],
  // CHECK: tilewright.fill %[[Q]][%[[ROUND]]]
  // CHECK: %[[END:.*]] = scf.for %{{.*}} = %[[ZERO]] to %[[ROW]] {{.*}} iter_args(%[[P:.*]] = %[[BEGIN]])
  // CHECK: tilewright.acquire %[[K]][%[[P]]]
  // CHECK: tilewright.acquire %[[V]][%[[P]]]
  // CHECK: scf.yield %[[END]] : index

  // CHECK: tilewright.warps[0, 4]
  // CHECK: tilewright.tile_walk
  // CHECK: scf.for %[[ROUND:.*]] = {{.*}} iter_args(%[[BEGIN:.*]] =
  // CHECK: %[[TILE:.*]] = tilewright.tile_id
  // CHECK: %[[ROW:.*]] = arith.muli %[[TILE]],
  // CHECK: tilewright.wait %[[Q]][%[[ROUND]]]
  // CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} to %[[ROW]] {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[P:.*]] = %[[BEGIN]])
  // CHECK: tilewright.wait %[[K]][%[[P]]]
  // CHECK: tilewright.release %[[K]][%[[P]]]
  // CHECK: tilewright.wait %[[V]][%[[P]]]
  // CHECK: tilewright.release %[[V]][%[[P]]]
  // CHECK: tilewright.release %[[Q]][%[[ROUND]]]
  // CHECK: vector.transfer_write %[[SUMS]]#0, %arg3[%[[ROW]],
  // CHECK: scf.yield %[[SUMS]]#1 : index
  func.func private @k(%q: memref<?x64xf16>, %k: memref<?x64xf16>, %v: memref<?x64xf16>, %out: memref<?x64xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 32], warps = [4, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32", persistent = true>,
        tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<()[s0] -> (s0 ceildiv 64)>, dims = [0, 0], persistent = true>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f16
    %zs = arith.constant dense<0.0> : vector<64x32xf32>
    %zo = arith.constant dense<0.0> : vector<64x64xf32>
    %rows = memref.dim %q, %c0 : memref<?x64xf16>
    %count = arith.ceildivui %rows, %c64 : index
    %tile = tilewright.tile_id(%count) : index
    %row = arith.muli %tile, %c64 : index
    %vq = vector.transfer_read %q[%row, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<64x64xf16>
    %o = scf.for %j = %c0 to %row step %c32 iter_args(%acc = %zo) -> vector<64x64xf32> {
      %vk = vector.transfer_read %k[%j, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<32x64xf16>
      %s = tilewright.mma %vq, %vk, %zs {instruction = "wgmma.m64n32k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]}
          : vector<64x64xf16>, vector<32x64xf16>, vector<64x32xf32>
      %p = arith.truncf %s : vector<64x32xf32> to vector<64x32xf16>
      %vv = vector.transfer_read %v[%j, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<32x64xf16>
      %n = tilewright.mma %p, %vv, %acc {instruction = "wgmma.m64n64k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
          : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32>
      scf.yield %n : vector<64x64xf32>
    }
    vector.transfer_write %o, %out[%row, %c0] {in_bounds = [false, true]} : vector<64x64xf32>, memref<?x64xf32>
    return
  }
}
