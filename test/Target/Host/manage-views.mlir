// RUN: tilewright-opt %s -tilewright-manage-views | FileCheck %s

func.func private @k(tensor<4xf32>) -> tensor<4xf32>
    attributes {tilewright.kernel, tilewright.access = ["readwrite"]}

// CHECK-LABEL: func.func @ReleasesAfterTheLastUse(%arg0: !llvm.ptr, %arg1: tensor<4xf32>)
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: tilewright.dispatch
// CHECK: %[[V:.*]] = builtin.unrealized_conversion_cast %[[E]]
// CHECK: llvm.call @twh_release(%arg0, %[[V]])
// CHECK-NOT: llvm.call
// CHECK: return
func.func @ReleasesAfterTheLastUse(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = tilewright.dispatch @k() outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @RetainsArgumentsThatAreReturned
// CHECK-COUNT-2: llvm.call @twh_retain
// CHECK: return
func.func @RetainsArgumentsThatAreReturned(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @LoopsOwnTheirValues
// CHECK: llvm.call @twh_retain
// CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %arg1)
// CHECK: tilewright.dispatch
// CHECK: %[[V:.*]] = builtin.unrealized_conversion_cast %[[T]]
// CHECK: llvm.call @twh_release(%arg0, %[[V]])
// CHECK: scf.yield
func.func @LoopsOwnTheirValues(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %r = scf.for %i = %n to %n step %n iter_args(%t = %x) -> tensor<4xf32> {
    %0 = tilewright.dispatch @k() outs(%t : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func @Arena(
// CHECK: %[[A:.*]] = llvm.call @twh_alloc(%[[C:[a-z0-9]*]], %{{.*}}, %{{.*}}, %{{.*}})
// CHECK: %[[O:.*]] = llvm.mlir.constant(256 : i64)
// CHECK: %[[V:.*]] = llvm.call @twh_place(%[[C]], %[[A]], %[[O]],
// CHECK: %[[T:.*]] = builtin.unrealized_conversion_cast %[[V]] : !llvm.ptr to tensor<4xf32>
// CHECK: llvm.call @twh_place(%[[C]], %[[A]],
// CHECK: llvm.call @twh_release(%[[C]], %[[A]])
// CHECK: tilewright.dispatch {{.*}} outs(%[[T]]
func.func @Arena(%x: tensor<4xf32>) -> f32 attributes {tilewright.arena = array<i64: 512, 512>} {
  %c0 = arith.constant 0 : index
  %0 = tensor.empty() {tilewright.temporary = array<i64: 0, 256>} : tensor<4xf32>
  %2 = tensor.empty() {tilewright.temporary = array<i64: 1, 0>} : tensor<4xf32>
  %1 = tilewright.dispatch @k() outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  %3 = tilewright.dispatch @k() outs(%2 : tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.extract %3[%c0] : tensor<4xf32>
  return %r : f32
}
