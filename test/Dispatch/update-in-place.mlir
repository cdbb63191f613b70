// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-update-in-place))' -split-input-file | FileCheck %s

// CHECK-LABEL: func @AMemrefIsUpdated
// CHECK: %[[T:.*]] = bufferization.to_tensor %arg1
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], {{.*}} ins(%arg0 : tensor<8xf32>) outs(%[[T]] : tensor<8xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[O:.*]]: f32):
// CHECK-NEXT: arith.addf %[[A]], %[[O]]
#id = affine_map<(i) -> (i)>
func.func @AMemrefIsUpdated(%x: tensor<8xf32>, %m: memref<8xf32>) {
  %t = bufferization.to_tensor %m restrict writable : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %t : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %y = arith.addf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  bufferization.materialize_in_destination %r in writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func @AWindowIsUpdated
// CHECK: %[[W:.*]] = tensor.extract_slice
// CHECK: linalg.generic {{.*}} outs(%[[W]] : tensor<4xf32>)
#id = affine_map<(i) -> (i)>
func.func @AWindowIsUpdated(%d: tensor<8xf32>) -> tensor<8xf32> {
  %w = tensor.extract_slice %d[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.absf %a : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  %n = tensor.insert_slice %r into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// CHECK-LABEL: func @ATransposeNeedsATensorOfItsOwn
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.generic {{.*}} outs(%[[E]]
#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @ATransposeNeedsATensorOfItsOwn(%m: memref<8x8xf32>) {
  %t = bufferization.to_tensor %m restrict writable : memref<8x8xf32> to tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x8xf32>
  bufferization.materialize_in_destination %r in writable %m : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func @AnInputThatIsReadElsewhereToo
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.generic {{.*}} outs(%[[E]]
#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @AnInputThatIsReadElsewhereToo(%m: memref<8x8xf32>) {
  %t = bufferization.to_tensor %m restrict writable : memref<8x8xf32> to tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t, %t : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %y = arith.addf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<8x8xf32>
  bufferization.materialize_in_destination %r in writable %m : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}
