// RUN: tilewright-opt %s -tilewright-tile -canonicalize -cse | FileCheck %s

// Rows are four queries of each of four heads, side by side in a tensor of tokens; which
// keys a row sees is its query's, the row modulo four, and a mask that all heads have is
// read once for each.

#q = affine_map<(h, g, i, j, d, e) -> (i, h, g, d)>
#k = affine_map<(h, g, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, g, i, j, d, e) -> (h, j, e)>
#m = affine_map<(h, g, i, j, d, e) -> (i, j)>
#o = affine_map<(h, g, i, j, d, e) -> (i, h, g, e)>

// CHECK-DAG: #[[HEADS:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (0, d0, d1)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func private @rows(
  // CHECK: %[[ID:.*]]:3 = tilewright.tile_id(%c8, %c2, %c1)
  // CHECK: %[[I:.*]] = arith.muli %[[ID]]#2, %c4
  // CHECK: %[[G:.*]] = arith.muli %[[ID]]#1, %c4
  // CHECK: %[[READ:.*]] = vector.transfer_read %{{.*}}[%[[I]], %[[ID]]#0, %[[G]], %c0]
  // CHECK-SAME: in_bounds = [false, false, true], permutation_map = #[[HEADS]]{{.*}} vector<4x4x64xf16>
  // CHECK: %[[Q:.*]] = vector.shape_cast %[[READ]] : vector<4x4x64xf16> to vector<16x64xf16>
  // CHECK: scf.for
  // CHECK: tilewright.mma %[[Q]]
  // CHECK: %[[MASK:.*]] = vector.transfer_read {{.*}} permutation_map = #[[ALL]]{{.*}} vector<4x4x64xf16>
  // CHECK: vector.shape_cast %[[MASK]] : vector<4x4x64xf16> to vector<16x64xf16>
  // CHECK: vector.shape_cast %{{.*}} : vector<16x64xf16> to vector<4x4x64xf16>
  // CHECK: vector.transfer_write %{{.*}} permutation_map = #[[HEADS]]{{.*}} : vector<4x4x64xf16>, tensor<3x8x6x64xf16>
  func.func private @rows(%q: tensor<3x8x6x64xf16>, %k: tensor<8x512x64xf16>, %mask: tensor<3x512xf16>, %out: tensor<3x8x6x64xf16>) -> tensor<3x8x6x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %k : tensor<3x8x6x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) mask(%mask : tensor<3x512xf16>)
        outs(%out : tensor<3x8x6x64xf16>) {indexing_maps = [#q, #k, #v, #m, #o], causal = "bottom_right",
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [4, 4, 64], warps = [1, 1, 1],
          stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<3x8x6x64xf16>
    return %o : tensor<3x8x6x64xf16>
  }
}
