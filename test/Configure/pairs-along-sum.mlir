// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

// Two elements of the sum lie in a byte: where it is too short for panels, or the columns are too few, a step takes two of it.
#target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, l1_bytes = 32768, l2_bytes = 1048576, thread_memory = 1048576}>
#id = affine_map<(n, k) -> (n, k)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tilewright.target = #target} {
// CHECK-LABEL: func.func private @Short(
// CHECK: = linalg.contract {{.*}}block = [{{[0-9]+, [0-9]+}}, 2], thread = [{{[0-9]+, [0-9]+}}, 1]>
func.func private @Short(%a: tensor<6x6xf16>, %w: tensor<28x3xi8>, %o: tensor<6x28xf16>) -> tensor<6x28xf16> attributes {tilewright.kernel} {
  %u = tilewright.unpack %w : tensor<28x3xi8> to tensor<28x6xi8>
  %e = tensor.empty() : tensor<28x6xf16>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%u : tensor<28x6xi8>) outs(%e : tensor<28x6xf16>) {
  ^bb0(%in: i8, %out: f16):
    %f = arith.sitofp %in : i8 to f16
    linalg.yield %f : f16
  } -> tensor<28x6xf16>
  %r = linalg.contract indexing_maps = [#mk, #nk, #mn] ins(%a, %d : tensor<6x6xf16>, tensor<28x6xf16>) outs(%o : tensor<6x28xf16>) -> tensor<6x28xf16>
  return %r : tensor<6x28xf16>
}
// CHECK-LABEL: func.func private @Long(
// CHECK: = linalg.contract {{.*}}promote = [1]>
func.func private @Long(%a: tensor<16x96xf16>, %w: tensor<80x48xi8>, %o: tensor<16x80xf16>) -> tensor<16x80xf16> attributes {tilewright.kernel} {
  %u = tilewright.unpack %w : tensor<80x48xi8> to tensor<80x96xi8>
  %e = tensor.empty() : tensor<80x96xf16>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%u : tensor<80x96xi8>) outs(%e : tensor<80x96xf16>) {
  ^bb0(%in: i8, %out: f16):
    %f = arith.sitofp %in : i8 to f16
    linalg.yield %f : f16
  } -> tensor<80x96xf16>
  %r = linalg.contract indexing_maps = [#mk, #nk, #mn] ins(%a, %d : tensor<16x96xf16>, tensor<80x96xf16>) outs(%o : tensor<16x80xf16>) -> tensor<16x80xf16>
  return %r : tensor<16x80xf16>
}
}
