// RUN: tilewright-opt %s -tilewright-tile | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16}>
#config = #tilewright.lowering_config<strategy = streaming, block = [8, 32], warps = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>

module attributes {tilewright.target = #target} {

// A column that is read the other way round is inside.
// CHECK-LABEL: func.func private @Reversed(
// CHECK: tensor.extract %{{.*}} {tilewright.column_inside}
func.func private @Reversed(%x: tensor<64x128xf32>, %o: tensor<64x128xf32>) -> tensor<64x128xf32>
    attributes {tilewright.kernel} {
  %last = arith.constant 127 : index
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"], tilewright.lowering_config = #config}
       outs(%o : tensor<64x128xf32>) {
  ^bb0(%b: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.subi %last, %j : index
    %e = tensor.extract %x[%i, %c] : tensor<64x128xf32>
    linalg.yield %e : f32
  } -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// Of loops of unknown extents nothing is taken for granted, however long the row.
// CHECK-LABEL: func.func private @Unknown(
// CHECK: tensor.extract
// CHECK-NOT: column_inside
func.func private @Unknown(%x: tensor<4x2147483648xi8>, %o: tensor<4x?xi8>) -> tensor<4x?xi8>
    attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"], tilewright.lowering_config = #config}
       outs(%o : tensor<4x?xi8>) {
  ^bb0(%b: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %e = tensor.extract %x[%i, %j] : tensor<4x2147483648xi8>
    linalg.yield %e : i8
  } -> tensor<4x?xi8>
  return %r : tensor<4x?xi8>
}
}
