// RUN: tilewright-opt %s -tilewright-unpack-sub-bytes | FileCheck %s

// Two elements a byte, the first in the low bits. What scales them works on the
// pairs; the product reads its result as it did.
// CHECK-DAG: #[[BYTES:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[HALF:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @Dequantize(
// CHECK-SAME: %[[W:.*]]: tensor<80x48xi8>
// CHECK: %[[SHIFTS:.*]] = arith.constant dense<[0, 4]> : tensor<2xi8>
// CHECK: %[[U:.*]] = linalg.generic {indexing_maps = [#[[BYTES]], #[[HALF]], #[[ALL]]]
// CHECK-SAME: ins(%[[W]], %[[SHIFTS]]
// CHECK: %[[LOW:.*]] = arith.shrui
// CHECK: %[[HIGH:.*]] = arith.shli %[[LOW]]
// CHECK: arith.shrsi %[[HIGH]]
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[U]], %{{.*}} : tensor<80x48x2xi8>, tensor<80xf16>)
// CHECK: arith.sitofp %{{.*}} : i8 to f16
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2]] : tensor<80x48x2xf16> into tensor<80x96xf16>
func.func @Dequantize(%w: tensor<80x96xi4>, %s: tensor<80xf16>, %o: tensor<80x96xf16>) -> tensor<80x96xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>, affine_map<(n, k) -> (n, k)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<80x96xi4>, tensor<80xf16>) outs(%o : tensor<80x96xf16>) {
  ^bb0(%x: i4, %scale: f16, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<80x96xf16>
  return %r : tensor<80x96xf16>
}

// A product of i4 is one of bytes.
// CHECK-LABEL: func.func @Product(
// CHECK-SAME: tensor<?x?xi8>, %{{.*}}: tensor<?x?xi8>
// CHECK: %[[A:.*]] = tensor.collapse_shape {{.*}} into tensor<?x?xi8>
// CHECK: %[[B:.*]] = tensor.collapse_shape {{.*}} into tensor<?x?xi8>
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<?x?xi8>, tensor<?x?xi8>)
// CHECK: arith.extsi %{{.*}} : i8 to i32
func.func @Product(%a: tensor<?x?xi4>, %b: tensor<?x?xi4>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xi4>, tensor<?x?xi4>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// Sizes are those of the elements.
// CHECK-LABEL: func.func @Sizes
// CHECK: %[[BYTES:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<?x?xi8>
// CHECK: arith.muli %[[BYTES]]
func.func @Sizes(%a: tensor<?x?xi4>) -> index {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %a, %c1 : tensor<?x?xi4>
  return %d : index
}

// CHECK-LABEL: func.func @Unsigned
// CHECK: arith.constant dense<[-127, -9]> : tensor<2xi8>
// CHECK: arith.andi
// CHECK: arith.extui %{{.*}} : i8 to i32
func.func @Unsigned(%o: tensor<4xi32>) -> tensor<4xi32> {
  %k = arith.constant dense<[1, -8, 7, -1]> : tensor<4xi4>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%k : tensor<4xi4>) outs(%o : tensor<4xi32>) {
  ^bb0(%x: i4, %out: i32):
    %v = arith.extui %x : i4 to i32
    linalg.yield %v : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// Reshapes of i4 are reshapes of bytes.
// CHECK-LABEL: func.func @Reshape
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2]] output_shape [2, 32, 4] : tensor<64x4xi8> into tensor<2x32x4xi8>
func.func @Reshape(%w: tensor<64x8xi4>, %o: tensor<2x32x8xf16>) -> tensor<2x32x8xf16> {
  %g = tensor.expand_shape %w [[0, 1], [2]] output_shape [2, 32, 8] : tensor<64x8xi4> into tensor<2x32x8xi4>
  %r = linalg.generic {indexing_maps = [affine_map<(g, k, n) -> (g, k, n)>, affine_map<(g, k, n) -> (g, k, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%g : tensor<2x32x8xi4>) outs(%o : tensor<2x32x8xf16>) {
  ^bb0(%x: i4, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    linalg.yield %f : f16
  } -> tensor<2x32x8xf16>
  return %r : tensor<2x32x8xf16>
}

// Rows that do not end where bytes do: all of it is one row.
// CHECK-LABEL: func.func @OddRows(
// CHECK-SAME: %[[W:.*]]: tensor<8xi8>
// CHECK: %[[U:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<3x5xi8>)
// CHECK-DAG: %[[I:.*]] = linalg.index 0
// CHECK-DAG: %[[J:.*]] = linalg.index 1
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %[[J]]
// CHECK: %[[PLACE:.*]] = arith.shrui %[[AT]]
// CHECK: %[[BYTE:.*]] = tensor.extract %[[W]][%[[PLACE]]]
// CHECK: %[[LOW:.*]] = arith.shrui %[[BYTE]]
// CHECK: arith.shrsi
// CHECK: linalg.generic {{.*}} ins(%[[U]] : tensor<3x5xi8>)
// CHECK: arith.sitofp %{{.*}} : i8 to f32
func.func @OddRows(%w: tensor<3x5xi4>, %o: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<3x5xi4>) outs(%o : tensor<3x5xf32>) {
  ^bb0(%x: i4, %out: f32):
    %f = arith.sitofp %x : i4 to f32
    linalg.yield %f : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// One element of a constant, and of an argument, whose rows end where bytes do.
// CHECK-LABEL: func.func @Elements(
// CHECK-SAME: %[[W:.*]]: tensor<?x3xi8>, %[[I:.*]]: index, %[[J:.*]]: index
// CHECK: arith.constant dense<[-15, 7]> : tensor<2xi8>
// CHECK: %[[PLACE:.*]] = arith.shrui %[[J]]
// CHECK: tensor.extract %[[W]][%[[I]], %[[PLACE]]] : tensor<?x3xi8>
// CHECK: arith.andi
// CHECK: arith.extui %{{.*}} : i8 to i32
func.func @Elements(%w: tensor<?x6xi4>, %i: index, %j: index) -> (i32, i32) {
  %k = arith.constant dense<[1, -1, 7]> : tensor<3xi4>
  %a = tensor.extract %w[%i, %j] : tensor<?x6xi4>
  %b = tensor.extract %k[%j] : tensor<3xi4>
  %x = arith.extui %a : i4 to i32
  %y = arith.extsi %b : i4 to i32
  return %x, %y : i32, i32
}

// Four elements a byte, from the lowest bits on.
// CHECK-LABEL: func.func @Quarters(
// CHECK-SAME: %[[W:.*]]: tensor<80x24xi8>
// CHECK: %[[SHIFTS:.*]] = arith.constant dense<[0, 2, 4, 6]> : tensor<4xi8>
// CHECK: %[[U:.*]] = linalg.generic
// CHECK-SAME: ins(%[[W]], %[[SHIFTS]]
// CHECK: %[[LOW:.*]] = arith.shrui
// CHECK: %[[HIGH:.*]] = arith.shli %[[LOW]], %c6_i8
// CHECK: arith.shrsi %[[HIGH]], %c6_i8
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[U]] : tensor<80x24x4xi8>)
// CHECK: arith.sitofp %{{.*}} : i8 to f16
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2]] : tensor<80x24x4xf16> into tensor<80x96xf16>
func.func @Quarters(%w: tensor<80x96xi2>, %o: tensor<80x96xf16>) -> tensor<80x96xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<80x96xi2>) outs(%o : tensor<80x96xf16>) {
  ^bb0(%x: i2, %out: f16):
    %f = arith.sitofp %x : i2 to f16
    linalg.yield %f : f16
  } -> tensor<80x96xf16>
  return %r : tensor<80x96xf16>
}

// A constant, of rows that do not end where bytes do: 1, -2, 0, -1 and 1, -2.
// CHECK-LABEL: func.func @Row(
// CHECK: arith.constant dense<[-55, 9]> : tensor<2xi8>
// CHECK: arith.shrui %{{.*}}, %c2{{.*}} : index
// CHECK: arith.andi %{{.*}}, %c3_i8
func.func @Row(%o: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %w = arith.constant dense<[[1, -2, 0], [-1, 1, -2]]> : tensor<2x3xi2>
  %r = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<2x3xi2>) outs(%o : tensor<2x3xi32>) {
  ^bb0(%x: i2, %out: i32):
    %f = arith.extui %x : i2 to i32
    linalg.yield %f : i32
  } -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}
