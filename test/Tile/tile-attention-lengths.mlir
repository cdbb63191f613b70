// RUN: tilewright-opt %s -tilewright-tile -canonicalize -cse | FileCheck %s

// By warpgroups: copy engines bring whole boxes, so that the one that a length ends in begins earlier. It may begin at a negative
// index, in front of all keys, where there are zeros. Its keys that the step before had are hidden.

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#m = affine_map<(h, i, j, d, e) -> (i, j)>
#n = affine_map<(h, i, j, d, e) -> (h)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
#config = #tilewright.lowering_config<strategy = attention, block = [128, 64], warps = [8, 1], stages = 2, promote = [0, 1],
  mma = "wgmma.m64n64k16.f16.f32", registers = [40, 232]>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_90a", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 232448 : i64, subgroup = 32 : i64, tensor_copy, warpgroup_mma = ["wgmma.m64n64k16.f16.f32", "wgmma.m64n128k16.f16.f32"]}>} {
  // CHECK-LABEL: func.func private @lengths(
  // CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<2x256x64xf16>, %[[K:[a-z0-9]+]]: tensor<2x512x64xf16>, %[[V:[a-z0-9]+]]: tensor<2x512x64xf16>, %[[N:[a-z0-9]+]]: tensor<2xi32>
  // CHECK: %[[ID:.*]]:2 = tilewright.tile_id
  // CHECK: %[[LENGTH:.*]] = tensor.extract %[[N]][%[[ID]]#0]
  // CHECK: %[[ABOVE:.*]] = arith.maxsi
  // CHECK: %[[END:.*]] = arith.minsi %[[ABOVE]], %c512
  // CHECK-NOT: tensor.extract_slice
  // CHECK: scf.for %[[J:[a-z0-9]+]] = %c0 to %[[END]] step %c64
  // CHECK: %[[LAST:.*]] = arith.subi %[[END]], %c64
  // CHECK: %[[BEGIN:[a-z0-9]+]] = arith.minsi %[[J]], %[[LAST]]
  // CHECK: vector.transfer_read %[[K]][%[[ID]]#0, %[[BEGIN]], %c0]
  // CHECK: %[[S:.*]] = tilewright.mma
  // CHECK: %[[STEP:.*]] = vector.step
  // CHECK: %[[SHIFT:.*]] = arith.subi %[[BEGIN]], %[[J]]
  // CHECK: %[[SHIFTS:.*]] = vector.broadcast %[[SHIFT]]
  // CHECK: %[[KEYS:.*]] = arith.addi %[[STEP]], %[[SHIFTS]]
  // CHECK: %[[ALONG:.*]] = vector.broadcast %[[KEYS]]
  // CHECK: %[[OWN:.*]] = arith.cmpi sge, %[[ALONG]], %{{.*}} : vector<128x64xindex>
  // CHECK: %[[HIDDEN:.*]] = arith.select %[[OWN]], %[[S]], %{{.*}}
  // CHECK: %[[WHOLE:.*]] = arith.cmpi slt, %[[J]], %{{.*}} {tilewright.whole}
  // CHECK: arith.select %[[WHOLE]], %[[S]], %[[HIDDEN]]
  // CHECK: vector.transfer_read %[[V]][%[[ID]]#0, %[[BEGIN]], %c0]
  func.func private @lengths(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>, %n: tensor<2xi32>, %out: tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>)
        lengths(%n : tensor<2xi32>) outs(%out : tensor<2x256x64xf16>) {indexing_maps = [#q, #k, #v, #n, #o], tilewright.lowering_config = #config} -> tensor<2x256x64xf16>
    return %o : tensor<2x256x64xf16>
  }

  // One comparison for both: keys of the step before are numbers that are larger than any as unsigned ones.
  // CHECK-LABEL: func.func private @causal(
  // CHECK: scf.for %[[J:[a-z0-9]+]] =
  // CHECK: arith.maxsi
  // CHECK: arith.cmpi ult, {{.*}} : vector<128x64xindex>
  // CHECK-NOT: arith.cmpi {{.*}} : vector<128x64xindex>
  func.func private @causal(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>, %n: tensor<2xi32>, %out: tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>)
        lengths(%n : tensor<2xi32>) outs(%out : tensor<2x256x64xf16>) {indexing_maps = [#q, #k, #v, #n, #o], causal = "bottom_right", tilewright.lowering_config = #config} -> tensor<2x256x64xf16>
    return %o : tensor<2x256x64xf16>
  }

  // Two for a window: no key in front of the step's or the window's first one.
  // CHECK-LABEL: func.func private @window(
  // CHECK: arith.cmpi sle, {{.*}} : vector<128x64xindex>
  // CHECK: arith.cmpi sge, {{.*}} : vector<128x64xindex>
  // CHECK-NOT: arith.cmpi {{.*}} : vector<128x64xindex>
  func.func private @window(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>, %n: tensor<2xi32>, %out: tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>)
        lengths(%n : tensor<2xi32>) outs(%out : tensor<2x256x64xf16>) {indexing_maps = [#q, #k, #v, #n, #o], causal = "bottom_right", window = array<i64: 300, -1>, tilewright.lowering_config = #config} -> tensor<2x256x64xf16>
    return %o : tensor<2x256x64xf16>
  }

  // A mask is read where the keys are: from before its first element, too, in the last step.
  // CHECK-LABEL: func.func private @mask(
  // CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<256x512xi1>
  // CHECK: scf.for %[[J:[a-z0-9]+]] =
  // CHECK: %[[BEGIN:[a-z0-9]+]] = arith.minsi %[[J]],
  // CHECK: %[[AS:.*]] = vector.transfer_read %[[M]][%{{.*}}, %[[J]]], {{.*}}tilewright.read_in_place}
  // CHECK: %[[SEEN:.*]] = arith.select %[[AS]],
  // CHECK: %[[FROM:.*]] = vector.transfer_read %[[M]][%{{.*}}, %[[BEGIN]]], {{.*}}tilewright.from_before
  // CHECK: arith.select %[[FROM]],
  func.func private @mask(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>, %m: tensor<256x512xi1>, %n: tensor<2xi32>, %out: tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>) mask(%m : tensor<256x512xi1>)
        lengths(%n : tensor<2xi32>) outs(%out : tensor<2x256x64xf16>) {indexing_maps = [#q, #k, #v, #m, #n, #o], tilewright.lowering_config = #config} -> tensor<2x256x64xf16>
    return %o : tensor<2x256x64xf16>
  }
}
