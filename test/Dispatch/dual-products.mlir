// Two products of one operand, whose results an elementwise op combines, are one kernel where that costs less.
// RUN: tilewright-opt %s -tilewright-form-dispatches -split-input-file | FileCheck %s

#mk = affine_map<(m, k) -> (m, k)>
#m = affine_map<(m, k) -> (m)>
#turned = affine_map<(m, n) -> (n, m)>
#mn = affine_map<(m, n) -> (m, n)>
#config = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 64, 32], warps = [2, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">

// CHECK-LABEL: func.func @Gated(
// CHECK: tilewright.dispatch @Gated_matmul_0(%arg0, %arg1, %arg3, %arg2 :
// CHECK-NOT: tilewright.dispatch
// CHECK-LABEL: func.func @Normalised(
// CHECK: tilewright.dispatch @Normalised_matmul_0(
// CHECK-NOT: tilewright.dispatch
// CHECK-LABEL: func.func @BothNeeded(
// CHECK-COUNT-2: tilewright.dispatch
// CHECK-LABEL: func.func @Turned(
// CHECK-COUNT-2: tilewright.dispatch
// CHECK-LABEL: func.func @OfAProduct(
// CHECK-COUNT-2: tilewright.dispatch
// CHECK-LABEL: func.func @OtherOperands(
// CHECK-COUNT-2: tilewright.dispatch
// CHECK-LABEL: func.func @Pinned(
// CHECK-COUNT-2: tilewright.dispatch
// CHECK-LABEL: func.func @FewRows(
// CHECK-COUNT-2: tilewright.dispatch

// CHECK-LABEL: func.func private @Gated_matmul_0(
// CHECK-SAME: tilewright.explain = ["two products of operand 0 run side by side in one kernel, a dual product: that saves a kernel, and 1048576 bytes that are written and read back, about 3.8 us"]
// CHECK: %[[G:.*]] = linalg.matmul ins(%[[X:.*]], %{{.*}} :
// CHECK: %[[S:.*]] = linalg.exp ins(%[[G]] :
// CHECK: %[[U:.*]] = linalg.matmul ins(%[[X]], %{{.*}} :
// CHECK: linalg.mul ins(%[[S]], %[[U]] :
// CHECK-LABEL: func.func private @Normalised_matmul_0(
// CHECK-SAME: tilewright.explain = ["two products of operand 0 run side by side in one kernel, a dual product: {{[^"]*}}", "the rows of operand 0 of the product are reduced in its kernel, and normalised on their way into the tiles: {{[^"]*}}"]
// CHECK-LABEL: func.func private @BothNeeded_matmul_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: two products of one operand are not computed in one kernel: others than what combines the results read the first one's, too"]
// CHECK-LABEL: func.func private @Turned_matmul_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: two products of one operand are not computed in one kernel: their results are combined along different loops"]
// CHECK-LABEL: func.func private @OfAProduct_matmul_0(
// CHECK-NOT: dual
// CHECK-LABEL: func.func private @OtherOperands_matmul_0(
// CHECK-NOT: dual
// CHECK-LABEL: func.func private @Pinned_matmul_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: two products of one operand are not computed in one kernel: a lowering config is pinned on one of them"]
// CHECK-LABEL: func.func private @FewRows_matmul_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: two products of one operand are not computed in one kernel: they have so few rows or columns that threads share their sums"]
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80 : i64, subgroup = 32 : i64, shared_memory = 166912 : i64, mma = ["mma.m16n8k16.f16.f32"]}>} {
  func.func @Gated(%x: tensor<128x512xf16>, %w: tensor<512x1024xf16>, %v: tensor<512x1024xf16>, %c: tensor<128x1024xf32>) -> tensor<128x1024xf32> {
    %g = linalg.matmul ins(%x, %w : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %s = linalg.exp ins(%g : tensor<128x1024xf32>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %u = linalg.matmul ins(%x, %v : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %r = linalg.mul ins(%s, %u : tensor<128x1024xf32>, tensor<128x1024xf32>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    return %r : tensor<128x1024xf32>
  }
  // What normalises the operand has one reader then.
  func.func @Normalised(%x: tensor<128x512xf16>, %w: tensor<512x1024xf16>, %v: tensor<512x1024xf16>, %es: tensor<128xf16>, %e: tensor<128x512xf16>, %c: tensor<128x1024xf32>) -> tensor<128x1024xf32> {
    %zero = arith.constant 0.0 : f16
    %z = linalg.fill ins(%zero : f16) outs(%es : tensor<128xf16>) -> tensor<128xf16>
    %t = linalg.generic {indexing_maps = [#mk, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<128x512xf16>) outs(%z : tensor<128xf16>) {
    ^bb0(%a: f16, %sum: f16):
      %0 = arith.mulf %a, %a : f16
      %1 = arith.addf %sum, %0 : f16
      linalg.yield %1 : f16
    } -> tensor<128xf16>
    %n = linalg.generic {indexing_maps = [#mk, #m, #mk], iterator_types = ["parallel", "parallel"]}
        ins(%x, %t : tensor<128x512xf16>, tensor<128xf16>) outs(%e : tensor<128x512xf16>) {
    ^bb0(%a: f16, %sum: f16, %out: f16):
      %0 = arith.mulf %a, %sum : f16
      linalg.yield %0 : f16
    } -> tensor<128x512xf16>
    %g = linalg.matmul ins(%n, %w : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %u = linalg.matmul ins(%n, %v : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %r = linalg.mul ins(%g, %u : tensor<128x1024xf32>, tensor<128x1024xf32>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    return %r : tensor<128x1024xf32>
  }
  func.func @BothNeeded(%x: tensor<128x512xf16>, %w: tensor<512x1024xf16>, %v: tensor<512x1024xf16>, %c: tensor<128x1024xf32>) -> (tensor<128x1024xf32>, tensor<128x1024xf32>) {
    %g = linalg.matmul ins(%x, %w : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %u = linalg.matmul ins(%x, %v : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %r = linalg.mul ins(%g, %u : tensor<128x1024xf32>, tensor<128x1024xf32>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    return %g, %r : tensor<128x1024xf32>, tensor<128x1024xf32>
  }
  func.func @Turned(%x: tensor<128x512xf16>, %w: tensor<512x128xf16>, %v: tensor<512x128xf16>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
    %g = linalg.matmul ins(%x, %w : tensor<128x512xf16>, tensor<512x128xf16>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
    %u = linalg.matmul ins(%x, %v : tensor<128x512xf16>, tensor<512x128xf16>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
    %r = linalg.generic {indexing_maps = [#turned, #mn, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%g, %u : tensor<128x128xf32>, tensor<128x128xf32>) outs(%c : tensor<128x128xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %0 = arith.mulf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<128x128xf32>
    return %r : tensor<128x128xf32>
  }
  func.func @OfAProduct(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
    %g = linalg.matmul ins(%x, %w : tensor<128x128xf32>, tensor<128x128xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
    %u = linalg.matmul ins(%x, %g : tensor<128x128xf32>, tensor<128x128xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
    %r = linalg.mul ins(%g, %u : tensor<128x128xf32>, tensor<128x128xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
    return %r : tensor<128x128xf32>
  }
  func.func @OtherOperands(%x: tensor<128x512xf16>, %y: tensor<128x512xf16>, %w: tensor<512x1024xf16>, %v: tensor<512x1024xf16>, %c: tensor<128x1024xf32>) -> tensor<128x1024xf32> {
    %g = linalg.matmul ins(%x, %w : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %u = linalg.matmul ins(%y, %v : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %r = linalg.mul ins(%g, %u : tensor<128x1024xf32>, tensor<128x1024xf32>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    return %r : tensor<128x1024xf32>
  }
  func.func @Pinned(%x: tensor<128x512xf16>, %w: tensor<512x1024xf16>, %v: tensor<512x1024xf16>, %c: tensor<128x1024xf32>) -> tensor<128x1024xf32> {
    %g = linalg.matmul ins(%x, %w : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %u = linalg.matmul {tilewright.lowering_config = #config} ins(%x, %v : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %r = linalg.mul ins(%g, %u : tensor<128x1024xf32>, tensor<128x1024xf32>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    return %r : tensor<128x1024xf32>
  }
  func.func @FewRows(%x: tensor<4x512xf16>, %w: tensor<512x1024xf16>, %v: tensor<512x1024xf16>, %c: tensor<4x1024xf32>) -> tensor<4x1024xf32> {
    %g = linalg.matmul ins(%x, %w : tensor<4x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<4x1024xf32>) -> tensor<4x1024xf32>
    %u = linalg.matmul ins(%x, %v : tensor<4x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<4x1024xf32>) -> tensor<4x1024xf32>
    %r = linalg.mul ins(%g, %u : tensor<4x1024xf32>, tensor<4x1024xf32>) outs(%c : tensor<4x1024xf32>) -> tensor<4x1024xf32>
    return %r : tensor<4x1024xf32>
  }
}

// -----

// Warpgroups multiply both out of memory. Where an operand is computed they do not: one kernel only if there is little to multiply.
#kn = affine_map<(k, n) -> (k, n)>
// CHECK-LABEL: func.func @InMemory(
// CHECK: tilewright.dispatch
// CHECK-NOT: tilewright.dispatch
// CHECK-LABEL: func.func @Short(
// CHECK: tilewright.dispatch
// CHECK-NOT: tilewright.dispatch
// CHECK-LABEL: func.func @Long(
// CHECK-COUNT-2: tilewright.dispatch
// CHECK-LABEL: func.func @AnyRows(
// CHECK-COUNT-2: tilewright.dispatch
// CHECK-LABEL: func.func @Cast(
// CHECK: tilewright.dispatch @Cast_elementwise_0(
// CHECK: tilewright.dispatch @Cast_matmul_1(
// CHECK-NOT: tilewright.dispatch
// CHECK-LABEL: func.func private @InMemory_matmul_0(
// CHECK-SAME: tilewright.explain = ["two products of operand 0 run side by side in one kernel, a dual product: that saves a kernel, and 67108864 bytes (assumed) that are written and read back, about {{[0-9.]*}} us"]
// CHECK-LABEL: func.func private @Short_matmul_0(
// CHECK-SAME: that saves a kernel, and 1048576 bytes that are written and read back, about 3.3 us, and loses 0.7 us, as warps multiply both, and not warpgroups"
// CHECK-LABEL: func.func private @Long_matmul_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: two products of one operand are not computed in one kernel: that would save a kernel, and 33554432 bytes that are written and read back, about 13.4 us, and lose {{[0-9.]*}} us, as warps multiply both, and not warpgroups"
// CHECK-LABEL: func.func private @AnyRows_matmul_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: two products of one operand are not computed in one kernel: an operand is computed in it, so that warps would multiply both and not warpgroups, and how much is not known before the launch"
// CHECK-LABEL: func.func private @Cast_elementwise_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: computing operand 0 of the product on its way into the tiles does not pay: warps would multiply two products of it, and not warpgroups"]
module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90 : i64, subgroup = 32 : i64, shared_memory = 232448 : i64, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n128k16.f16.f32"]}>} {
  func.func @InMemory(%x: tensor<?x4096xf16>, %w: tensor<4096x8192xf16>, %v: tensor<4096x8192xf16>, %c: tensor<?x8192xf32>) -> tensor<?x8192xf32> {
    %g = linalg.matmul ins(%x, %w : tensor<?x4096xf16>, tensor<4096x8192xf16>) outs(%c : tensor<?x8192xf32>) -> tensor<?x8192xf32>
    %u = linalg.matmul ins(%x, %v : tensor<?x4096xf16>, tensor<4096x8192xf16>) outs(%c : tensor<?x8192xf32>) -> tensor<?x8192xf32>
    %r = linalg.mul ins(%g, %u : tensor<?x8192xf32>, tensor<?x8192xf32>) outs(%c : tensor<?x8192xf32>) -> tensor<?x8192xf32>
    return %r : tensor<?x8192xf32>
  }
  func.func @Short(%x: tensor<128x512xf16>, %b: tensor<512x1024xi8>, %e: tensor<512x1024xf16>, %v: tensor<512x1024xf16>, %c: tensor<128x1024xf32>) -> tensor<128x1024xf32> {
    %w = linalg.generic {indexing_maps = [#kn, #kn], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<512x1024xi8>) outs(%e : tensor<512x1024xf16>) {
    ^bb0(%a: i8, %out: f16):
      %0 = arith.sitofp %a : i8 to f16
      linalg.yield %0 : f16
    } -> tensor<512x1024xf16>
    %g = linalg.matmul ins(%x, %w : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %u = linalg.matmul ins(%x, %v : tensor<128x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %r = linalg.mul ins(%g, %u : tensor<128x1024xf32>, tensor<128x1024xf32>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    return %r : tensor<128x1024xf32>
  }
  func.func @Long(%x: tensor<1024x4096xf16>, %b: tensor<4096x4096xi8>, %e: tensor<4096x4096xf16>, %v: tensor<4096x4096xf16>, %c: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
    %w = linalg.generic {indexing_maps = [#kn, #kn], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<4096x4096xi8>) outs(%e : tensor<4096x4096xf16>) {
    ^bb0(%a: i8, %out: f16):
      %0 = arith.sitofp %a : i8 to f16
      linalg.yield %0 : f16
    } -> tensor<4096x4096xf16>
    %g = linalg.matmul ins(%x, %w : tensor<1024x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    %u = linalg.matmul ins(%x, %v : tensor<1024x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    %r = linalg.mul ins(%g, %u : tensor<1024x4096xf32>, tensor<1024x4096xf32>) outs(%c : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    return %r : tensor<1024x4096xf32>
  }
  func.func @AnyRows(%x: tensor<?x512xf16>, %b: tensor<512x1024xi8>, %e: tensor<512x1024xf16>, %v: tensor<512x1024xf16>, %c: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
    %w = linalg.generic {indexing_maps = [#kn, #kn], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<512x1024xi8>) outs(%e : tensor<512x1024xf16>) {
    ^bb0(%a: i8, %out: f16):
      %0 = arith.sitofp %a : i8 to f16
      linalg.yield %0 : f16
    } -> tensor<512x1024xf16>
    %g = linalg.matmul ins(%x, %w : tensor<?x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<?x1024xf32>) -> tensor<?x1024xf32>
    %u = linalg.matmul ins(%x, %v : tensor<?x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<?x1024xf32>) -> tensor<?x1024xf32>
    %r = linalg.mul ins(%g, %u : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%c : tensor<?x1024xf32>) -> tensor<?x1024xf32>
    return %r : tensor<?x1024xf32>
  }
  func.func @Cast(%y: tensor<1024x4096xi8>, %e: tensor<1024x4096xf16>, %w: tensor<4096x1024xf16>, %v: tensor<4096x1024xf16>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %x = linalg.generic {indexing_maps = [#kn, #kn], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<1024x4096xi8>) outs(%e : tensor<1024x4096xf16>) {
    ^bb0(%a: i8, %out: f16):
      %0 = arith.sitofp %a : i8 to f16
      linalg.yield %0 : f16
    } -> tensor<1024x4096xf16>
    %g = linalg.matmul ins(%x, %w : tensor<1024x4096xf16>, tensor<4096x1024xf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %u = linalg.matmul ins(%x, %v : tensor<1024x4096xf16>, tensor<4096x1024xf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %r = linalg.mul ins(%g, %u : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    return %r : tensor<1024x1024xf32>
  }
}
