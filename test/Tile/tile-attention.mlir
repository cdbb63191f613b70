// RUN: tilewright-opt %s -tilewright-tile -canonicalize -cse | FileCheck %s

// One block: 64 queries, 64 keys a step; keys behind the diagonal of the block's last
// query are left out, others are hidden element by element.

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>

// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func private @causal(
  // CHECK-SAME: tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = {{.*}}, dims = [0, 1]>
  // CHECK: %[[ID:.*]]:2 = tilewright.tile_id(%{{.*}}, %{{.*}}) : index, index
  // CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1
  // CHECK: %[[TURNED:.*]] = arith.subi %[[LAST]], %[[ID]]#1
  // CHECK: %[[I:.*]] = arith.muli %[[TURNED]], %c64
  // CHECK: %[[BEHIND:.*]] = arith.addi %[[I]], %c64
  // CHECK: %[[END:.*]] = arith.minsi %[[BEHIND]], %c256
  // CHECK: %[[BLOCKS:.*]] = arith.divui %{{.*}}, %c64
  // CHECK: %[[WHOLE:.*]] = arith.muli %[[BLOCKS]], %c64
  // CHECK: %[[Q:.*]] = vector.transfer_read %{{.*}}[%[[ID]]#0, %[[I]], %c0]{{.*}} vector<64x64xf16>
  // CHECK: scf.for %[[J:.*]] = %c0 to %[[END]] step %c64 iter_args(%[[X:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}}) -> (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64x64xf32>)
  // CHECK: %[[K:.*]] = vector.transfer_read %{{.*}}[%[[ID]]#0, %[[J]], %c0]
  // CHECK: %[[S:.*]] = tilewright.mma %[[Q]], %[[K]], %{{.*}} {instruction = "mma.m16n8k16.f16.f32", maps = [#[[MK]], #[[NK]], #[[MN]]]}
  // CHECK: vector.step
  // CHECK: %[[HIDDEN:.*]] = arith.select %{{.*}}, %[[S]], %{{.*}} : vector<64x64xi1>, vector<64x64xf32>
  // CHECK: %[[ALL:.*]] = arith.cmpi slt, %[[J]], %[[WHOLE]] {tilewright.whole}
  // CHECK: %[[T:.*]] = arith.select %[[ALL]], %[[S]], %[[HIDDEN]] : vector<64x64xf32>
  // CHECK: %[[X1:.*]] = vector.multi_reduction <maxnumf>, %[[T]], %[[X]] [1]
  // CHECK: %[[M1:.*]] = arith.mulf %[[X1]], %{{.*}}
  // CHECK: arith.subf %[[M]], %[[M1]]
  // CHECK: %[[E:.*]] = math.fma %[[T]]
  // CHECK: %[[P:.*]] = math.exp2 %[[E]]
  // CHECK: %[[A:.*]] = math.exp2
  // CHECK: %[[SUM:.*]] = vector.multi_reduction <add>, %[[P]], %{{.*}} [1]
  // CHECK: %[[L1:.*]] = math.fma %[[L]], %[[A]], %[[SUM]]
  // CHECK: %[[ACCA:.*]] = arith.mulf %[[ACC]]
  // CHECK: %[[V:.*]] = vector.transfer_read
  // CHECK: %[[H:.*]] = arith.truncf %[[P]]
  // CHECK: %[[ACC1:.*]] = tilewright.mma %[[H]], %[[V]], %[[ACCA]] {instruction = "mma.m16n8k16.f16.f32", maps = [#[[MK]], #[[KN]], #[[MN]]]}
  // CHECK: scf.yield %[[X1]], %[[M1]], %[[L1]], %[[ACC1]]
  // CHECK: vector.transfer_write
  func.func private @causal(%q: tensor<2x?x64xf16>, %k: tensor<2x256x64xf16>, %v: tensor<2x256x64xf16>, %out: tensor<2x?x64xf16>) -> tensor<2x?x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x?x64xf16>, tensor<2x256x64xf16>, tensor<2x256x64xf16>)
        outs(%out : tensor<2x?x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left",
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1],
          stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x?x64xf16>
    return %o : tensor<2x?x64xf16>
  }

  // Of all of a depth there is no room in shared memory: slices of queries and keys follow one another.
  // CHECK-LABEL: func.func private @slices(
  // CHECK: scf.for %[[J:.*]] = %c0 to %c256 step %c64
  // CHECK: %[[S:.*]] = scf.for %[[D:.*]] = %c0 to %c192 step %c128 iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<64x64xf32>)
  // CHECK: %[[Q:.*]] = vector.transfer_read %{{.*}}[%{{.*}}, %{{.*}}, %[[D]]]{{.*}} vector<64x128xf32>
  // CHECK: %[[K:.*]] = vector.transfer_read %{{.*}}[%{{.*}}, %[[J]], %[[D]]]{{.*}} vector<64x128xf32>
  // CHECK: %[[NEXT:.*]] = tilewright.mma %[[Q]], %[[K]], %[[SUM]]
  // CHECK: scf.yield %[[NEXT]]
  // CHECK: vector.multi_reduction <maxnumf>, %[[S]]
  func.func private @slices(%q: tensor<2x64x192xf32>, %k: tensor<2x256x192xf32>, %v: tensor<2x256x256xf32>, %out: tensor<2x64x256xf32>) -> tensor<2x64x256xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x64x192xf32>, tensor<2x256x192xf32>, tensor<2x256x256xf32>)
        outs(%out : tensor<2x64x256xf32>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [8, 1], promote = [0, 1]>} -> tensor<2x64x256xf32>
    return %o : tensor<2x64x256xf32>
  }

  // The last block of a known number of keys comes first: just that step is masked.
  // CHECK-LABEL: func.func private @ragged(
  // CHECK: scf.for %[[STEP:.*]] = %c0 to %c200 step %c64
  // CHECK: %[[J:.*]] = arith.subi %c192, %[[STEP]]
  // CHECK: vector.transfer_read %arg1[%{{.*}}, %[[J]], %c0]
  // CHECK: arith.cmpi sge, %[[STEP]], %c64 {tilewright.whole}
  func.func private @ragged(%q: tensor<2x128x64xf16>, %k: tensor<2x200x64xf16>, %v: tensor<2x200x64xf16>, %out: tensor<2x128x64xf16>) -> tensor<2x128x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x128x64xf16>, tensor<2x200x64xf16>, tensor<2x200x64xf16>)
        outs(%out : tensor<2x128x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1],
          stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x128x64xf16>
    return %o : tensor<2x128x64xf16>
  }

  // Keys of a window: those in front of the first query's are left out, and only the steps on
  // either edge of it are masked.
  // CHECK-LABEL: func.func private @window(
  // CHECK: %[[ID:.*]]:2 = tilewright.tile_id(%{{.*}}, %{{.*}}) : index, index
  // CHECK: %[[I:.*]] = arith.muli %[[ID]]#1, %c64
  // CHECK: %[[LEFT:.*]] = arith.subi %[[I]], %c200
  // CHECK: %[[SEEN:.*]] = arith.maxsi %[[LEFT]], %c0
  // CHECK: %[[SKIPPED:.*]] = arith.divui %[[SEEN]], %c64
  // CHECK: %[[BEGIN:.*]] = arith.muli %[[SKIPPED]], %c64
  // CHECK: %[[BLOCKS:.*]] = arith.divui %{{.*}}, %c64
  // CHECK: %[[LAST:.*]] = arith.addi %[[BEGIN]], %{{.*}}
  // The last query of the block sees keys from 200 in front of its own: 63 - 200, and 63 to round up.
  // CHECK: %[[FIRST:.*]] = arith.addi %[[I]], %c-74
  // CHECK: arith.subi %[[FIRST]], %[[BEGIN]]
  // CHECK: arith.minui %[[BLOCKS]], %{{.*}}
  // CHECK: %[[START:.*]] = arith.addi %[[BEGIN]], %{{.*}}
  // CHECK: scf.for %[[J:.*]] = %[[BEGIN]] to
  // CHECK: %[[S:.*]] = tilewright.mma
  // CHECK: %[[HIDDEN:.*]] = arith.select %{{.*}}, %[[S]], %{{.*}} : vector<64x64xi1>, vector<64x64xf32>
  // CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[J]], %[[LAST]] {tilewright.whole}
  // CHECK: %[[ABOVE:.*]] = arith.cmpi sge, %[[J]], %[[START]] {tilewright.whole}
  // CHECK: %[[ALL:.*]] = arith.andi %[[BELOW]], %[[ABOVE]]
  // CHECK: arith.select %[[ALL]], %[[S]], %[[HIDDEN]] : vector<64x64xf32>
  func.func private @window(%q: tensor<2x?x64xf16>, %k: tensor<2x1024x64xf16>, %v: tensor<2x1024x64xf16>, %out: tensor<2x?x64xf16>) -> tensor<2x?x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x?x64xf16>, tensor<2x1024x64xf16>, tensor<2x1024x64xf16>)
        outs(%out : tensor<2x?x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left", window = array<i64: 200, -1>,
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1],
          stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x?x64xf16>
    return %o : tensor<2x?x64xf16>
  }

  // No right edge: all steps behind the left one are as they are.
  // CHECK-LABEL: func.func private @left(
  // CHECK-NOT: arith.cmpi slt, {{.*}} {tilewright.whole}
  // CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} {tilewright.whole}
  func.func private @left(%q: tensor<2x?x64xf16>, %k: tensor<2x1024x64xf16>, %v: tensor<2x1024x64xf16>, %out: tensor<2x?x64xf16>) -> tensor<2x?x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x?x64xf16>, tensor<2x1024x64xf16>, tensor<2x1024x64xf16>)
        outs(%out : tensor<2x?x64xf16>) {indexing_maps = [#q, #k, #v, #o], window = array<i64: 200, -1>,
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1],
          stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x?x64xf16>
    return %o : tensor<2x?x64xf16>
  }

  // A window into which at most one block of 64 keys fits for all of 64 queries: 190 keys.
  // CHECK-LABEL: func.func private @narrow(
  // CHECK-NOT: tilewright.whole
  func.func private @narrow(%q: tensor<2x?x64xf16>, %k: tensor<2x1024x64xf16>, %v: tensor<2x1024x64xf16>, %out: tensor<2x?x64xf16>) -> tensor<2x?x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x?x64xf16>, tensor<2x1024x64xf16>, tensor<2x1024x64xf16>)
        outs(%out : tensor<2x?x64xf16>) {indexing_maps = [#q, #k, #v, #o], window = array<i64: 184, 5>,
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1],
          stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x?x64xf16>
    return %o : tensor<2x?x64xf16>
  }
}
