// RUN: tilewright-opt %s -tilewright-stage=name=configure | FileCheck %s

// A row that several ops run over, and that one block does not keep, is shared by the blocks of a cluster where there are
// clusters; one of more than eight blocks' parts is read again, and so is one of a length that is not known.
#row = affine_map<(m, n) -> (m, n)>
#kept = affine_map<(m, n) -> (m)>
#clusters = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, async_copy, tensor_copy, multicast}>
#none = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, index_bits = 32, async_copy}>
module {
module @with attributes {tilewright.target = #clusters} {
// CHECK-LABEL: func.func private @Shared(
// CHECK-SAME: the 8 blocks of a cluster share the 65000 elements along loop 1: each keeps its part in registers
// CHECK: linalg.generic {{.*}}strategy = reduction, block = [1, 8192], warps = [1, 8], cluster = [1, 8]>
func.func private @Shared(%x: tensor<?x65000xf32>, %o: tensor<?x65000xf32>) -> tensor<?x65000xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x65000xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x65000xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#row, #kept, #row], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<?x65000xf32>, tensor<?xf32>) outs(%o : tensor<?x65000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %t = arith.divf %in, %sum : f32
    linalg.yield %t : f32
  } -> tensor<?x65000xf32>
  return %r : tensor<?x65000xf32>
}
// CHECK-LABEL: func.func private @TooLong(
// CHECK-NOT: cluster = [
func.func private @TooLong(%x: tensor<?x300000xf32>, %o: tensor<?x300000xf32>) -> tensor<?x300000xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x300000xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x300000xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#row, #kept, #row], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<?x300000xf32>, tensor<?xf32>) outs(%o : tensor<?x300000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %t = arith.divf %in, %sum : f32
    linalg.yield %t : f32
  } -> tensor<?x300000xf32>
  return %r : tensor<?x300000xf32>
}
// CHECK-LABEL: func.func private @OneOp(
// CHECK-NOT: cluster = [
func.func private @OneOp(%x: tensor<?x65000xf32>, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  %s = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x65000xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %s : tensor<?xf32>
}
}
// CHECK-LABEL: module @without
// CHECK-NOT: cluster = [
module @without attributes {tilewright.target = #none} {
func.func private @Shared(%x: tensor<?x65000xf32>, %o: tensor<?x65000xf32>) -> tensor<?x65000xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x65000xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x65000xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#row, #kept, #row], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<?x65000xf32>, tensor<?xf32>) outs(%o : tensor<?x65000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %t = arith.divf %in, %sum : f32
    linalg.yield %t : f32
  } -> tensor<?x65000xf32>
  return %r : tensor<?x65000xf32>
}
}
}
