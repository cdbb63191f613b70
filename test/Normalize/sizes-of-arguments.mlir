// RUN: tilewright-opt %s -tilewright-normalize | FileCheck %s

// Sizes that are asserted to be equal are one also of what later passes ask for: those of concatenations.
// CHECK-LABEL: func.func @caches(
// CHECK-DAG: %[[B:.*]] = tensor.dim %arg0, %c0 : tensor<?x1x32xf32>
// CHECK-DAG: %[[M:.*]] = tensor.dim %arg1, %c1 : tensor<?x?x32xf32>
// CHECK-DAG: %[[N:.*]] = affine.apply {{.*}}()[%[[M]]]
// CHECK: %[[E:.*]] = tensor.empty(%[[B]], %[[N]]) : tensor<?x?x32xf32>
// CHECK-NOT: tensor.empty
// CHECK: tensor.insert_slice %arg2 into %[[E]]{{.*}} [%[[B]], %[[M]], 32]
// CHECK: return
func.func @caches(%new: tensor<?x1x32xf32>, %keys: tensor<?x?x32xf32>, %values: tensor<?x?x32xf32>)
    -> (tensor<?x?x32xf32>, tensor<?x?x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %new, %c0 : tensor<?x1x32xf32>
  %batch_k = tensor.dim %keys, %c0 : tensor<?x?x32xf32>
  %same_k = arith.cmpi eq, %batch, %batch_k : index
  cf.assert %same_k, "dim 0 of keys must be dim 0 of new"
  %batch_v = tensor.dim %values, %c0 : tensor<?x?x32xf32>
  %same_v = arith.cmpi eq, %batch, %batch_v : index
  cf.assert %same_v, "dim 0 of values must be dim 0 of new"
  %past = tensor.dim %keys, %c1 : tensor<?x?x32xf32>
  %past_v = tensor.dim %values, %c1 : tensor<?x?x32xf32>
  %same = arith.cmpi eq, %past, %past_v : index
  cf.assert %same, "dim 1 of values must be dim 1 of keys"
  %k = tensor.concat dim(1) %keys, %new : (tensor<?x?x32xf32>, tensor<?x1x32xf32>) -> tensor<?x?x32xf32>
  %v = tensor.concat dim(1) %values, %new : (tensor<?x?x32xf32>, tensor<?x1x32xf32>) -> tensor<?x?x32xf32>
  return %k, %v : tensor<?x?x32xf32>, tensor<?x?x32xf32>
}
