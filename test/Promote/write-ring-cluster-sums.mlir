// Blocks of a cluster that have parts of a sum: consumers add them up behind their loop, and the warps that copy come to the
// cluster's barriers when they have started their copies. What only some steps of the sum have is multicast to nobody.

// RUN: tilewright-opt %s -tilewright-promote | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1],
    mma = "wgmma.m64n64k16.bf16.f32", splits = 2, cluster = [2, 1, 2]>

// CHECK-LABEL: @parts
// CHECK: tilewright.warps[4, 4] {
// CHECK-NEXT: tilewright.warps[4, 1] {
// CHECK: %[[SOME:.+]] = arith.maxsi %{{.+}}, %c1
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[SOME]]
// CHECK: tilewright.tile_copy {{.*}}{map = #{{[a-z0-9]+}}} :
// CHECK: tilewright.tile_copy {{.*}}{map = #{{[a-z0-9]+}}, multicast = 0 : i64} :
// CHECK: }
// CHECK: }
// CHECK-NEXT: tilewright.cluster_barrier
// CHECK-NEXT: tilewright.cluster_arrive
// CHECK-NEXT: }
// CHECK: tilewright.warps[0, 4]
// CHECK: %[[SUM:.+]] = tilewright.mma_wait 0
// CHECK: tilewright.cluster_scatter %[[SUM]] along 0 loop 2
func.func private @parts(%a: memref<128x576xbf16>, %b: memref<576x64xbf16>, %c: memref<128x64xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (2, 1, 2)>, cluster = [2, 1, 2]>} {
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %pad = arith.constant 0.0 : bf16
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %t:3 = tilewright.tile_id(%c2, %c1, %c2) : index, index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t#1]
  %begin = affine.apply affine_map<()[s0] -> (((s0 * 9) floordiv 2) * 64)>()[%t#2]
  %end = affine.apply affine_map<()[s0] -> (((s0 * 9 + 9) floordiv 2) * 64)>()[%t#2]
  %r = scf.for %k = %begin to %end step %c64 iter_args(%acc = %zero) -> (vector<64x64xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<128x576xbf16>, vector<64x64xbf16>
    %vb = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, true]} : memref<576x64xbf16>, vector<64x64xbf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n64k16.bf16.f32", maps = [#mk, #kn, #mn]}
        : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
    scf.yield %n : vector<64x64xf32>
  }
  %s = tilewright.cluster_scatter %r along 0 loop 2 : vector<64x64xf32> -> vector<32x64xf32>
  %first = affine.apply affine_map<()[s0, s1] -> (s0 * 64 + s1 * 32)>()[%t#0, %t#2]
  vector.transfer_write %s, %c[%first, %j] {in_bounds = [true, true]} : vector<32x64xf32>, memref<128x64xf32>
  return
}
