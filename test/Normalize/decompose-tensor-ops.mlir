// RUN: tilewright-opt %s -tilewright-decompose-tensor-ops | FileCheck %s

// A pack reads its source, padded where tiles are not full, through sums of tile
// and place in the tile.
// CHECK: #[[READ:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 * 8 + d3, d0 * 4 + d2)>
// CHECK-LABEL: func.func @Pack(
// CHECK: %[[P:.*]] = tensor.pad %{{.*}} low[0, 0] high[2, 3]
// CHECK: tensor<30x21xf32> to tensor<32x24xf32>
// CHECK: linalg.generic {indexing_maps = [#[[READ]],
// CHECK-SAME: ins(%[[P]] : tensor<32x24xf32>) outs(%{{.*}} : tensor<6x4x4x8xf32>)
func.func @Pack(%x: tensor<30x21xf32>, %d: tensor<6x4x4x8xf32>, %v: f32) -> tensor<6x4x4x8xf32> {
  %r = linalg.pack %x padding_value(%v : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 8] into %d : tensor<30x21xf32> -> tensor<6x4x4x8xf32>
  return %r : tensor<6x4x4x8xf32>
}

// CHECK-LABEL: func.func @Unpack(
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
// CHECK: tensor.extract_slice
func.func @Unpack(%x: tensor<4x3x8x8xf32>, %d: tensor<30x21xf32>) -> tensor<30x21xf32> {
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %d : tensor<4x3x8x8xf32> -> tensor<30x21xf32>
  return %r : tensor<30x21xf32>
}

// CHECK-LABEL: func.func @Generate(
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: arith.muli %[[I]], %[[J]]
func.func @Generate(%n: index) -> tensor<?x5xi32> {
  %r = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %k = arith.muli %i, %j : index
    %v = arith.index_cast %k : index to i32
    tensor.yield %v : i32
  } : tensor<?x5xi32>
  return %r : tensor<?x5xi32>
}

// One value stays a view; others are computed, and the source put among them.
// CHECK-LABEL: func.func @Pads(
// CHECK: tensor.pad
// CHECK-NOT: tensor.pad
// CHECK: %[[W:.*]] = linalg.generic
// CHECK: tensor.insert_slice %{{.*}} into %[[W]][1] [7] [1]
func.func @Pads(%x: tensor<7xi32>, %v: i32) -> (tensor<9xi32>, tensor<9xi32>) {
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : i32
  } : tensor<7xi32> to tensor<9xi32>
  %s = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %k = arith.index_cast %i : index to i32
    tensor.yield %k : i32
  } : tensor<7xi32> to tensor<9xi32>
  return %r, %s : tensor<9xi32>, tensor<9xi32>
}

// CHECK-LABEL: func.func @Reshape(
// CHECK: tensor.extract
// CHECK: cf.assert %{{.*}}, "tensor.reshape: the new shape has another number of elements"
// CHECK: %[[F:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1]]
// CHECK: tensor.expand_shape %[[F]] {{\[}}[0, 1, 2]]
func.func @Reshape(%x: tensor<?x?xf32>, %s: tensor<3xi64>) -> tensor<?x?x?xf32> {
  %r = tensor.reshape %x(%s) : (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// Tiles of a size that the run decides: elements are computed, and the host checks it.
// CHECK-LABEL: func.func @PackByRun(
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %arg2, %{{.*}} : index
// CHECK: cf.assert %[[SAME]], "linalg.pack: a tile has another size than the packed tensor's dim"
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[B:.*]] = linalg.index 1
// CHECK: %[[FIRST:.*]] = arith.muli %[[I]], %arg2
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[B]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[AT]]
// CHECK: scf.if %[[INSIDE]]
// CHECK: tensor.extract %arg0[%[[AT]]]
func.func @PackByRun(%x: tensor<?xf32>, %d: tensor<?x?xf32>, %t: index, %v: f32) -> tensor<?x?xf32> {
  %r = linalg.pack %x padding_value(%v : f32) inner_dims_pos = [0] inner_tiles = [%t] into %d : tensor<?xf32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @UnpackByRun(
// CHECK: cf.assert %{{.*}}, "linalg.unpack: the result has more elements than the tiles"
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK-DAG: %[[OUTER:.*]] = arith.divui %[[I]], %arg2
// CHECK-DAG: %[[INNER:.*]] = arith.remui %[[I]], %arg2
// CHECK: tensor.extract %arg0[%[[OUTER]], %[[INNER]]]
func.func @UnpackByRun(%x: tensor<?x?xf32>, %d: tensor<?xf32>, %t: index) -> tensor<?xf32> {
  %r = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [%t] into %d : tensor<?x?xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}
