// Tiles beside the sums that copy engines bring: through a ring of their own, which counts the tiles that came.

// RUN: tilewright-opt %s -split-input-file -tilewright-promote -verify-diagnostics | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 2,
    promote = [0, 1], mma = "wgmma.m64n128k16.bf16.f32", persistent = true, tma_store = true>

// CHECK-LABEL: @residual
// CHECK: tilewright.ring : <2,
// CHECK: %[[PIECES:.*]] = tilewright.ring : <4, memref<64x64xbf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
// CHECK: tilewright.warps[0, 8]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[COUNT:.*]] = %{{.*}}) -> (index, index)
// CHECK: %[[SUM:.*]] = tilewright.mma_wait 0
// CHECK: %[[SCALED:.*]] = arith.muli %[[COUNT]], %{{.*}}
// CHECK: %[[AT:.*]] = arith.addi %[[SCALED]], %{{.*}}
// CHECK: %[[R:.*]] = tilewright.tile_load %arg2[{{.*}}] through %[[PIECES]][%[[AT]]] : {{.*}} -> vector<128x128xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[R]]
// CHECK: arith.addf %[[SUM]], %[[WIDE]]
// CHECK: tilewright.tile_store
// CHECK: %[[NEXT:.*]] = arith.addi %[[COUNT]], %{{.*}}
// CHECK-NEXT: scf.yield %{{.*}}, %[[NEXT]]
func.func private @residual(%a: memref<640x64xbf16>, %b: memref<64x128xbf16>, %r: memref<640x128xbf16>, %d: memref<640x128xbf16>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.loaded_tiles = array<i64: 2>,
      tilewright.launch = #tilewright.launch<threads = 384, subgroup = 32, tiles = affine_map<() -> (5)>, persistent = true>} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %t = tilewright.tile_id(%c5) : index
  %i = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t]
  %va = vector.transfer_read %a[%i, %c0], %pad {in_bounds = [true, true]} : memref<640x64xbf16>, vector<128x64xbf16>
  %vb = vector.transfer_read %b[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x128xbf16>, vector<64x128xbf16>
  %n = tilewright.mma %va, %vb, %zero {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #kn, #mn]}
      : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32>
  %vr = vector.transfer_read %r[%i, %c0], %pad {in_bounds = [true, true]} : memref<640x128xbf16>, vector<128x128xbf16>
  %w = arith.extf %vr : vector<128x128xbf16> to vector<128x128xf32>
  %s = arith.addf %n, %w : vector<128x128xf32>
  %x = arith.truncf %s : vector<128x128xf32> to vector<128x128xbf16>
  vector.transfer_write %x, %d[%i, %c0] {in_bounds = [true, true]} : vector<128x128xbf16>, memref<640x128xbf16>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 2,
    promote = [0, 1], mma = "wgmma.m64n128k16.bf16.f32", persistent = true, cluster = [2, 1, 1], tma_store = true>

// Two of one type come one after the other; a block of a cluster without a tile counts none.
// CHECK-LABEL: @two
// CHECK: %[[PIECES:.*]] = tilewright.ring : <4, memref<64x64xbf16,
// CHECK-NOT: tilewright.ring
// CHECK: tilewright.warps[0, 8]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[COUNT:.*]] = %{{.*}}) -> (index, index)
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK-NEXT: scf.if %[[IN]]
// CHECK: tilewright.tile_load %arg2[{{.*}}] through %[[PIECES]]
// CHECK: tilewright.tile_load %arg4[{{.*}}] through %[[PIECES]]
// CHECK: %[[ONE:.*]] = arith.select %[[IN]], %{{.*}}, %{{.*}} : index
// CHECK-NEXT: arith.addi %[[COUNT]], %[[ONE]]
func.func private @two(%a: memref<640x64xbf16>, %b: memref<64x128xbf16>, %r: memref<640x128xbf16>, %d: memref<640x128xbf16>, %q: memref<640x128xbf16>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.loaded_tiles = array<i64: 2, 4>,
      tilewright.launch = #tilewright.launch<threads = 384, subgroup = 32, tiles = affine_map<() -> (5)>, persistent = true, cluster = [2]>} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %t = tilewright.tile_id(%c5) : index
  %i = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t]
  %va = vector.transfer_read %a[%i, %c0], %pad {in_bounds = [true, true]} : memref<640x64xbf16>, vector<128x64xbf16>
  %vb = vector.transfer_read %b[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x128xbf16>, vector<64x128xbf16>
  %n = tilewright.mma %va, %vb, %zero {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #kn, #mn]}
      : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32>
  %vr = vector.transfer_read %r[%i, %c0], %pad {in_bounds = [true, true]} : memref<640x128xbf16>, vector<128x128xbf16>
  %w = arith.extf %vr : vector<128x128xbf16> to vector<128x128xf32>
  %s0 = arith.addf %n, %w : vector<128x128xf32>
  %vq = vector.transfer_read %q[%i, %c0], %pad {in_bounds = [true, true]} : memref<640x128xbf16>, vector<128x128xbf16>
  %v = arith.extf %vq : vector<128x128xbf16> to vector<128x128xf32>
  %s = arith.addf %s0, %v : vector<128x128xf32>
  %x = arith.truncf %s : vector<128x128xf32> to vector<128x128xbf16>
  vector.transfer_write %x, %d[%i, %c0] {in_bounds = [true, true]} : vector<128x128xbf16>, memref<640x128xbf16>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 2,
    promote = [0, 1], mma = "wgmma.m64n128k16.bf16.f32", persistent = true, tma_store = true>

func.func private @not_beside(%a: memref<640x64xbf16>, %b: memref<64x128xbf16>, %r: memref<640x128xbf16>, %d: memref<640x128xbf16>, %o: memref<640xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.loaded_tiles = array<i64: 2>,
      tilewright.launch = #tilewright.launch<threads = 384, subgroup = 32, tiles = affine_map<() -> (5)>, persistent = true>} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %row = arith.constant dense<0.0> : vector<128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %t = tilewright.tile_id(%c5) : index
  %i = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t]
  %va = vector.transfer_read %a[%i, %c0], %pad {in_bounds = [true, true]} : memref<640x64xbf16>, vector<128x64xbf16>
  %vb = vector.transfer_read %b[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x128xbf16>, vector<64x128xbf16>
  %n = tilewright.mma %va, %vb, %zero {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #kn, #mn]}
      : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32>
  %vr = vector.transfer_read %r[%i, %c0], %pad {in_bounds = [true, true]} : memref<640x128xbf16>, vector<128x128xbf16>
  // expected-error @-1 {{is no tile beside the sums, which copy engines are to bring ('tilewright.loaded_tiles')}}
  %w = arith.extf %vr : vector<128x128xbf16> to vector<128x128xf32>
  %u = vector.multi_reduction <add>, %w, %row [1] : vector<128x128xf32> to vector<128xf32>
  vector.transfer_write %u, %o[%i] {in_bounds = [true]} : vector<128xf32>, memref<640xf32>
  %s = arith.addf %n, %w : vector<128x128xf32>
  %x = arith.truncf %s : vector<128x128xf32> to vector<128x128xbf16>
  vector.transfer_write %x, %d[%i, %c0] {in_bounds = [true, true]} : vector<128x128xbf16>, memref<640x128xbf16>
  return
}
