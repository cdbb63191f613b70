// RUN: tilewright-opt %s -tilewright-generalize -split-input-file | FileCheck %s

// CHECK: #[[$A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #[[$B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #[[$C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func @NamedOpBecomesGenericAndKeepsItsConfig
// CHECK-NOT: linalg.matmul
// CHECK: linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #[[$C]]]
// CHECK-SAME: tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 16]>
func.func @NamedOpBecomesGenericAndKeepsItsConfig(%a: tensor<?x8xf32>, %b: tensor<8x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 16]>}
    ins(%a, %b : tensor<?x8xf32>, tensor<8x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func @SoftmaxIsDecomposed
// CHECK-NOT: linalg.softmax
// CHECK-DAG: %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[LEAST]] : f32)
// CHECK: arith.maxnumf
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
func.func @SoftmaxIsDecomposed(%x: tensor<4x8xf32>, %e: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @SplatsBecomeFills
// CHECK-COUNT-3: linalg.fill
func.func @SplatsBecomeFills(%s: f32, %n: index) -> (tensor<4xf32>, tensor<?xf32>, tensor<f32>) {
  %a = arith.constant dense<1.0> : tensor<4xf32>
  %b = tensor.splat %s[%n] : tensor<?xf32>
  %c = tensor.from_elements %s : tensor<f32>
  return %a, %b, %c : tensor<4xf32>, tensor<?xf32>, tensor<f32>
}

// -----

// CHECK-LABEL: func @ElementwiseArithOnTensors
// CHECK: linalg.generic
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: linalg.generic
// CHECK: math.exp %{{.*}} : f32
func.func @ElementwiseArithOnTensors(%a: tensor<?xf32>) -> tensor<?xf32> {
  %s = arith.addf %a, %a : tensor<?xf32>
  %r = math.exp %s : tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @EveryFamilyHasAGenericForm
// CHECK-NOT: linalg.{{map|reduce|transpose|broadcast|elementwise|copy|contract|batch_matmul|matvec}}
// CHECK: return
func.func @EveryFamilyHasAGenericForm(%v: tensor<8xf32>, %m: tensor<8x8xf32>, %t: tensor<8x8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8xf32>, tensor<8x8x8xf32>) {
  %0 = linalg.map { arith.negf } ins(%m : tensor<8x8xf32>) outs(%m : tensor<8x8xf32>)
  %1 = linalg.reduce { arith.maximumf } ins(%m : tensor<8x8xf32>) outs(%v : tensor<8xf32>) dimensions = [1]
  %2 = linalg.transpose ins(%0 : tensor<8x8xf32>) outs(%m : tensor<8x8xf32>) permutation = [1, 0]
  %3 = linalg.broadcast ins(%1 : tensor<8xf32>) outs(%m : tensor<8x8xf32>) dimensions = [0]
  %4 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%2, %3 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%m : tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = linalg.copy ins(%4 : tensor<8x8xf32>) outs(%m : tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (j, i)>]
    ins(%5, %5 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%m : tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = linalg.matvec ins(%6, %v : tensor<8x8xf32>, tensor<8xf32>) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %8 = linalg.batch_matmul ins(%t, %t : tensor<8x8x8xf32>, tensor<8x8x8xf32>) outs(%t : tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
  return %6, %7, %8 : tensor<8x8xf32>, tensor<8xf32>, tensor<8x8x8xf32>
}

// -----

// CHECK-LABEL: func @ConcatenationFillsWindows
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x7xf32>
// CHECK: %[[A:.*]] = tensor.insert_slice %arg0 into %[[E]][0, 0] [4, 3] [1, 1]
// CHECK: %[[B:.*]] = tensor.insert_slice %arg1 into %[[A]][0, 3] [4, 4] [1, 1]
// CHECK: return %[[B]]
func.func @ConcatenationFillsWindows(%a: tensor<4x3xf32>, %b: tensor<4x4xf32>) -> tensor<4x7xf32> {
  %r = tensor.concat dim(1) %a, %b : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<4x7xf32>
  return %r : tensor<4x7xf32>
}
