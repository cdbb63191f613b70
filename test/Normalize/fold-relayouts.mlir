// RUN: tilewright-opt %s -tilewright-generalize -tilewright-fold-relayouts -split-input-file | FileCheck %s

// CHECK: affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #[[$BT:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func @TransposeIsReadThrough
// CHECK-COUNT-1: linalg.generic {indexing_maps = [#{{.*}}, #[[$BT]], #{{.*}}]
// CHECK-NOT: linalg.generic
func.func @TransposeIsReadThrough(%a: tensor<?x8xf32>, %b: tensor<16x8xf32>, %c: tensor<?x16xf32>, %e: tensor<8x16xf32>) -> tensor<?x16xf32> {
  %t = linalg.transpose ins(%b : tensor<16x8xf32>) outs(%e : tensor<8x16xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %t : tensor<?x8xf32>, tensor<8x16xf32>) outs(%c : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

// -----

// CHECK: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @BroadcastAndFillAreReadThrough
// CHECK: tensor.empty
// CHECK-NEXT: linalg.generic {{.*}}#[[$ROW]]
// CHECK: arith.addf
// CHECK: arith.maximumf %{{.*}}, %cst
// CHECK-NOT: linalg.generic
func.func @BroadcastAndFillAreReadThrough(%x: tensor<4x8xf32>, %b: tensor<8xf32>, %out: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %cst = arith.constant dense<0.0> : tensor<4x8xf32>
  %bb = linalg.broadcast ins(%b : tensor<8xf32>) outs(%out : tensor<4x8xf32>) dimensions = [0]
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%x, %bb, %cst : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) outs(%out : tensor<4x8xf32>) {
  ^bb0(%p: f32, %q: f32, %z: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %m = arith.maximumf %s, %z : f32
    linalg.yield %m : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @InitReadByElementwiseOpBecomesInput
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%[[E]]
func.func @InitReadByElementwiseOpBecomesInput(%x: tensor<8xf32>, %acc: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x : tensor<8xf32>) outs(%acc : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// CHECK-LABEL: func @UnitDimsAreDropped
// CHECK: tensor.collapse_shape %arg0 {{.*}} into tensor<64xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
func.func @UnitDimsAreDropped(%a: tensor<1x64xf32>, %b: tensor<64x32xf32>, %c: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1x64xf32>, tensor<64x32xf32>) outs(%c : tensor<1x32xf32>) -> tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// -----

// CHECK-LABEL: func @UnitDimsOfPinnedOpsStay
// CHECK-NOT: collapse_shape
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
func.func @UnitDimsOfPinnedOpsStay(%a: tensor<1x64xf32>, %b: tensor<64x32xf32>, %c: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [1, 32, 16]>}
    ins(%a, %b : tensor<1x64xf32>, tensor<64x32xf32>) outs(%c : tensor<1x32xf32>) -> tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// -----

// CHECK-LABEL: func @ScalarInputsAreCapturedRank0TensorsStay
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<8xf32>, tensor<f32>)
// CHECK: arith.mulf %{{.*}}, %arg2 : f32
func.func @ScalarInputsAreCapturedRank0TensorsStay(%x: tensor<8xf32>, %t: tensor<f32>, %s: f32, %e: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x, %t, %s : tensor<8xf32>, tensor<f32>, f32) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %p = arith.addf %a, %b : f32
    %q = arith.mulf %p, %c : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// CHECK-LABEL: func @KeptUnitDimsOfSlices
// CHECK: tensor.extract_slice %arg0[%arg2, 0] [31, 1] [1, 1] : tensor<40x1xf32> to tensor<31xf32>
// CHECK-NEXT: tensor.insert_slice %{{.*}} into %arg1[3, 0] [31, 1] [1, 1] : tensor<31xf32> into tensor<40x1xf32>
// CHECK-NEXT: return
func.func @KeptUnitDimsOfSlices(%x: tensor<40x1xf32>, %y: tensor<40x1xf32>, %o: index) -> tensor<40x1xf32> {
  %s = tensor.extract_slice %x[%o, 0] [31, 1] [1, 1] : tensor<40x1xf32> to tensor<31x1xf32>
  %r = tensor.insert_slice %s into %y[3, 0] [31, 1] [1, 1] : tensor<31x1xf32> into tensor<40x1xf32>
  return %r : tensor<40x1xf32>
}

// -----

// CHECK-LABEL: func @ConcatOfTensorsOfOneElement
// CHECK: tensor.insert_slice %arg0 into %{{.*}}[0] [1] [1] : tensor<1xi32> into tensor<2xi32>
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[1] [1] [1] : tensor<1xi32> into tensor<2xi32>
func.func @ConcatOfTensorsOfOneElement(%x: tensor<1xi32>, %y: tensor<1xi32>) -> tensor<2xi32> {
  %r = tensor.concat dim(0) %x, %y : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}

// -----

// Slices and what works on them lose the dim together.
// CHECK-LABEL: func @RowsInALoop
// CHECK: scf.for
// CHECK: tensor.extract_slice {{.*}} : tensor<8x5xf32> to tensor<5xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK: tensor.insert_slice {{.*}} : tensor<5xf32> into tensor<8x5xf32>
func.func @RowsInALoop(%x: tensor<8x5xf32>) -> tensor<8x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> tensor<8x5xf32> {
    %s = tensor.extract_slice %a[%i, 0] [1, 5] [1, 1] : tensor<8x5xf32> to tensor<1x5xf32>
    %d = arith.addf %s, %s : tensor<1x5xf32>
    %t = tensor.insert_slice %d into %a[%i, 0] [1, 5] [1, 1] : tensor<1x5xf32> into tensor<8x5xf32>
    scf.yield %t : tensor<8x5xf32>
  }
  return %r : tensor<8x5xf32>
}

// -----

// A slice whose dynamic size is 1 after all.
// CHECK-LABEL: func @SliceOfOneRow
// CHECK: tensor.extract_slice %arg0[3, 0] [1, 7] [1, 1] : tensor<40x7xf32> to tensor<7xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]
func.func @SliceOfOneRow(%x: tensor<40x7xf32>) -> tensor<?x7xf32> {
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %x[3, 0] [%c1, 7] [1, 1] : tensor<40x7xf32> to tensor<?x7xf32>
  %r = math.absf %s : tensor<?x7xf32>
  return %r : tensor<?x7xf32>
}

// -----

// CHECK-LABEL: func @DestinationOfConstantSize
// CHECK: %[[E:.*]] = tensor.empty() : tensor<40x7xf32>
// CHECK: linalg.generic {{.*}} outs(%[[E]]
func.func @DestinationOfConstantSize(%x: tensor<40x7xf32>) -> tensor<?x7xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<40x7xf32>
  %e = tensor.empty(%d) : tensor<?x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<40x7xf32>) outs(%e : tensor<?x7xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %i, %i : f32
    linalg.yield %s : f32
  } -> tensor<?x7xf32>
  return %r : tensor<?x7xf32>
}

// -----

// K is 1 in one operand: it is in the other, too, and there is nothing to sum.
// CHECK-LABEL: func @UnitDimOfOneOperand
// CHECK: tensor.cast %arg1 : tensor<?x8xf32> to tensor<1x8xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
func.func @UnitDimOfOneOperand(%a: tensor<?x1xf32>, %b: tensor<?x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x1xf32>, tensor<?x8xf32>) outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func @ReductionOfOneElementReadsNoFill
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%{{[a-z]*}} : tensor<37xf32>) outs
// CHECK-NOT: linalg.fill
func.func @ReductionOfOneElementReadsNoFill(%a: tensor<37x1xf32>) -> tensor<37xf32> {
  %z = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<37xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<37xf32>) -> tensor<37xf32>
  %r = linalg.reduce ins(%a : tensor<37x1xf32>) outs(%i : tensor<37xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %s = arith.addf %in, %acc : f32
      linalg.yield %s : f32
    }
  return %r : tensor<37xf32>
}

// -----

// The loop over the only output stays, or the window would have to be as wide as
// its input.
// CHECK: affine_map<(d0, d1, d2, d3) -> (d2, d1 * 6 + d3)>
// CHECK-LABEL: func @InputWiderThanItsWindow
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]
func.func @InputWiderThanItsWindow(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>, %c: tensor<1x6x1xf32>) -> tensor<1x6x1xf32> {
  %r = linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, strides = dense<6> : tensor<1xi64>}
    ins(%x, %w : tensor<1x4x8xf32>, tensor<6x4x3xf32>) outs(%c : tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
  return %r : tensor<1x6x1xf32>
}

// Sizes are inferred through windows, too.
// CHECK-LABEL: func @OneImage
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<6x?xf32>)
func.func @OneImage(%x: tensor<1x4x?xf32>, %w: tensor<6x4x3xf32>, %c: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x4x?xf32>, tensor<6x4x3xf32>) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// Tensors of indices are in no memory: their readers convert by themselves.
// CHECK-LABEL: func.func @Indices(
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}} : tensor<70xi64>) outs(%{{.*}} : tensor<70x8xi64>)
// CHECK: arith.index_cast %{{.*}} : i64 to index
func.func @Indices(%i: tensor<70xi64>, %e: tensor<70xindex>, %o: tensor<70x8xi64>) -> tensor<70x8xi64> {
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%i : tensor<70xi64>) outs(%e : tensor<70xindex>) {
  ^bb0(%a: i64, %out: index):
    %p = arith.index_cast %a : i64 to index
    linalg.yield %p : index
  } -> tensor<70xindex>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<70xindex>) outs(%o : tensor<70x8xi64>) {
  ^bb0(%p: index, %out: i64):
    %j = linalg.index 1 : index
    %s = arith.addi %p, %j : index
    %v = arith.index_cast %s : index to i64
    linalg.yield %v : i64
  } -> tensor<70x8xi64>
  return %r : tensor<70x8xi64>
}

// A filter of one number everywhere, moved to another order: its sizes stay an operand of the convolution, whose windows have them
// from nowhere else, and nothing of it is a result.
// CHECK-LABEL: func.func @FilledFilter(
// CHECK: %[[W:.*]] = linalg.fill {{.*}} -> tensor<3x3x4x8xf32>
// CHECK: %{{[0-9a-z_]+}} = linalg.generic {{.*}} ins(%{{.*}}, %[[W]] : tensor<9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%{{.*}} : tensor<7x7x8xf32>)
func.func @FilledFilter(%x: tensor<9x9x4xf32>, %v: f32, %o: tensor<7x7x8xf32>) -> tensor<7x7x8xf32> {
  %e = tensor.empty() : tensor<8x4x3x3xf32>
  %f = linalg.fill ins(%v : f32) outs(%e : tensor<8x4x3x3xf32>) -> tensor<8x4x3x3xf32>
  %t = tensor.empty() : tensor<3x3x4x8xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(h, w, c, f) -> (f, c, h, w)>, affine_map<(h, w, c, f) -> (h, w, c, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%f : tensor<8x4x3x3xf32>) outs(%t : tensor<3x3x4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3x3x4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(h, w, f, kh, kw, c) -> (h + kh, w + kw, c)>, affine_map<(h, w, f, kh, kw, c) -> (kh, kw, c, f)>, affine_map<(h, w, f, kh, kw, c) -> (h, w, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%o : tensor<7x7x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<7x7x8xf32>
  return %r : tensor<7x7x8xf32>
}

// -----

// Slices of a transposed tensor are read where they lie in the other.
// CHECK: #[[$T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func @ASliceIsReadThroughATranspose
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[2, 0] [4, 16] [1, 1]
// CHECK: linalg.generic {indexing_maps = [#[[$T]], #{{.*}}]{{.*}} ins(%[[S]] : tensor<4x16xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.absf
// CHECK-NOT: linalg.generic
#id = affine_map<(i, j) -> (i, j)>
func.func @ASliceIsReadThroughATranspose(%x: tensor<8x16xf32>, %e: tensor<16x8xf32>, %f: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %t = linalg.transpose ins(%x : tensor<8x16xf32>) outs(%e : tensor<16x8xf32>) permutation = [1, 0]
  %s = tensor.extract_slice %t[0, 2] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<16x4xf32>) outs(%f : tensor<16x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.absf %a : f32
    linalg.yield %y : f32
  } -> tensor<16x4xf32>
  return %r : tensor<16x4xf32>
}

// -----

// One of several parts that a transpose puts in front.
// CHECK-LABEL: func.func @APartIsReadThroughATranspose
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[0, 1, 0] [16, 1, 32] [1, 1, 1] : tensor<16x3x32xf32> to tensor<16x32xf32>
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<16x32xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.exp
func.func @APartIsReadThroughATranspose(%x: tensor<16x3x32xf32>, %e: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %i = tensor.empty() : tensor<3x16x32xf32>
  %t = linalg.transpose ins(%x : tensor<16x3x32xf32>) outs(%i : tensor<3x16x32xf32>) permutation = [1, 0, 2]
  %s = tensor.extract_slice %t[1, 0, 0] [1, 16, 32] [1, 1, 1] : tensor<3x16x32xf32> to tensor<16x32xf32>
  %r = linalg.exp ins(%s : tensor<16x32xf32>) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %r : tensor<16x32xf32>
}

// -----

// A dim of one element that is added for a broadcast, and read at its only place, is none, whatever
// sizes the others have.
// CHECK-LABEL: func @UnitsAddedAndTaken
// CHECK-NOT: tensor.expand_shape
// CHECK-NOT: tensor.collapse_shape
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<?x?x32xf32>)
// CHECK: linalg.generic {{.*}} ins(%arg1, %[[T]] : tensor<?x8x?x32xf16>, tensor<?x?x32xf16>)
#bhtd = affine_map<(b, h, t, d) -> (b, h, t, d)>
#b0td = affine_map<(b, h, t, d) -> (b, 0, t, d)>
func.func @UnitsAddedAndTaken(%c: tensor<?x?x32xf32>, %x: tensor<?x8x?x32xf16>) -> tensor<?x8x?x32xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %c, %c0 : tensor<?x?x32xf32>
  %t = tensor.dim %c, %c1 : tensor<?x?x32xf32>
  %u = tensor.expand_shape %c [[0], [1, 2], [3]] output_shape [%b, 1, %t, 32] : tensor<?x?x32xf32> into tensor<?x1x?x32xf32>
  %ne = tensor.empty(%b, %t) : tensor<?x1x?x32xf16>
  %n = linalg.generic {indexing_maps = [#bhtd, #bhtd], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%u : tensor<?x1x?x32xf32>) outs(%ne : tensor<?x1x?x32xf16>) {
  ^bb0(%a: f32, %o: f16):
    %v = arith.truncf %a : f32 to f16
    linalg.yield %v : f16
  } -> tensor<?x1x?x32xf16>
  %e = tensor.empty(%b, %t) : tensor<?x8x?x32xf16>
  %r = linalg.generic {indexing_maps = [#bhtd, #b0td, #bhtd], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %n : tensor<?x8x?x32xf16>, tensor<?x1x?x32xf16>) outs(%e : tensor<?x8x?x32xf16>) {
  ^bb0(%a: f16, %w: f16, %o: f16):
    %v = arith.mulf %a, %w : f16
    linalg.yield %v : f16
  } -> tensor<?x8x?x32xf16>
  return %r : tensor<?x8x?x32xf16>
}

// -----

// Halves of what is widened are widened halves, in front of whoever reads them.
// CHECK-LABEL: func @SlicesOfWidened
// CHECK-DAG: %[[A:.*]] = tensor.extract_slice %arg0[0, 0] [4, 8] [1, 1] : tensor<4x16xf16> to tensor<4x8xf16>
// CHECK-DAG: %[[B:.*]] = tensor.extract_slice %arg0[0, 8] [4, 8] [1, 1] : tensor<4x16xf16> to tensor<4x8xf16>
// CHECK-DAG: linalg.generic {{.*}} ins(%[[A]] : tensor<4x8xf16>) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK-DAG: linalg.generic {{.*}} ins(%[[B]] : tensor<4x8xf16>) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: arith.subf
#id = affine_map<(i, j) -> (i, j)>
func.func @SlicesOfWidened(%x: tensor<4x16xf16>) -> tensor<4x8xf32> {
  %we = tensor.empty() : tensor<4x16xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x16xf16>) outs(%we : tensor<4x16xf32>) {
  ^bb0(%a: f16, %o: f32):
    %v = arith.extf %a : f16 to f32
    linalg.yield %v : f32
  } -> tensor<4x16xf32>
  %l = tensor.extract_slice %w[0, 0] [4, 8] [1, 1] : tensor<4x16xf32> to tensor<4x8xf32>
  %r = tensor.extract_slice %w[0, 8] [4, 8] [1, 1] : tensor<4x16xf32> to tensor<4x8xf32>
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%l, %r : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.subf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

// One of three projections side by side, a dim of one in front where front ends put it: it is a slice.
// CHECK-LABEL: func @OneOfThree
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[0, 0, 1, 0] [10, 2, 1, 64] [1, 1, 1, 1] : tensor<10x2x3x64xf32> to tensor<10x2x64xf32>
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<10x2x64xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.exp
#id = affine_map<(i, j, k) -> (i, j, k)>
func.func @OneOfThree(%x: tensor<10x2x192xf32>) -> tensor<10x2x64xf32> {
  %p = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [10, 2, 3, 64] : tensor<10x2x192xf32> into tensor<10x2x3x64xf32>
  %te = tensor.empty() : tensor<3x10x2x64xf32>
  %t = linalg.transpose ins(%p : tensor<10x2x3x64xf32>) outs(%te : tensor<3x10x2x64xf32>) permutation = [2, 0, 1, 3]
  %s = tensor.extract_slice %t[1, 0, 0, 0] [1, 10, 2, 64] [1, 1, 1, 1] : tensor<3x10x2x64xf32> to tensor<1x10x2x64xf32>
  %c = tensor.collapse_shape %s [[0, 1], [2], [3]] : tensor<1x10x2x64xf32> into tensor<10x2x64xf32>
  %e = tensor.empty() : tensor<10x2x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c : tensor<10x2x64xf32>) outs(%e : tensor<10x2x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<10x2x64xf32>
  return %r : tensor<10x2x64xf32>
}
