// RUN: tilewright-opt %s -split-input-file -tilewright-specialize | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 65536, registers = 255, access_bytes = 16}>} {

// Few rows first; the number of rows is read off the first operand that has it.
// CHECK: func private @rows_upto1({{.*}} tilewright.at_most = array<i64: 0, 0, 1>, {{.*}}tilewright.variant_of = "rows"
// CHECK: func private @rows_upto16({{.*}} tilewright.at_most = array<i64: 0, 0, 16>, {{.*}}tilewright.variant_of = "rows"
// CHECK: func private @rows_upto64({{.*}} tilewright.at_most = array<i64: 0, 0, 64>, {{.*}}tilewright.variant_of = "rows"
// CHECK-NOT: at_most
// CHECK: func private @rows(
func.func private @rows(%a: tensor<?x512xf32>, %b: tensor<512x64xf32>, %c: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x512xf32>, tensor<512x64xf32>) outs(%c : tensor<?x64xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// Sizes that are known need none; a sum of any length is no side of the product.
// CHECK-NOT: at_most
// CHECK: func private @known(
func.func private @known(%a: tensor<32x?xf32>, %b: tensor<?x64xf32>, %c: tensor<32x64xf32>) -> tensor<32x64xf32>
    attributes {tilewright.kernel, tilewright.index_bits = 64 : i64, tilewright.access = ["read", "read", "readwrite"]} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x?xf32>, tensor<?x64xf32>) outs(%c : tensor<32x64xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<32x64xf32>
  return %r : tensor<32x64xf32>
}

// Images of 56 rows of pixels fill tiles by themselves: no variants for the batch.
// CHECK-NOT: at_most
// CHECK: func private @images(
func.func private @images(%a: tensor<?x56x64xf32>, %b: tensor<64x32xf32>, %c: tensor<?x56x32xf32>) -> tensor<?x56x32xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
  %r = linalg.generic {indexing_maps = [affine_map<(i, m, n, k) -> (i, m, k)>, affine_map<(i, m, n, k) -> (k, n)>, affine_map<(i, m, n, k) -> (i, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x56x64xf32>, tensor<64x32xf32>) outs(%c : tensor<?x56x32xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<?x56x32xf32>
  return %r : tensor<?x56x32xf32>
}
}

// -----

// Where warpgroups multiply, some hundred rows have schedules of their own, and sums of few may be those of clusters; f32 has no
// such instructions.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 65536, registers = 255, access_bytes = 16, multicast, warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
// CHECK: func private @warpgroups_upto1(
// CHECK: func private @warpgroups_upto16({{.*}} tilewright.at_most = array<i64: 0, 0, 16>
// CHECK: linalg.generic {{.*}}tilewright.cluster_sum
// CHECK: func private @warpgroups_upto64(
// CHECK: func private @warpgroups_upto128(
// CHECK: func private @warpgroups_upto256(
// CHECK: func private @warpgroups_upto512({{.*}} tilewright.at_most = array<i64: 0, 0, 512>
// CHECK: func private @warpgroups(
// CHECK-NOT: tilewright.cluster_sum
// CHECK: func private @wide_upto64({{.*}} tilewright.at_most = array<i64: 0, 0, 64>
// CHECK-NOT: at_most
// CHECK: func private @wide(
func.func private @warpgroups(%a: tensor<?x512xf16>, %b: tensor<512x64xf16>, %c: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x512xf16>, tensor<512x64xf16>) outs(%c : tensor<?x64xf32>) {
    ^bb0(%x: f16, %y: f16, %s: f32):
      %v = arith.extf %x : f16 to f32
      %w = arith.extf %y : f16 to f32
      %p = arith.mulf %v, %w : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
func.func private @wide(%a: tensor<?x512xf32>, %b: tensor<512x64xf32>, %c: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x512xf32>, tensor<512x64xf32>) outs(%c : tensor<?x64xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
}
