// RUN: tilewright-opt %s -tilewright-normalize -tilewright-form-dispatches -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @Epilogue
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[R:.*]] = tilewright.dispatch @Epilogue_matmul_0(%arg0, %arg1, %arg2 : {{.*}}) outs(%[[E]]
// CHECK: return %[[R]]
// CHECK-LABEL: func.func private @Epilogue_matmul_0
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: tensor<?x256xf32>) -> tensor<?x256xf32>
// CHECK-SAME: tilewright.access = ["read", "read", "read", "write"], tilewright.kernel
// CHECK: linalg.fill {{.*}} outs(%[[OUT]]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}} outs(%[[OUT]]
func.func @Epilogue(%x: tensor<?x512xf32>, %w: tensor<512x256xf32>, %b: tensor<256xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x512xf32>
  %e = tensor.empty(%d) : tensor<?x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<?x512xf32>, tensor<512x256xf32>) outs(%f : tensor<?x256xf32>) -> tensor<?x256xf32>
  %bb = linalg.broadcast ins(%b : tensor<256xf32>) outs(%e : tensor<?x256xf32>) dimensions = [0]
  %a = linalg.add ins(%m, %bb : tensor<?x256xf32>, tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %a : tensor<?x256xf32>
}

// -----

// CHECK-LABEL: func.func @Softmax
// CHECK-COUNT-1: tilewright.dispatch @Softmax_reduce_0(%arg0
// CHECK-NOT: tilewright.dispatch
// CHECK-LABEL: func.func private @Softmax_reduce_0
// CHECK: tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK: maxnumf
// CHECK: math.exp
// CHECK: addf
// CHECK: divf
func.func @Softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// Two reductions of one tensor and what follows from both: one kernel.
// CHECK-LABEL: func.func @SiblingReductions
// CHECK-COUNT-1: tilewright.dispatch
// CHECK-NOT: tilewright.dispatch
// CHECK: return
func.func @SiblingReductions(%x: tensor<4x8xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<4x8xf32>) outs(%a : tensor<4xf32>) dimensions = [1]
  %min = linalg.reduce { arith.minimumf } ins(%x : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%x, %max, %min : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32, %o: f32):
    %range = arith.subf %q, %s : f32
    %off = arith.subf %p, %s : f32
    %v = arith.divf %off, %range : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @ScalarsArePassedAccumulatorsAreUpdated
// CHECK: tilewright.dispatch @ScalarsArePassedAccumulatorsAreUpdated_reduce_0(%arg0, %arg2 : tensor<4x8xf32>, f32) outs(%arg1 : tensor<4xf32>)
// CHECK: tilewright.access = ["read", "readwrite"]
func.func @ScalarsArePassedAccumulatorsAreUpdated(%x: tensor<4x8xf32>, %acc: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<4x8xf32>) outs(%acc : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.mulf %p, %s : f32
    %w = arith.addf %o, %v : f32
    linalg.yield %w : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Between the reduction and its reader the host calls out with its value.
// CHECK-LABEL: func.func @NothingMovesPastAReaderOnTheHost
// CHECK: %[[A:.*]] = tilewright.dispatch @{{.*}}_reduce_0
// CHECK: %[[B:.*]] = call @host(%[[A]])
// CHECK: tilewright.dispatch @{{.*}}_elementwise_1(%{{.*}}, %[[B]] :
func.func private @host(tensor<4xf32>) -> tensor<4xf32>
func.func @NothingMovesPastAReaderOnTheHost(%x: tensor<4x8xf32>, %acc: tensor<4xf32>) -> tensor<4xf32> {
  %a = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>) outs(%acc : tensor<4xf32>) dimensions = [1]
  %b = func.call @host(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @KernelsInLoops
// CHECK: scf.for
// CHECK: tilewright.dispatch @KernelsInLoops_elementwise_0
func.func @KernelsInLoops(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %w = linalg.exp ins(%v : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @FilledResultIsAKernel
// CHECK: tilewright.dispatch @FilledResultIsAKernel_fill_0(%arg0 : f32) outs(
func.func @FilledResultIsAKernel(%s: f32) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.fill ins(%s : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// What a body reads by coordinates of its own is in memory before its kernel runs, and
// is an argument of it.
// CHECK-LABEL: func.func @GathersAreApart
// CHECK: %[[Y:.*]] = tilewright.dispatch @GathersAreApart_elementwise_0(%arg0 :
// CHECK: tilewright.dispatch @GathersAreApart_elementwise_1(%[[Y]] :
func.func @GathersAreApart(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c7 = arith.constant 7 : index
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c7, %i : index
    %b = tensor.extract %y[%j] : tensor<8xf32>
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A reduction by a body of its own, term by term, holds up no other.
// CHECK-LABEL: func.func @SequentialReductionsAreApart
// CHECK: tilewright.dispatch @SequentialReductionsAreApart_reduce_0
// CHECK: tilewright.dispatch @SequentialReductionsAreApart_reduce_1
func.func @SequentialReductionsAreApart(%x: tensor<8x16xf32>, %m: tensor<8xf32>, %w: tensor<8xi64>) -> (tensor<8xf32>, tensor<8xi64>, tensor<8xf32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%m, %w : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%a: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %g = arith.cmpf ogt, %a, %best : f32
    %s = arith.maximumf %a, %best : f32
    %q = arith.select %g, %k, %at : i64
    linalg.yield %s, %q : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %r#0 : tensor<8x16xf32>, tensor<8xf32>) outs(%m : tensor<8xf32>) {
  ^bb0(%a: f32, %top: f32, %acc: f32):
    %d = arith.subf %a, %top : f32
    %s = arith.addf %acc, %d : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r#0, %r#1, %t : tensor<8xf32>, tensor<8xi64>, tensor<8xf32>
}
