// RUN: tilewright-opt %s -tilewright-promote | FileCheck %s

// Blocks that share all sums walk over items in either role: what an item says of the tile and the steps is of each, and
// positions count on by the steps of a part, which may be none.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 4,
    promote = [0, 1], mma = "wgmma.m64n128k16.bf16.f32", splits = 2, persistent = true, stream_k = 4>
#shares = #tilewright.shares<tiles = 10, steps = 8, blocks = 4, parts = 2>

// CHECK-DAG: #[[COUNT:.*]] = affine_map<()[s0, s1] -> ((-s0 + s1) ceildiv 64)>
// CHECK-LABEL: @stream
// CHECK-NOT: tilewright.work_item
// CHECK: %[[RING:.*]] = tilewright.ring
// CHECK: tilewright.warps[4, 1]
// CHECK: %[[FIRST:.*]], %[[END:.*]] = tilewright.work_walk <tiles = 10, steps = 8, blocks = 4, parts = 2>
// CHECK: scf.for %[[NUMBER:.*]] = %[[FIRST]] to %[[END]] step %c1{{.*}} iter_args(%[[BEGIN:.*]] = %{{.*}}) -> (index)
// CHECK: %[[TILE:.*]], %[[PART:.*]], %[[LOW:.*]], %[[HIGH:.*]] = tilewright.work_item {{.*}} number %[[NUMBER]]
// CHECK: tilewright.tile_id(%{{.*}}, %{{.*}}) number %[[TILE]]
// CHECK: %[[STEPS:.*]] = affine.apply #[[COUNT]]
// CHECK: scf.for %[[P:[^ ]*]] = %{{.*}} to %[[STEPS]]
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]], %[[P]]
// CHECK: tilewright.acquire %[[RING]][%[[AT]]]
// CHECK: tilewright.fill %[[RING]][%[[AT]]]
// CHECK: arith.addi %[[BEGIN]], %[[STEPS]] : index
// CHECK-NEXT: scf.yield
// CHECK: tilewright.warps[0, 4]
// CHECK: tilewright.work_walk
// CHECK: scf.for %[[NUMBER:.*]] = {{.*}} iter_args(%[[BEGIN:.*]] = %{{.*}}) -> (index)
// CHECK: %[[TILE:.*]], %[[PART:.*]], %[[LOW:.*]], %[[HIGH:.*]] = tilewright.work_item {{.*}} number %[[NUMBER]]
// CHECK: tilewright.wait
// CHECK: %[[DONE:.*]] = tilewright.mma_wait 0
// CHECK: tilewright.release %[[RING]]
// CHECK: vector.transfer_write %[[DONE]], %{{.*}}[%[[PART]],
// CHECK: scf.yield
func.func private @stream(%a: memref<320x512xbf16>, %b: memref<512x256xbf16>, %c: memref<2x320x256xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (4)>>} {
  %zero = arith.constant dense<0.0> : vector<64x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  %tile, %part, %begin, %end = tilewright.work_item #shares
  %t:2 = tilewright.tile_id(%c5, %c2) number %tile : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %low = arith.muli %begin, %c64 : index
  %high = arith.muli %end, %c64 : index
  %r = scf.for %k = %low to %high step %c64 iter_args(%acc = %zero) -> (vector<64x128xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<320x512xbf16>, vector<64x64xbf16>
    %vb = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, true]} : memref<512x256xbf16>, vector<64x128xbf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #kn, #mn]}
        : vector<64x64xbf16>, vector<64x128xbf16>, vector<64x128xf32>
    scf.yield %n : vector<64x128xf32>
  }
  vector.transfer_write %r, %c[%part, %i, %j] {in_bounds = [true, true]} : vector<64x128xf32>, memref<2x320x256xf32>
  return
}
