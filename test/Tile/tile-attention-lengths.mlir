// RUN: tilewright-opt %s -tilewright-tile -canonicalize -cse | FileCheck %s

// By warpgroups: copy engines bring whole boxes, so that the one that a length ends in begins earlier. It may begin at a negative
// index, in front of all keys, where there are zeros. Its keys that the step before had are hidden.

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#m = affine_map<(h, i, j, d, e) -> (i, j)>
#n = affine_map<(h, i, j, d, e) -> (h)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
#pk = affine_map<(h, i, j, d, e) -> (j floordiv 32, h, j mod 32, d)>
#pv = affine_map<(h, i, j, d, e) -> (j floordiv 32, h, j mod 32, e)>
#pt = affine_map<(h, i, j, d, e) -> (h, j floordiv 32)>
#wk = affine_map<(h, i, j, d, e) -> (j floordiv 128, h, j mod 128, d)>
#wv = affine_map<(h, i, j, d, e) -> (j floordiv 128, h, j mod 128, e)>
#wt = affine_map<(h, i, j, d, e) -> (h, j floordiv 128)>
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
  // CHECK: %[[MOST:.*]] = arith.subi %[[END]], %c64
  // CHECK: %[[LEFT:.*]] = arith.subi %[[MOST]], %[[J]]
  // CHECK: %[[SHIFT:.*]] = arith.minsi %[[LEFT]], %c0
  // CHECK: %[[BEGIN:.*]] = arith.addi %[[J]], %[[SHIFT]]
  // CHECK: vector.transfer_read %[[K]][%[[ID]]#0, %[[BEGIN]], %c0]
  // CHECK: %[[S:.*]] = tilewright.mma
  // CHECK: %[[STEP:.*]] = vector.step
  // CHECK: %[[SHIFTS:.*]] = vector.broadcast %[[SHIFT]]
  // CHECK: %[[OTHERS:.*]] = arith.subi %{{.*}}, %[[SHIFTS]] : vector<64xindex>
  // CHECK: %[[KEYS:.*]] = vector.broadcast %[[STEP]]
  // CHECK: %[[FIRST:.*]] = vector.broadcast %[[OTHERS]]
  // CHECK: %[[OWN:.*]] = arith.cmpi sge, %[[KEYS]], %[[FIRST]] : vector<128x64xindex>
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

  // What a query sees is counted from the first element of the box, too.
  // CHECK-LABEL: func.func private @causal(
  // CHECK: scf.for
  // CHECK: %[[ELEMENTS:.*]] = vector.broadcast %{{.*}} : vector<64xindex> to vector<128x64xindex>
  // CHECK: arith.cmpi sge, %[[ELEMENTS]], {{.*}} : vector<128x64xindex>
  // CHECK: %[[SEEN:.*]] = arith.subi %{{.*}} : vector<128x64xindex>
  // CHECK: arith.cmpi sle, %[[ELEMENTS]], %[[SEEN]] : vector<128x64xindex>
  // CHECK-NOT: arith.cmpi {{.*}} : vector<128x64xindex>
  func.func private @causal(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>, %n: tensor<2xi32>, %out: tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>)
        lengths(%n : tensor<2xi32>) outs(%out : tensor<2x256x64xf16>) {indexing_maps = [#q, #k, #v, #n, #o], causal = "bottom_right", tilewright.lowering_config = #config} -> tensor<2x256x64xf16>
    return %o : tensor<2x256x64xf16>
  }

  // CHECK-LABEL: func.func private @window(
  // CHECK: arith.cmpi sge, {{.*}} : vector<128x64xindex>
  // CHECK: arith.cmpi sle, {{.*}} : vector<128x64xindex>
  // CHECK: arith.cmpi sge, {{.*}} : vector<128x64xindex>
  // CHECK-NOT: arith.cmpi {{.*}} : vector<128x64xindex>
  func.func private @window(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>, %n: tensor<2xi32>, %out: tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>)
        lengths(%n : tensor<2xi32>) outs(%out : tensor<2x256x64xf16>) {indexing_maps = [#q, #k, #v, #n, #o], causal = "bottom_right", window = array<i64: 300, -1>, tilewright.lowering_config = #config} -> tensor<2x256x64xf16>
    return %o : tensor<2x256x64xf16>
  }

  // A mask is read where the keys are: from before its first element, too, in the last step. In the others all
  // of its keys are in bounds.
  // CHECK-LABEL: func.func private @mask(
  // CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<256x512xi1>
  // CHECK: scf.for %[[J:[a-z0-9]+]] =
  // CHECK: %[[BEGIN:[a-z0-9]+]] = arith.addi %[[J]],
  // CHECK: %[[AS:.*]] = vector.transfer_read %[[M]][%{{.*}}, %[[J]]], {{.*}}{in_bounds = [true, true], tilewright.read_in_place, tilewright.unread_padding}
  // CHECK: %[[SEEN:.*]] = arith.select %[[AS]],
  // CHECK: %[[FROM:.*]] = vector.transfer_read %[[M]][%{{.*}}, %[[BEGIN]]], {{.*}}{in_bounds = [true, false], tilewright.from_before, tilewright.read_in_place, tilewright.unread_padding}
  // CHECK: arith.select %[[FROM]],
  func.func private @mask(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>, %m: tensor<256x512xi1>, %n: tensor<2xi32>, %out: tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>) mask(%m : tensor<256x512xi1>)
        lengths(%n : tensor<2xi32>) outs(%out : tensor<2x256x64xf16>) {indexing_maps = [#q, #k, #v, #m, #n, #o], tilewright.lowering_config = #config} -> tensor<2x256x64xf16>
    return %o : tensor<2x256x64xf16>
  }

  // Of two pages a step each is a box of its own: the one that keys end in ends there, one behind it is outside of its page.
  // CHECK-LABEL: func.func private @several(
  // CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<9x2x32x64xf16>
  // CHECK: scf.for %[[J:[a-z0-9]+]] =
  // CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[J]]
  // CHECK: %[[SHIFT:.*]] = arith.minsi %[[LEFT]], %c0
  // CHECK: %[[ROW:.*]] = arith.maxsi %[[SHIFT]], %c-32
  // CHECK: %[[K0:.*]] = vector.transfer_read %[[K]][%{{.*}}, %{{.*}}, %[[ROW]], %c0]{{.*}} vector<32x64xf16>
  // CHECK: vector.insert_strided_slice %[[K0]]
  // CHECK: arith.addi %[[J]], %c32
  // CHECK: %[[ROW1:.*]] = arith.maxsi %{{.*}}, %c-32
  // CHECK: %[[K1:.*]] = vector.transfer_read %[[K]][%{{.*}}, %{{.*}}, %[[ROW1]], %c0]
  // CHECK: vector.insert_strided_slice %[[K1]], {{.*}} {offsets = [32, 0]
  // CHECK: %[[STEP:.*]] = vector.step : vector<64xindex>
  // CHECK: %[[ROWS:.*]] = arith.remui %[[STEP]]
  // CHECK: %[[FIRST:.*]] = arith.subi %[[STEP]], %[[ROWS]]
  // CHECK: arith.cmpi sge, {{.*}} : vector<128x64xindex>
  // CHECK-NOT: arith.cmpi {{.*}} : vector<128x64xindex>
  func.func private @several(%q: tensor<2x256x64xf16>, %k: tensor<9x2x32x64xf16>, %v: tensor<9x2x32x64xf16>, %t: tensor<2x8xi32>, %n: tensor<2xi32>, %out: tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x256x64xf16>, tensor<9x2x32x64xf16>, tensor<9x2x32x64xf16>) table(%t : tensor<2x8xi32>)
        lengths(%n : tensor<2xi32>) outs(%out : tensor<2x256x64xf16>) {indexing_maps = [#q, #pk, #pv, #pt, #n, #o], tilewright.lowering_config = #config} -> tensor<2x256x64xf16>
    return %o : tensor<2x256x64xf16>
  }

  // Half of a page.
  // CHECK-LABEL: func.func private @part(
  // CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<9x2x128x64xf16>
  // CHECK: scf.for %[[J:[a-z0-9]+]] =
  // CHECK: %[[ROW:.*]] = arith.remui %[[J]], %c128
  // CHECK: %[[SHIFT:.*]] = arith.minsi
  // CHECK: %[[BEGIN:.*]] = arith.addi %[[ROW]], %[[SHIFT]]
  // CHECK: vector.transfer_read %[[K]][%{{.*}}, %{{.*}}, %[[BEGIN]], %c0]{{.*}} vector<64x64xf16>
  func.func private @part(%q: tensor<2x256x64xf16>, %k: tensor<9x2x128x64xf16>, %v: tensor<9x2x128x64xf16>, %t: tensor<2x8xi32>, %n: tensor<2xi32>, %out: tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x256x64xf16>, tensor<9x2x128x64xf16>, tensor<9x2x128x64xf16>) table(%t : tensor<2x8xi32>)
        lengths(%n : tensor<2xi32>) outs(%out : tensor<2x256x64xf16>) {indexing_maps = [#q, #wk, #wv, #wt, #n, #o], tilewright.lowering_config = #config} -> tensor<2x256x64xf16>
    return %o : tensor<2x256x64xf16>
  }
}
