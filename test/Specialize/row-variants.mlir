// RUN: tilewright-opt %s -tilewright-specialize | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 69632, registers = 255, access_bytes = 16}>} {

// Rows that are read twice have variants for those that fit in registers and in shared memory; there is an element in each.
// CHECK: func private @rows_aligned_upto1024({{.*}} tilewright.at_least = array<i64: 0, 1, 1>, tilewright.at_most = array<i64: 0, 1, 1024>, tilewright.divisible = array<i64: 0, 1, 4, 1, 1, 4>, {{.*}}tilewright.variant_of = "rows"
// CHECK: func private @rows_aligned_upto8192({{.*}} tilewright.at_most = array<i64: 0, 1, 8192>
// CHECK: func private @rows_aligned_upto16384({{.*}} tilewright.at_most = array<i64: 0, 1, 16384>
// CHECK: func private @rows_aligned(
// CHECK-NOT: at_most
// Those that begin anywhere have as many, behind it.
// CHECK: func private @rows_upto1024({{.*}} tilewright.at_least = array<i64: 0, 1, 1>, tilewright.at_most = array<i64: 0, 1, 1024>, {{.*}}tilewright.variant_of = "rows"
// CHECK: func private @rows_upto8192({{.*}} tilewright.at_most = array<i64: 0, 1, 8192>
// CHECK: func private @rows_upto16384({{.*}} tilewright.at_most = array<i64: 0, 1, 16384>
// CHECK: func private @rows(
func.func private @rows(%x: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%o : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %t = arith.divf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Rows that are read once do not stay.
// CHECK: func private @once_aligned(
// CHECK-NOT: at_most
// CHECK: func private @once(
func.func private @once(%x: tensor<?x?xf32>, %o: tensor<?xf32>) -> tensor<?xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// Beside rows of another width a step's elements move between threads through shared memory: the longest rows leave room for that.
// CHECK: func private @mixed_aligned_upto1024(
// CHECK: func private @mixed_aligned_upto8192(
// CHECK: func private @mixed_aligned_upto14336(
// CHECK: func private @mixed_aligned(
func.func private @mixed(%x: tensor<?x?xf32>, %y: tensor<?xf16>, %o: tensor<?x?xf32>) -> tensor<?x?xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#ij, #i, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %y : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf16>) outs(%o : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %d: f16, %c: f32):
      %w = arith.extf %d : f16 to f32
      %t = arith.divf %a, %b : f32
      %u = arith.addf %t, %w : f32
      linalg.yield %u : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
}
