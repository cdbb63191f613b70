// What computes an operand of a product runs in the product's kernel where that pays.
// RUN: tilewright-opt %s -tilewright-form-dispatches -split-input-file | FileCheck %s

#id = affine_map<(k, n) -> (k, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @Cast
// CHECK: tilewright.dispatch @Cast_matmul_0(
// CHECK-NOT: tilewright.dispatch
// CHECK-LABEL: func.func @Expensive
// CHECK: tilewright.dispatch @Expensive_elementwise_0(
// CHECK: tilewright.dispatch @Expensive_matmul_1(
// CHECK-LABEL: func.func @OtherReaders
// CHECK: tilewright.dispatch @OtherReaders_elementwise_0(
// CHECK-LABEL: func.func private @Cast_matmul_0(
// CHECK-SAME: tensor<?x64xi8>, %{{.*}}: tensor<?x?xf16>
// CHECK-SAME: tilewright.explain = ["operand 1 of the product is computed on its way into the tiles and never written: 1 block reads (assumed) an element, each for the time of 4 operations; writing it and reading it back takes the time of 32"]
// CHECK: %[[F:.*]] = linalg.generic
// CHECK: arith.sitofp
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[F]]
// CHECK-LABEL: func.func private @Expensive_elementwise_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: computing operand 1 of the product on its way into the tiles does not pay: 2 blocks read an element, each for the time of 27 operations; writing it and reading it back takes the time of 32"]
// CHECK-LABEL: func.func private @OtherReaders_elementwise_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: others than one operand of the product read it, too"]
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64, shared_memory = 166912 : i64, mma = ["mma.m16n8k16.f16.f32"]}>} {
  func.func @Cast(%a: tensor<?x?xf16>, %w: tensor<?x64xi8>, %e: tensor<?x64xf16>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%w : tensor<?x64xi8>) outs(%e : tensor<?x64xf16>) {
    ^bb0(%x: i8, %out: f16):
      %0 = arith.sitofp %x : i8 to f16
      linalg.yield %0 : f16
    } -> tensor<?x64xf16>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %f : tensor<?x?xf16>, tensor<?x64xf16>) outs(%c : tensor<?x64xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32):
      %0 = arith.extf %x : f16 to f32
      %1 = arith.extf %y : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<?x64xf32>
    return %p : tensor<?x64xf32>
  }
  func.func @Expensive(%a: tensor<256x64xf16>, %w: tensor<64x64xf16>, %e: tensor<64x64xf16>, %c: tensor<256x64xf32>) -> tensor<256x64xf32> {
    %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%w : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) {
    ^bb0(%x: f16, %out: f16):
      %0 = math.exp %x : f16
      linalg.yield %0 : f16
    } -> tensor<64x64xf16>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %f : tensor<256x64xf16>, tensor<64x64xf16>) outs(%c : tensor<256x64xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32):
      %0 = arith.extf %x : f16 to f32
      %1 = arith.extf %y : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<256x64xf32>
    return %p : tensor<256x64xf32>
  }
  func.func @OtherReaders(%a: tensor<64x64xf16>, %w: tensor<64x64xi8>, %e: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf16>) {
    %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%w : tensor<64x64xi8>) outs(%e : tensor<64x64xf16>) {
    ^bb0(%x: i8, %out: f16):
      %0 = arith.sitofp %x : i8 to f16
      linalg.yield %0 : f16
    } -> tensor<64x64xf16>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %f : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32):
      %0 = arith.extf %x : f16 to f32
      %1 = arith.extf %y : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<64x64xf32>
    return %p, %f : tensor<64x64xf32>, tensor<64x64xf16>
  }
}

// -----

#id = affine_map<(k, n) -> (k, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CPUs compute what is smaller in memory than the operand is.
// CHECK-LABEL: func.func @OnCpu
// CHECK: func.func private @OnCpu_matmul_0(
// CHECK-SAME: tilewright.explain = ["operand 1 of the product is computed on its way into the tiles and never written: 1 block reads (assumed) an element
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1 : i64}>} {
  func.func @OnCpu(%a: tensor<?x?xf32>, %w: tensor<?x64xi8>, %e: tensor<?x64xf32>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%w : tensor<?x64xi8>) outs(%e : tensor<?x64xf32>) {
    ^bb0(%x: i8, %out: f32):
      %0 = arith.sitofp %x : i8 to f32
      linalg.yield %0 : f32
    } -> tensor<?x64xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %f : tensor<?x?xf32>, tensor<?x64xf32>) outs(%c : tensor<?x64xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %2 = arith.mulf %x, %y : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<?x64xf32>
    return %p : tensor<?x64xf32>
  }
  // CHECK: func.func private @AsLarge_elementwise_0(
  // CHECK-SAME: tilewright.explain = ["a kernel of its own: on CPUs, operands of products that take no less to read than the operand are computed once, before"]
  func.func @AsLarge(%a: tensor<?x?xf32>, %w: tensor<?x64xf32>, %e: tensor<?x64xf32>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%w : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
    ^bb0(%x: f32, %out: f32):
      %0 = arith.negf %x : f32
      linalg.yield %0 : f32
    } -> tensor<?x64xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %f : tensor<?x?xf32>, tensor<?x64xf32>) outs(%c : tensor<?x64xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %2 = arith.mulf %x, %y : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<?x64xf32>
    return %p : tensor<?x64xf32>
  }
}
