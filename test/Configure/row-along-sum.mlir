// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

// One row by a matrix that lies along the sum is a reduction, whose vectors are rows of the matrix; many rows, and one by a matrix
// that lies along the result, are contractions.
#target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, l1_bytes = 32768, l2_bytes = 1048576, thread_memory = 1048576}>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tilewright.target = #target} {
// CHECK-LABEL: func.func private @Along_upto1(
// CHECK: = linalg.contract {{.*}}strategy = reduction
func.func private @Along_upto1(%a: tensor<?x512xf32>, %b: tensor<256x512xf32>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {tilewright.kernel, tilewright.variant_of = "Along", tilewright.at_most = array<i64: 0, 0, 1>} {
  %r = linalg.contract indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<?x512xf32>, tensor<256x512xf32>) outs(%o : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
// CHECK-LABEL: func.func private @Along(
// CHECK: = linalg.contract {{.*}}strategy = simt_contraction
func.func private @Along(%a: tensor<?x512xf32>, %b: tensor<256x512xf32>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {tilewright.kernel} {
  %r = linalg.contract indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<?x512xf32>, tensor<256x512xf32>) outs(%o : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
// CHECK-LABEL: func.func private @Across_upto1(
// CHECK: = linalg.contract {{.*}}strategy = simt_contraction
func.func private @Across_upto1(%a: tensor<?x512xf32>, %b: tensor<512x256xf32>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {tilewright.kernel, tilewright.variant_of = "Across", tilewright.at_most = array<i64: 0, 0, 1>} {
  %r = linalg.contract indexing_maps = [#mk, #kn, #mn] ins(%a, %b : tensor<?x512xf32>, tensor<512x256xf32>) outs(%o : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func private @Across(%a: tensor<?x512xf32>, %b: tensor<512x256xf32>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {tilewright.kernel} {
  %r = linalg.contract indexing_maps = [#mk, #kn, #mn] ins(%a, %b : tensor<?x512xf32>, tensor<512x256xf32>) outs(%o : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
}
