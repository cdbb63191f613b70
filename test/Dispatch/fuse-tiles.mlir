// What follows a product in its kernel, where matrix units compute it.
// RUN: tilewright-opt %s -tilewright-form-dispatches -split-input-file | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @rows
// CHECK: tilewright.dispatch @rows_matmul_0
// CHECK-NOT: tilewright.dispatch
// CHECK-LABEL: func.func @wide
// CHECK: tilewright.dispatch @wide_matmul_0
// CHECK: tilewright.dispatch @wide_reduce_1
// CHECK: func.func private @wide_reduce_1
// CHECK-SAME: tilewright.explain = ["a kernel of its own: the product's rows cannot be reduced in its kernel: there are 512, and a tile has at most 256"]
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64, shared_memory = 166912 : i64, mma = ["mma.m16n8k16.f16.f32"]}>} {
  func.func @rows(%a: tensor<?x64xf16>, %b: tensor<64x256xf16>, %c: tensor<?x256xf32>, %s: tensor<?xf32>) -> (tensor<?x256xf32>, tensor<?xf32>) {
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x64xf16>, tensor<64x256xf16>) outs(%c : tensor<?x256xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32):
      %0 = arith.extf %x : f16 to f32
      %1 = arith.extf %y : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<?x256xf32>
    %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%p : tensor<?x256xf32>) outs(%s : tensor<?xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    return %p, %r : tensor<?x256xf32>, tensor<?xf32>
  }
  func.func @wide(%a: tensor<?x64xf16>, %b: tensor<64x512xf16>, %c: tensor<?x512xf32>, %s: tensor<?xf32>) -> tensor<?xf32> {
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x64xf16>, tensor<64x512xf16>) outs(%c : tensor<?x512xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32):
      %0 = arith.extf %x : f16 to f32
      %1 = arith.extf %y : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<?x512xf32>
    %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%p : tensor<?x512xf32>) outs(%s : tensor<?xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// A product of what a product becomes: one kernel, whose last loop is the columns.
// CHECK-LABEL: func.func @chain
// CHECK: tilewright.dispatch @chain_matmul_0
// CHECK-NOT: tilewright.dispatch
// CHECK: func.func private @chain_matmul_0
// CHECK-COUNT-3: linalg.generic
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64, shared_memory = 166912 : i64, mma = ["mma.m16n8k16.f16.f32"]}>} {
  func.func @chain(%a: tensor<?x64xf16>, %b: tensor<64x512xf16>, %c: tensor<?x512xf32>, %h: tensor<?x512xf16>,
                   %v: tensor<512x128xf16>, %d: tensor<?x128xf32>) -> tensor<?x128xf32> {
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x64xf16>, tensor<64x512xf16>) outs(%c : tensor<?x512xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32):
      %0 = arith.extf %x : f16 to f32
      %1 = arith.extf %y : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<?x512xf32>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%p : tensor<?x512xf32>) outs(%h : tensor<?x512xf16>) {
    ^bb0(%x: f32, %o: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<?x512xf16>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t, %v : tensor<?x512xf16>, tensor<512x128xf16>) outs(%d : tensor<?x128xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32):
      %0 = arith.extf %x : f16 to f32
      %1 = arith.extf %y : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<?x128xf32>
    return %r : tensor<?x128xf32>
  }
}
