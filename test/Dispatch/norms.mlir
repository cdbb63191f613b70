// A norm in front of a product is computed in the product's kernel where that costs less than a kernel of its own.
// RUN: tilewright-opt %s -tilewright-form-dispatches -split-input-file | FileCheck %s

#mk2 = affine_map<(m, k) -> (m, k)>
#m = affine_map<(m, k) -> (m)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#mkp = affine_map<(m, n, k, p) -> (m, k)>
#knp = affine_map<(m, n, k, p) -> (k, n)>
#pmn = affine_map<(m, n, k, p) -> (p, m, n)>
#config = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 64, 32], warps = [2, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">

// CHECK-LABEL: func.func @Fused
// CHECK: tilewright.dispatch @Fused_matmul_0(
// CHECK-NOT: tilewright.dispatch
// CHECK-LABEL: func.func @AnyRows
// CHECK: tilewright.dispatch @AnyRows_matmul_0(
// CHECK-NOT: tilewright.dispatch
// CHECK-LABEL: func.func @ManyRows
// CHECK: tilewright.dispatch @ManyRows_reduce_0(
// CHECK-LABEL: func.func private @Fused_matmul_0(
// CHECK-SAME: tensor<128x512xf16>, %{{.*}}: tensor<512x1536xf16>, %{{.*}}: tensor<128x1536xf32>
// CHECK-SAME: tilewright.explain = ["the rows of operand 0 of the product are reduced in its kernel, and normalised on their way into the tiles: 24 blocks read 65536 bytes of them in one pass again and normalise them in about 1.6 us; a kernel of its own takes about 3.2 us more than the product's alone, its launch included"]
// CHECK: %[[S:.*]] = linalg.generic {{.*}}"reduction"
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[S]] :
// CHECK: linalg.generic {{.*}} ins(%[[R]], %{{.*}} :
// CHECK-LABEL: func.func private @AnyRows_matmul_0(
// CHECK-SAME: 16 blocks (assumed) read 8192 bytes
// CHECK-LABEL: func.func private @ManyRows_reduce_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: the rows of operand 0 of the product are not reduced in its kernel: 3072 blocks read 65536 bytes of them in one pass again and normalise them in about 47.4 us; a kernel of its own takes about 27.5 us more than the product's alone, its launch included"]
// CHECK-LABEL: func.func private @LongRows_reduce_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: the rows of operand 0 of the product are not reduced in its kernel: 4 blocks read 8388608 bytes
// CHECK-LABEL: func.func private @AnySums_reduce_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: the rows of operand 0 of the product are not reduced in its kernel: how long they are is not known before the launch"]
// CHECK-LABEL: func.func private @FewRows_reduce_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: the rows of operand 0 of the product are not reduced in its kernel: the product has so few rows or columns that threads share its sums"]
// CHECK-LABEL: func.func private @ReadTwice_reduce_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: others than one operand of the product read it, too"]
// CHECK-LABEL: func.func private @InParts_reduce_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: the rows of operand 0 of the product are not reduced in its kernel: the product is computed in parts, and each would need all of its rows"]
// CHECK-LABEL: func.func private @Pinned_reduce_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: the rows of operand 0 of the product are not reduced in its kernel: a lowering config is pinned on it or on the product"]
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80 : i64, subgroup = 32 : i64, shared_memory = 166912 : i64, mma = ["mma.m16n8k16.f16.f32"]}>} {
  func.func @Fused(%x: tensor<128x512xf16>, %w: tensor<512x1536xf16>, %es: tensor<128xf32>, %e: tensor<128x512xf16>, %c: tensor<128x1536xf32>) -> tensor<128x1536xf32> {
    %zero = arith.constant 0.0 : f32
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<128x512xf16>) outs(%z : tensor<128xf32>) {
    ^bb0(%a: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %sum, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<128xf32>
    %r = linalg.generic {indexing_maps = [#mk2, #m, #mk2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<128x512xf16>, tensor<128xf32>) outs(%e : tensor<128x512xf16>) {
    ^bb0(%a: f16, %sum: f32, %out: f16):
      %0 = math.rsqrt %sum : f32
      %1 = arith.extf %a : f16 to f32
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.truncf %2 : f32 to f16
      linalg.yield %3 : f16
    } -> tensor<128x512xf16>
    %zc = linalg.fill ins(%zero : f32) outs(%c : tensor<128x1536xf32>) -> tensor<128x1536xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%r, %w : tensor<128x512xf16>, tensor<512x1536xf16>) outs(%zc : tensor<128x1536xf32>) {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x1536xf32>
    return %p : tensor<128x1536xf32>
  }
  func.func @AnyRows(%x: tensor<?x64xf16>, %w: tensor<64x64xf16>, %es: tensor<?xf32>, %e: tensor<?x64xf16>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %zero = arith.constant 0.0 : f32
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<?xf32>) -> tensor<?xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x64xf16>) outs(%z : tensor<?xf32>) {
    ^bb0(%a: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %sum, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<?xf32>
    %r = linalg.generic {indexing_maps = [#mk2, #m, #mk2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<?x64xf16>, tensor<?xf32>) outs(%e : tensor<?x64xf16>) {
    ^bb0(%a: f16, %sum: f32, %out: f16):
      %0 = math.rsqrt %sum : f32
      %1 = arith.extf %a : f16 to f32
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.truncf %2 : f32 to f16
      linalg.yield %3 : f16
    } -> tensor<?x64xf16>
    %zc = linalg.fill ins(%zero : f32) outs(%c : tensor<?x64xf32>) -> tensor<?x64xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%r, %w : tensor<?x64xf16>, tensor<64x64xf16>) outs(%zc : tensor<?x64xf32>) {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<?x64xf32>
    return %p : tensor<?x64xf32>
  }
  func.func @ManyRows(%x: tensor<16384x512xf16>, %w: tensor<512x1536xf16>, %es: tensor<16384xf32>, %e: tensor<16384x512xf16>, %c: tensor<16384x1536xf32>) -> tensor<16384x1536xf32> {
    %zero = arith.constant 0.0 : f32
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<16384xf32>) -> tensor<16384xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<16384x512xf16>) outs(%z : tensor<16384xf32>) {
    ^bb0(%a: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %sum, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<16384xf32>
    %r = linalg.generic {indexing_maps = [#mk2, #m, #mk2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<16384x512xf16>, tensor<16384xf32>) outs(%e : tensor<16384x512xf16>) {
    ^bb0(%a: f16, %sum: f32, %out: f16):
      %0 = math.rsqrt %sum : f32
      %1 = arith.extf %a : f16 to f32
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.truncf %2 : f32 to f16
      linalg.yield %3 : f16
    } -> tensor<16384x512xf16>
    %zc = linalg.fill ins(%zero : f32) outs(%c : tensor<16384x1536xf32>) -> tensor<16384x1536xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%r, %w : tensor<16384x512xf16>, tensor<512x1536xf16>) outs(%zc : tensor<16384x1536xf32>) {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<16384x1536xf32>
    return %p : tensor<16384x1536xf32>
  }
  func.func @LongRows(%x: tensor<128x65536xf16>, %w: tensor<65536x256xf16>, %es: tensor<128xf32>, %e: tensor<128x65536xf16>, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
    %zero = arith.constant 0.0 : f32
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<128x65536xf16>) outs(%z : tensor<128xf32>) {
    ^bb0(%a: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %sum, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<128xf32>
    %r = linalg.generic {indexing_maps = [#mk2, #m, #mk2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<128x65536xf16>, tensor<128xf32>) outs(%e : tensor<128x65536xf16>) {
    ^bb0(%a: f16, %sum: f32, %out: f16):
      %0 = math.rsqrt %sum : f32
      %1 = arith.extf %a : f16 to f32
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.truncf %2 : f32 to f16
      linalg.yield %3 : f16
    } -> tensor<128x65536xf16>
    %zc = linalg.fill ins(%zero : f32) outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%r, %w : tensor<128x65536xf16>, tensor<65536x256xf16>) outs(%zc : tensor<128x256xf32>) {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x256xf32>
    return %p : tensor<128x256xf32>
  }
  func.func @AnySums(%x: tensor<128x?xf16>, %w: tensor<?x64xf16>, %es: tensor<128xf32>, %e: tensor<128x?xf16>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
    %zero = arith.constant 0.0 : f32
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<128x?xf16>) outs(%z : tensor<128xf32>) {
    ^bb0(%a: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %sum, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<128xf32>
    %r = linalg.generic {indexing_maps = [#mk2, #m, #mk2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<128x?xf16>, tensor<128xf32>) outs(%e : tensor<128x?xf16>) {
    ^bb0(%a: f16, %sum: f32, %out: f16):
      %0 = math.rsqrt %sum : f32
      %1 = arith.extf %a : f16 to f32
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.truncf %2 : f32 to f16
      linalg.yield %3 : f16
    } -> tensor<128x?xf16>
    %zc = linalg.fill ins(%zero : f32) outs(%c : tensor<128x64xf32>) -> tensor<128x64xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%r, %w : tensor<128x?xf16>, tensor<?x64xf16>) outs(%zc : tensor<128x64xf32>) {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x64xf32>
    return %p : tensor<128x64xf32>
  }
  func.func @FewRows(%x: tensor<4x512xf16>, %w: tensor<512x1536xf16>, %es: tensor<4xf32>, %e: tensor<4x512xf16>, %c: tensor<4x1536xf32>) -> tensor<4x1536xf32> {
    %zero = arith.constant 0.0 : f32
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<4xf32>) -> tensor<4xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4x512xf16>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %sum, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<4xf32>
    %r = linalg.generic {indexing_maps = [#mk2, #m, #mk2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<4x512xf16>, tensor<4xf32>) outs(%e : tensor<4x512xf16>) {
    ^bb0(%a: f16, %sum: f32, %out: f16):
      %0 = math.rsqrt %sum : f32
      %1 = arith.extf %a : f16 to f32
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.truncf %2 : f32 to f16
      linalg.yield %3 : f16
    } -> tensor<4x512xf16>
    %zc = linalg.fill ins(%zero : f32) outs(%c : tensor<4x1536xf32>) -> tensor<4x1536xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%r, %w : tensor<4x512xf16>, tensor<512x1536xf16>) outs(%zc : tensor<4x1536xf32>) {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x1536xf32>
    return %p : tensor<4x1536xf32>
  }
  func.func @ReadTwice(%x: tensor<128x512xf16>, %w: tensor<512x1536xf16>, %es: tensor<128xf32>, %e: tensor<128x512xf16>, %c: tensor<128x1536xf32>) -> (tensor<128x1536xf32>, tensor<128x512xf16>) {
    %zero = arith.constant 0.0 : f32
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<128x512xf16>) outs(%z : tensor<128xf32>) {
    ^bb0(%a: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %sum, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<128xf32>
    %r = linalg.generic {indexing_maps = [#mk2, #m, #mk2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<128x512xf16>, tensor<128xf32>) outs(%e : tensor<128x512xf16>) {
    ^bb0(%a: f16, %sum: f32, %out: f16):
      %0 = math.rsqrt %sum : f32
      %1 = arith.extf %a : f16 to f32
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.truncf %2 : f32 to f16
      linalg.yield %3 : f16
    } -> tensor<128x512xf16>
    %zc = linalg.fill ins(%zero : f32) outs(%c : tensor<128x1536xf32>) -> tensor<128x1536xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%r, %w : tensor<128x512xf16>, tensor<512x1536xf16>) outs(%zc : tensor<128x1536xf32>) {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x1536xf32>
    return %p, %r : tensor<128x1536xf32>, tensor<128x512xf16>
  }
  func.func @InParts(%x: tensor<128x2048xf16>, %w: tensor<2048x512xf16>, %es: tensor<128xf32>, %e: tensor<128x2048xf16>, %c: tensor<4x128x512xf32>) -> tensor<4x128x512xf32> {
    %zero = arith.constant 0.0 : f32
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<128x2048xf16>) outs(%z : tensor<128xf32>) {
    ^bb0(%a: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<128xf32>
    %r = linalg.generic {indexing_maps = [#mk2, #m, #mk2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<128x2048xf16>, tensor<128xf32>) outs(%e : tensor<128x2048xf16>) {
    ^bb0(%a: f16, %sum: f32, %out: f16):
      %0 = arith.truncf %sum : f32 to f16
      %1 = arith.divf %a, %0 : f16
      linalg.yield %1 : f16
    } -> tensor<128x2048xf16>
    %zc = linalg.fill ins(%zero : f32) outs(%c : tensor<4x128x512xf32>) -> tensor<4x128x512xf32>
    %p = linalg.generic {indexing_maps = [#mkp, #knp, #pmn], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
        ins(%r, %w : tensor<128x2048xf16>, tensor<2048x512xf16>) outs(%zc : tensor<4x128x512xf32>) attrs = {tilewright.split = array<i64: 2, 256>} {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x128x512xf32>
    return %p : tensor<4x128x512xf32>
  }
  func.func @Pinned(%x: tensor<128x512xf16>, %w: tensor<512x1536xf16>, %es: tensor<128xf32>, %e: tensor<128x512xf16>, %c: tensor<128x1536xf32>) -> tensor<128x1536xf32> {
    %zero = arith.constant 0.0 : f32
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<128x512xf16>) outs(%z : tensor<128xf32>) {
    ^bb0(%a: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %sum, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<128xf32>
    %r = linalg.generic {indexing_maps = [#mk2, #m, #mk2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<128x512xf16>, tensor<128xf32>) outs(%e : tensor<128x512xf16>) {
    ^bb0(%a: f16, %sum: f32, %out: f16):
      %0 = math.rsqrt %sum : f32
      %1 = arith.extf %a : f16 to f32
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.truncf %2 : f32 to f16
      linalg.yield %3 : f16
    } -> tensor<128x512xf16>
    %zc = linalg.fill ins(%zero : f32) outs(%c : tensor<128x1536xf32>) -> tensor<128x1536xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%r, %w : tensor<128x512xf16>, tensor<512x1536xf16>) outs(%zc : tensor<128x1536xf32>) attrs = {tilewright.lowering_config = #config} {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x1536xf32>
    return %p : tensor<128x1536xf32>
  }
}

// -----

#mk2 = affine_map<(m, k) -> (m, k)>
#m = affine_map<(m, k) -> (m)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func private @OnCpu_reduce_0(
// CHECK-SAME: tilewright.explain = ["a kernel of its own: the rows of operand 0 of the product are not reduced in its kernel: on CPUs, a launch costs less than reading them again"]
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v3", "cpu", {vector_bytes = 32 : i64}>} {
  func.func @OnCpu(%x: tensor<128x512xf16>, %w: tensor<512x1536xf16>, %es: tensor<128xf32>, %e: tensor<128x512xf16>, %c: tensor<128x1536xf32>) -> tensor<128x1536xf32> {
    %zero = arith.constant 0.0 : f32
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<128x512xf16>) outs(%z : tensor<128xf32>) {
    ^bb0(%a: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %sum, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<128xf32>
    %r = linalg.generic {indexing_maps = [#mk2, #m, #mk2], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<128x512xf16>, tensor<128xf32>) outs(%e : tensor<128x512xf16>) {
    ^bb0(%a: f16, %sum: f32, %out: f16):
      %0 = math.rsqrt %sum : f32
      %1 = arith.extf %a : f16 to f32
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.truncf %2 : f32 to f16
      linalg.yield %3 : f16
    } -> tensor<128x512xf16>
    %zc = linalg.fill ins(%zero : f32) outs(%c : tensor<128x1536xf32>) -> tensor<128x1536xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%r, %w : tensor<128x512xf16>, tensor<512x1536xf16>) outs(%zc : tensor<128x1536xf32>) {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x1536xf32>
    return %p : tensor<128x1536xf32>
  }
}
