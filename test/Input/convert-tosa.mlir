// RUN: tilewright-opt %s -tilewright-convert-tosa | FileCheck %s

// Named ops stay named, and broadcasts are maps.
// CHECK-LABEL: func.func @MatmulBias(
// CHECK: linalg.batch_matmul
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK-NOT: tosa.
func.func @MatmulBias(%a: tensor<2x5x7xf32>, %b: tensor<2x7x9xf32>, %c: tensor<1x1x9xf32>) -> tensor<2x5x9xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %p = tosa.matmul %a, %b, %zero, %zero : (tensor<2x5x7xf32>, tensor<2x7x9xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x9xf32>
  %r = tosa.add %p, %c : (tensor<2x5x9xf32>, tensor<1x1x9xf32>) -> tensor<2x5x9xf32>
  return %r : tensor<2x5x9xf32>
}

// What quantised ops scale with is arithmetic of their bodies.
// CHECK-LABEL: func.func @Rescale(
// CHECK: linalg.generic
// CHECK: arith.muli
// CHECK: arith.shrsi
// CHECK: linalg.yield %{{.*}} : i8
// CHECK-NOT: tosa.
func.func @Rescale(%x: tensor<13x21xi32>) -> tensor<13x21xi8> {
  %m = "tosa.const"() <{values = dense<19689> : tensor<1xi16>}> : () -> tensor<1xi16>
  %s = "tosa.const"() <{values = dense<15> : tensor<1xi8>}> : () -> tensor<1xi8>
  %i = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %o = "tosa.const"() <{values = dense<22> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = tosa.rescale %x, %m, %s, %i, %o {scale32 = false, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<13x21xi32>, tensor<1xi16>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<13x21xi8>
  return %r : tensor<13x21xi8>
}

// Shapes that were operands are gone.
// CHECK-LABEL: func.func @Tile(
// CHECK: linalg.generic
// CHECK: tensor.collapse_shape
// CHECK-NOT: tosa.
func.func @Tile(%x: tensor<2x3xf32>) -> tensor<4x9xf32> {
  %s = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.tile %x, %s : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<4x9xf32>
  return %r : tensor<4x9xf32>
}

// CHECK-LABEL: func.func @NoTosa(
// CHECK: tensor.empty
func.func @NoTosa() {
  %e = tensor.empty() : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @Scatter(
// CHECK: %[[PAIRS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x?x2xi32>)
// CHECK: tilewright.scatter ins(%arg2, %[[PAIRS]] : {{.*}}) outs(%arg0 : {{.*}}) {dims = array<i64: 0, 1>, unique}
func.func @Scatter(%v: tensor<2x12x5xf32>, %i: tensor<2x?xi32>, %u: tensor<2x?x5xf32>) -> tensor<2x12x5xf32> {
  %r = tosa.scatter %v, %i, %u : (tensor<2x12x5xf32>, tensor<2x?xi32>, tensor<2x?x5xf32>) -> tensor<2x12x5xf32>
  return %r : tensor<2x12x5xf32>
}
