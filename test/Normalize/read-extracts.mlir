// RUN: tilewright-opt %s -tilewright-read-extracts -canonicalize | FileCheck %s

#id = affine_map<(i, j, k) -> (i, j, k)>

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, 0)>

// The size of what is broadcast is the loop's: it is not.
// CHECK-LABEL: func.func @Broadcast(
// CHECK: linalg.generic {indexing_maps = [#[[ROW]], #[[ID]]]{{.*}} ins(%{{.*}} : tensor<?x64x1xf32>)
// CHECK-NEXT: ^bb0(%[[V:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[V]]
func.func @Broadcast(%n: index, %w: f32) -> tensor<?x64x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.empty(%n) : tensor<?x64x1xf32>
  %t = linalg.fill ins(%w : f32) outs(%s : tensor<?x64x1xf32>) -> tensor<?x64x1xf32>
  %e = tensor.empty(%n) : tensor<?x64x128xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<?x64x128xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %one = arith.cmpi eq, %n, %c1 : index
    %p = arith.select %one, %c0, %i : index
    %v = tensor.extract %t[%p, %j, %c0] : tensor<?x64x1xf32>
    linalg.yield %v : f32
  } -> tensor<?x64x128xf32>
  return %r : tensor<?x64x128xf32>
}

// Another size may be 1 where the loop's is not; a tensor may be larger than the loops; a coordinate may be computed.
// CHECK-LABEL: func.func @Stays(
// CHECK-COUNT-3: tensor.extract
func.func @Stays(%n: index, %m: index, %t: tensor<?x64x1xf32>, %big: tensor<100x64x128xf32>) -> tensor<?x64x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<?x64x128xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<?x64x128xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %one = arith.cmpi eq, %m, %c1 : index
    %p = arith.select %one, %c0, %i : index
    %v = tensor.extract %t[%p, %j, %c0] : tensor<?x64x1xf32>
    %w = tensor.extract %big[%i, %j, %k] : tensor<100x64x128xf32>
    %x = tensor.extract %big[%j, %j, %k] : tensor<100x64x128xf32>
    %s = arith.addf %v, %w : f32
    %u = arith.addf %s, %x : f32
    linalg.yield %u : f32
  } -> tensor<?x64x128xf32>
  return %r : tensor<?x64x128xf32>
}

// The size is asked for in the body, of what is read there.
// CHECK-LABEL: func.func @SizeInTheBody(
// CHECK: linalg.generic {indexing_maps = [#[[ROW]], #[[ID]]]{{.*}} ins(%{{.*}} : tensor<?x64x1xf32>)
// CHECK-NOT: tensor.dim
// CHECK: return
func.func @SizeInTheBody(%t: tensor<?x64x1xf32>) -> tensor<?x64x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %t, %c0 : tensor<?x64x1xf32>
  %e = tensor.empty(%n) : tensor<?x64x128xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<?x64x128xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = tensor.dim %t, %c0 : tensor<?x64x1xf32>
    %one = arith.cmpi eq, %m, %c1 : index
    %p = arith.select %one, %c0, %i : index
    %v = tensor.extract %t[%p, %j, %c0] : tensor<?x64x1xf32>
    linalg.yield %v : f32
  } -> tensor<?x64x128xf32>
  return %r : tensor<?x64x128xf32>
}
