// RUN: tilewright-opt %s -tilewright-fold-reshapes | FileCheck %s

#abc = affine_map<(a, b, c) -> (a, b, c)>
#b = affine_map<(a, b, c) -> (b)>
#ab = affine_map<(a, b, c) -> (a, b)>

// A norm of groups of channels, and a gain of each channel.
// CHECK-LABEL: func.func @groups(
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{\[\[}}0], [1, 2], [3]] output_shape [4, 8, 4, 100]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%[[X]]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[SUM]] : tensor<4x8x4x100xf32>, tensor<4x8xf32>)
// CHECK: %[[GAIN:.*]] = tensor.expand_shape %arg1 {{\[\[}}0, 1]] output_shape [8, 4]
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[Y]], %[[GAIN]] : tensor<4x8x4x100xf32>, tensor<8x4xf32>)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[R]] {{\[\[}}0], [1, 2], [3]]
// CHECK: return %[[C]]
func.func @groups(%x: tensor<4x32x100xf32>, %gain: tensor<32xf32>, %zero: tensor<4x8xf32>) -> tensor<4x32x100xf32> {
  %flat = tensor.collapse_shape %x [[0, 1, 2]] : tensor<4x32x100xf32> into tensor<12800xf32>
  %g = tensor.expand_shape %flat [[0, 1, 2]] output_shape [4, 8, 400] : tensor<12800xf32> into tensor<4x8x400xf32>
  %s = linalg.generic {indexing_maps = [#abc, #ab], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g : tensor<4x8x400xf32>) outs(%zero : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8x400xf32>
  %y = linalg.generic {indexing_maps = [#abc, #ab, #abc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%g, %s : tensor<4x8x400xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8x400xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  } -> tensor<4x8x400xf32>
  %line = tensor.collapse_shape %y [[0, 1, 2]] : tensor<4x8x400xf32> into tensor<12800xf32>
  %c = tensor.expand_shape %line [[0, 1, 2]] output_shape [4, 32, 100] : tensor<12800xf32> into tensor<4x32x100xf32>
  %f = tensor.empty() : tensor<4x32x100xf32>
  %r = linalg.generic {indexing_maps = [#abc, #b, #abc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %gain : tensor<4x32x100xf32>, tensor<32xf32>) outs(%f : tensor<4x32x100xf32>) {
  ^bb0(%a: f32, %k: f32, %o: f32):
    %v = arith.mulf %a, %k : f32
    linalg.yield %v : f32
  } -> tensor<4x32x100xf32>
  return %r : tensor<4x32x100xf32>
}

// A product reads the other shape: elements stay as they are.
// CHECK-LABEL: func.func @product(
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<4x8x16xf32>)
// CHECK: tensor.collapse_shape
// CHECK: linalg.matmul
func.func @product(%x: tensor<4x8x16xf32>, %w: tensor<16x5xf32>, %z: tensor<32x5xf32>) -> tensor<32x5xf32> {
  %e = tensor.empty() : tensor<4x8x16xf32>
  %y = linalg.generic {indexing_maps = [#abc, #abc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<4x8x16xf32>) outs(%e : tensor<4x8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x8x16xf32>
  %c = tensor.collapse_shape %y [[0, 1], [2]] : tensor<4x8x16xf32> into tensor<32x16xf32>
  %r = linalg.matmul ins(%c, %w : tensor<32x16xf32>, tensor<16x5xf32>) outs(%z : tensor<32x5xf32>) -> tensor<32x5xf32>
  return %r : tensor<32x5xf32>
}

// Dims that do not divide each other.
// CHECK-LABEL: func.func @others(
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<4x6x5xf32>)
// CHECK: tensor.collapse_shape
// CHECK: tensor.expand_shape
// CHECK: linalg.generic {{.*}}outs(%{{.*}} : tensor<10x3x4xf32>)
func.func @others(%x: tensor<4x6x5xf32>) -> tensor<10x3x4xf32> {
  %e = tensor.empty() : tensor<4x6x5xf32>
  %y = linalg.generic {indexing_maps = [#abc, #abc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<4x6x5xf32>) outs(%e : tensor<4x6x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x6x5xf32>
  %c = tensor.collapse_shape %y [[0, 1, 2]] : tensor<4x6x5xf32> into tensor<120xf32>
  %d = tensor.expand_shape %c [[0, 1, 2]] output_shape [10, 3, 4] : tensor<120xf32> into tensor<10x3x4xf32>
  %f = tensor.empty() : tensor<10x3x4xf32>
  %r = linalg.generic {indexing_maps = [#abc, #abc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%d : tensor<10x3x4xf32>) outs(%f : tensor<10x3x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<10x3x4xf32>
  return %r : tensor<10x3x4xf32>
}

// Coordinates are those of the loops that there are.
// CHECK-LABEL: func.func @coordinates(
// CHECK: linalg.generic {{.*}}outs(%{{.*}} : tensor<32xindex>)
// CHECK: tensor.expand_shape
func.func @coordinates(%x: tensor<4x8xindex>) -> tensor<4x8xindex> {
  %e = tensor.empty() : tensor<32xindex>
  %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<32xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<32xindex>
  %s = tensor.expand_shape %n [[0, 1]] output_shape [4, 8] : tensor<32xindex> into tensor<4x8xindex>
  %f = tensor.empty() : tensor<4x8xindex>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x8xindex>, tensor<4x8xindex>) outs(%f : tensor<4x8xindex>) {
  ^bb0(%a: index, %b: index, %o: index):
    %v = arith.addi %a, %b : index
    linalg.yield %v : index
  } -> tensor<4x8xindex>
  return %r : tensor<4x8xindex>
}

// What a product's kernel may do to its result stays beside it, whoever reads it as another shape.
// CHECK-LABEL: func @AnEpilogueStays
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<8x6xf32>) outs(%{{.*}} : tensor<8x6xf16>)
// CHECK: tensor.expand_shape %[[T]]
#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#ij = affine_map<(i, j, k) -> (i, j)>
#same = affine_map<(i, j) -> (i, j)>
#ijk = affine_map<(i, j, k) -> (i, j, k)>
func.func @AnEpilogueStays(%x: tensor<8x4xf32>, %y: tensor<4x6xf32>, %z: tensor<8x6xf32>) -> tensor<2x8x3xf16> {
  %p = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) {
  ^bb0(%0: f32, %1: f32, %o: f32):
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x6xf32>
  %e = tensor.empty() : tensor<8x6xf16>
  %t = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x6xf32>) outs(%e : tensor<8x6xf16>) {
  ^bb0(%0: f32, %o: f16):
    %1 = arith.truncf %0 : f32 to f16
    linalg.yield %1 : f16
  } -> tensor<8x6xf16>
  %h = tensor.expand_shape %t [[0], [1, 2]] output_shape [8, 2, 3] : tensor<8x6xf16> into tensor<8x2x3xf16>
  %f = tensor.empty() : tensor<2x8x3xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, i, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%h : tensor<8x2x3xf16>) outs(%f : tensor<2x8x3xf16>) {
  ^bb0(%0: f16, %o: f16):
    linalg.yield %0 : f16
  } -> tensor<2x8x3xf16>
  return %r : tensor<2x8x3xf16>
}

// CHECK-LABEL: func @AnEpilogueOfAnElementwiseReaderStays
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<8x6xf32>) outs(%{{.*}} : tensor<8x6xf16>)
// CHECK: tensor.expand_shape %[[T]]
func.func @AnEpilogueOfAnElementwiseReaderStays(%x: tensor<8x4xf32>, %y: tensor<4x6xf32>, %z: tensor<8x6xf32>, %table: tensor<8x3xf16>) -> tensor<8x2x3xf16> {
  %p = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) {
  ^bb0(%0: f32, %1: f32, %o: f32):
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x6xf32>
  %e = tensor.empty() : tensor<8x6xf16>
  %t = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x6xf32>) outs(%e : tensor<8x6xf16>) {
  ^bb0(%0: f32, %o: f16):
    %1 = arith.truncf %0 : f32 to f16
    linalg.yield %1 : f16
  } -> tensor<8x6xf16>
  %h = tensor.expand_shape %t [[0], [1, 2]] output_shape [8, 2, 3] : tensor<8x6xf16> into tensor<8x2x3xf16>
  %f = tensor.empty() : tensor<8x2x3xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%h, %table : tensor<8x2x3xf16>, tensor<8x3xf16>) outs(%f : tensor<8x2x3xf16>) {
  ^bb0(%0: f16, %1: f16, %o: f16):
    %2 = arith.mulf %0, %1 : f16
    linalg.yield %2 : f16
  } -> tensor<8x2x3xf16>
  return %r : tensor<8x2x3xf16>
}

// CHECK-LABEL: func @AnActivationBetweenProducts
// CHECK-NOT: tensor.expand_shape
// CHECK-NOT: tensor.collapse_shape
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg3 : tensor<?x6xf32>, tensor<6xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x6xf32>)
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x6xf32>, tensor<?x6xf32>)
// CHECK: arith.mulf
// CHECK: return %{{.*}} : tensor<?x6xf32>
func.func @AnActivationBetweenProducts(%x: tensor<?x4xf32>, %y: tensor<4x6xf32>, %z: tensor<?x6xf32>, %bias: tensor<6xf32>, %b: index, %t: index) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %z, %c0 : tensor<?x6xf32>
  %p = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x4xf32>, tensor<4x6xf32>) outs(%z : tensor<?x6xf32>) {
  ^bb0(%0: f32, %1: f32, %o: f32):
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x6xf32>
  %e = tensor.empty(%rows) : tensor<?x6xf32>
  %s = linalg.generic {indexing_maps = [#same, affine_map<(i, j) -> (j)>, #same], iterator_types = ["parallel", "parallel"]} ins(%p, %bias : tensor<?x6xf32>, tensor<6xf32>) outs(%e : tensor<?x6xf32>) {
  ^bb0(%0: f32, %1: f32, %o: f32):
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x6xf32>
  %h = tensor.expand_shape %s [[0, 1], [2]] output_shape [%b, %t, 6] : tensor<?x6xf32> into tensor<?x?x6xf32>
  %f = tensor.empty(%b, %t) : tensor<?x?x6xf32>
  %g = linalg.generic {indexing_maps = [#ijk, #ijk], iterator_types = ["parallel", "parallel", "parallel"]} ins(%h : tensor<?x?x6xf32>) outs(%f : tensor<?x?x6xf32>) {
  ^bb0(%0: f32, %o: f32):
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x?x6xf32>
  %r = linalg.generic {indexing_maps = [#ijk, #ijk, #ijk], iterator_types = ["parallel", "parallel", "parallel"]} ins(%h, %g : tensor<?x?x6xf32>, tensor<?x?x6xf32>) outs(%f : tensor<?x?x6xf32>) {
  ^bb0(%0: f32, %1: f32, %o: f32):
    %2 = arith.mulf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x?x6xf32>
  %q = tensor.collapse_shape %r [[0, 1], [2]] : tensor<?x?x6xf32> into tensor<?x6xf32>
  return %q : tensor<?x6xf32>
}

// A dim of one element that belongs to another dim in front than behind: both readers see one shape.
// CHECK-LABEL: func.func @unit(
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{\[\[}}0], [1, 2]] output_shape [%arg1, 4, 32] : tensor<?x128xf32> into tensor<?x4x32xf32>
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<?x4x32xf32>)
// CHECK: return
func.func @unit(%x: tensor<?x128xf32>, %m: index, %e: tensor<?x4x32xf32>) -> (tensor<?x4x32xf32>, tensor<?x128xf32>) {
  %u = tensor.expand_shape %x [[0], [1, 2, 3]] output_shape [%m, 1, 4, 32] : tensor<?x128xf32> into tensor<?x1x4x32xf32>
  %c = tensor.collapse_shape %u [[0, 1], [2], [3]] : tensor<?x1x4x32xf32> into tensor<?x4x32xf32>
  %r = linalg.generic {indexing_maps = [#abc, #abc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c : tensor<?x4x32xf32>) outs(%e : tensor<?x4x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<?x4x32xf32>
  // And back, which is %x.
  %w = tensor.expand_shape %x [[0, 1], [2]] output_shape [%m, 1, 128] : tensor<?x128xf32> into tensor<?x1x128xf32>
  %b = tensor.collapse_shape %w [[0], [1, 2]] : tensor<?x1x128xf32> into tensor<?x128xf32>
  return %r, %b : tensor<?x4x32xf32>, tensor<?x128xf32>
}

// A dim alone in its group stays.
// CHECK-LABEL: func.func @unit_alone(
// CHECK: %[[U:.*]] = tensor.expand_shape
// CHECK: tensor.collapse_shape %[[U]]
func.func @unit_alone(%x: tensor<6x1x8xf32>) -> tensor<2x3x8xf32> {
  %u = tensor.expand_shape %x [[0, 1], [2], [3]] output_shape [2, 3, 1, 8] : tensor<6x1x8xf32> into tensor<2x3x1x8xf32>
  %c = tensor.collapse_shape %u [[0], [1, 2], [3]] : tensor<2x3x1x8xf32> into tensor<2x3x8xf32>
  return %c : tensor<2x3x8xf32>
}
