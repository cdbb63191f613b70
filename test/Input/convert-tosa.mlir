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

// CHECK-LABEL: func.func @TileOfAnySizes(
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x?x3x?xf32>)
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2, 3]] : tensor<2x?x3x?xf32> into tensor<?x?xf32>
func.func @TileOfAnySizes(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.tile %x, %s : (tensor<?x?xf32>, !tosa.shape<2>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
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

// Half-pixel centers: the first position is a quarter in front of the first element.
// CHECK-LABEL: func.func @ResizeFromInFront(
// CHECK: linalg.generic
// CHECK: %[[Y:.*]] = linalg.index 1
// CHECK: %[[V:.*]] = arith.index_cast %[[Y]]
// CHECK: %[[S:.*]] = arith.muli %[[V]],
// CHECK: %[[P:.*]] = arith.addi %[[S]], %[[THREE:.*]] : i32
// CHECK: %[[Q:.*]] = arith.divsi %[[P]], %{{.*}} : i32
// CHECK: arith.subi %[[Q]], %{{.*}} : i32
// CHECK-COUNT-4: tensor.extract %arg0
// CHECK: linalg.yield %{{.*}} : f32
func.func @ResizeFromInFront(%x: tensor<?x6x8x4xf32>) -> tensor<?x12x16x4xf32> {
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<-1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.resize %x, %scale, %offset, %border {mode = BILINEAR} : (tensor<?x6x8x4xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<?x12x16x4xf32>
  return %r : tensor<?x12x16x4xf32>
}

// Extrema begin with an infinity, which -3.4e38 is not.
// CHECK-LABEL: func.func @Largest(
// CHECK: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[INF]] : f32)
// CHECK: linalg.reduce
// CHECK: %[[EDGE:.*]] = arith.constant 0xFF800000 : f32
// CHECK: tensor.yield %[[EDGE]]
// CHECK: %[[FIRST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[FIRST]] : f32)
// CHECK: linalg.pooling_nhwc_max
func.func @Largest(%x: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x1xf32>, tensor<1x4x4x2xf32>) {
  %r = tosa.reduce_max %x {axis = 3 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32>
  %p = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 1, 1, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %r, %p : tensor<1x4x4x1xf32>, tensor<1x4x4x2xf32>
}

// A window that ignores NaN, and has nothing else, is NaN.
// CHECK-LABEL: func.func @LargestNumber(
// CHECK: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK: linalg.fill ins(%[[NAN]] : f32)
// CHECK: %[[MAX:.*]] = arith.maxnumf
// CHECK-NEXT: linalg.yield %[[MAX]]
func.func @LargestNumber(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32> {
  %p = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, nan_mode = IGNORE} : (tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32>
  return %p : tensor<1x3x3x2xf32>
}

// Floats of 8 bits are compared as f16.
// CHECK-LABEL: func.func @Float8(
// CHECK: arith.extf %{{.*}} : f8E4M3FN to f16
// CHECK: arith.cmpf {{.*}} : f16
// CHECK: linalg.pooling_nhwc_max {{.*}} : tensor<1x4x4x2xf16>
// CHECK: arith.truncf %{{.*}} : f16 to f8E4M3FN
func.func @Float8(%x: tensor<1x4x4x2xf8E4M3FN>) -> (tensor<1x4x2xi32>, tensor<1x3x3x2xf8E4M3FN>) {
  %i = tosa.argmax %x {axis = 1 : i32} : (tensor<1x4x4x2xf8E4M3FN>) -> tensor<1x4x2xi32>
  %p = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf8E4M3FN>) -> tensor<1x3x3x2xf8E4M3FN>
  return %i, %p : tensor<1x4x2xi32>, tensor<1x3x3x2xf8E4M3FN>
}

// Conditions of any rank.
// CHECK-LABEL: func.func @Conditions(
// CHECK: tensor.collapse_shape %arg0 [] : tensor<1x1xi1> into tensor<i1>
// CHECK: scf.if
// CHECK: scf.while
// CHECK: tensor.collapse_shape %{{.*}} [] : tensor<1xi1> into tensor<i1>
// CHECK-NOT: tosa.
func.func @Conditions(%c: tensor<1x1xi1>, %x: tensor<1xi32>, %n: tensor<1xi32>) -> tensor<1xi32> {
  %i = tosa.cond_if %c : tensor<1x1xi1> -> tensor<1xi32> {
    tosa.yield %x : tensor<1xi32>
  } else {
    tosa.yield %n : tensor<1xi32>
  }
  %r = tosa.while_loop (%v = %i) : (tensor<1xi32>) -> tensor<1xi32> {
    %more = tosa.greater %n, %v : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    tosa.yield %more : tensor<1xi1>
  } do {
  ^bb0(%w: tensor<1xi32>):
    %s = tosa.add %w, %w : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    tosa.yield %s : tensor<1xi32>
  }
  return %r : tensor<1xi32>
}

// Rounding that the program leaves open is done once.
// CHECK-LABEL: func.func @RescaleInAnyWay(
// CHECK: arith.shrsi
// CHECK-NOT: tosa.
func.func @RescaleInAnyWay(%x: tensor<13x21xi32>) -> tensor<13x21xi8> {
  %m = "tosa.const"() <{values = dense<19689> : tensor<1xi16>}> : () -> tensor<1xi16>
  %s = "tosa.const"() <{values = dense<15> : tensor<1xi8>}> : () -> tensor<1xi8>
  %i = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %o = "tosa.const"() <{values = dense<22> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = tosa.rescale %x, %m, %s, %i, %o {scale32 = false, rounding_mode = INEXACT_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<13x21xi32>, tensor<1xi16>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<13x21xi8>
  return %r : tensor<13x21xi8>
}

// Nothing folds that would give another result: NaN times 0 is NaN, the least number is negated twice
// to the one above it, constants have products of 32 bits, NaN is clamped to the least bound.
// CHECK-LABEL: func.func @NotFolded(
// CHECK: arith.mulf
func.func @NotFolded(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = tosa.mul %x, %zero, %s : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @NegatedTwice(
// CHECK-COUNT-2: linalg.generic
func.func @NegatedTwice(%x: tensor<4xi8>) -> tensor<4xi8> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = tosa.negate %x, %z, %z : (tensor<4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  %r = tosa.negate %y, %z, %z : (tensor<4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// CHECK-LABEL: func.func @WideProduct(
// CHECK: arith.muli %{{.*}} : i32
func.func @WideProduct() -> tensor<4xi32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %x = "tosa.const"() <{values = dense<100> : tensor<4xi8>}> : () -> tensor<4xi8>
  %r = tosa.mul %x, %x, %s : (tensor<4xi8>, tensor<4xi8>, tensor<1xi8>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @ClampIgnores(
// CHECK: %[[NAN:.*]] = arith.cmpf uno
// CHECK: arith.select %[[NAN]]
func.func @ClampIgnores(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tosa.clamp %x {min_val = 0xFF800000 : f32, max_val = 0x7F800000 : f32, nan_mode = IGNORE} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
