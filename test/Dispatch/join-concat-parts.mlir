// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-join-concat-parts))' -split-input-file | FileCheck %s

// CHECK-LABEL: func @PartsOfTheSameInputs
// CHECK-SAME: tilewright.explain = ["linalg.generic (line {{[0-9]+}}): one op computes 2 parts of a concatenation, which read the same"]
// CHECK: %[[Y:.*]]:2 = linalg.generic {{.*}} ins(%arg0, %arg1, %arg1, %arg0 :
// CHECK: arith.subf
// CHECK: arith.addf
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK: %[[I:.*]] = tensor.insert_slice %[[Y]]#0 into
// CHECK: tensor.insert_slice %[[Y]]#1 into %[[I]]
#id = affine_map<(i) -> (i)>
func.func @PartsOfTheSameInputs(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<16xf32> {
  %p = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%p : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.subf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<8xf32>
  %i = tensor.insert_slice %0 into %e[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%b, %a : tensor<8xf32>, tensor<8xf32>) outs(%p : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<8xf32>
  %r = tensor.insert_slice %1 into %i[8] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// CHECK-LABEL: func @APartThatIsThereTwice
// CHECK: %[[Y:.*]]:2 = linalg.generic
// CHECK: tensor.insert_slice %[[Y]]#0
// CHECK: tensor.insert_slice %[[Y]]#1
#id = affine_map<(i) -> (i)>
func.func @APartThatIsThereTwice(%a: tensor<8xf32>) -> tensor<16xf32> {
  %p = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%p : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = math.cos %x : f32
    linalg.yield %z : f32
  } -> tensor<8xf32>
  %i = tensor.insert_slice %0 into %e[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %r = tensor.insert_slice %0 into %i[8] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// CHECK-LABEL: func @PartsOfOtherInputsStay
// CHECK-NOT: tilewright.explain
// CHECK-NOT: :2 = linalg.generic
#id = affine_map<(i) -> (i)>
func.func @PartsOfOtherInputsStay(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<16xf32> {
  %p = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%p : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = math.absf %x : f32
    linalg.yield %z : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<8xf32>) outs(%p : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = math.absf %x : f32
    linalg.yield %z : f32
  } -> tensor<8xf32>
  %i = tensor.insert_slice %0 into %e[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %r = tensor.insert_slice %1 into %i[8] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// CHECK-LABEL: func @PartsOfAPart
// CHECK: %[[I:.*]] = tensor.insert_slice %arg0 into %arg2[0, %arg3] [4, 8] [1, 1]
// CHECK: %[[R:.*]] = tensor.insert_slice %arg1 into %[[I]][4, %arg3] [4, 8] [1, 1]
// CHECK: return %[[R]]
func.func @PartsOfAPart(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %d: tensor<8x20xf32>, %at: index) -> tensor<8x20xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %i = tensor.insert_slice %a into %e[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x8xf32>
  %j = tensor.insert_slice %b into %i[4, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x8xf32>
  %r = tensor.insert_slice %j into %d[0, %at] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<8x20xf32>
  return %r : tensor<8x20xf32>
}

// -----

// How many rows there are is known to be the same where both read them, not where they have a row's number in common.
// CHECK-LABEL: func @DynamicRows
// CHECK: :2 = linalg.generic
// CHECK-LABEL: func @OtherRows
// CHECK-NOT: :2 = linalg.generic
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @DynamicRows(%a: tensor<?x32xf32>, %n: index) -> tensor<?x64xf32> {
  %p = tensor.empty(%n) : tensor<?x32xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x32xf32>) outs(%p : tensor<?x32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = math.absf %x : f32
    linalg.yield %z : f32
  } -> tensor<?x32xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x32xf32>) outs(%p : tensor<?x32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.negf %x : f32
    linalg.yield %z : f32
  } -> tensor<?x32xf32>
  %i = tensor.insert_slice %0 into %e[0, 0] [%n, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %r = tensor.insert_slice %1 into %i[0, 32] [%n, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

func.func @OtherRows(%a: tensor<?x32xf32>, %b: tensor<?x32xf32>, %bias: tensor<32xf32>, %n: index, %m: index) -> tensor<?x64xf32> {
  %p = tensor.empty(%n) : tensor<?x32xf32>
  %q = tensor.empty(%m) : tensor<?x32xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %bias : tensor<?x32xf32>, tensor<32xf32>) outs(%p : tensor<?x32xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<?x32xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%b, %bias : tensor<?x32xf32>, tensor<32xf32>) outs(%q : tensor<?x32xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<?x32xf32>
  %i = tensor.insert_slice %0 into %e[0, 0] [%n, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %r = tensor.insert_slice %1 into %i[0, 32] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
