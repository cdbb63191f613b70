// RUN: tilewright-opt %s -tilewright-stage=name=configure | FileCheck %s

// A row that several ops run over, and that registers do not hold, stays in shared memory where that has room. The root's
// operand may be computed: what it is computed from stays. One that is longer, or of dynamic length, is read again.
#row = affine_map<(m, n) -> (m, n)>
#kept = affine_map<(m, n) -> (m)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, index_bits = 32, async_copy}>} {
// CHECK-LABEL: func.func private @Fits(
// CHECK-SAME: rows of operand 0 are read from memory once: the block keeps them in shared memory (160000 bytes in all), where asynchronous copies of 16 bytes a thread put them, steps ahead
// CHECK: linalg.generic {{.*}}strategy = reduction, {{.*}}promote = [0]>
func.func private @Fits(%x: tensor<?x40000xf32>, %o: tensor<?x40000xf32>) -> tensor<?x40000xf32> attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x40000xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %u = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x40000xf32>) outs(%o : tensor<?x40000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = math.exp %in : f32
    linalg.yield %t : f32
  } -> tensor<?x40000xf32>
  %s = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]} ins(%u : tensor<?x40000xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#row, #kept, #row], iterator_types = ["parallel", "parallel"]} ins(%u, %s : tensor<?x40000xf32>, tensor<?xf32>) outs(%o : tensor<?x40000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %t = arith.divf %in, %sum : f32
    linalg.yield %t : f32
  } -> tensor<?x40000xf32>
  return %r : tensor<?x40000xf32>
}
// CHECK-LABEL: func.func private @TooLong(
// CHECK-NOT: promote =
func.func private @TooLong(%x: tensor<?x50000xf32>, %o: tensor<?x50000xf32>) -> tensor<?x50000xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x50000xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x50000xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#row, #kept, #row], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<?x50000xf32>, tensor<?xf32>) outs(%o : tensor<?x50000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %t = arith.divf %in, %sum : f32
    linalg.yield %t : f32
  } -> tensor<?x50000xf32>
  return %r : tensor<?x50000xf32>
}
// CHECK-LABEL: func.func private @Dynamic(
// CHECK-NOT: promote =
func.func private @Dynamic(%x: tensor<4x?xf32>, %o: tensor<4x?xf32>) -> tensor<4x?xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x?xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#row, #kept, #row], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4x?xf32>, tensor<4xf32>) outs(%o : tensor<4x?xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %t = arith.divf %in, %sum : f32
    linalg.yield %t : f32
  } -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}
}
