// RUN: tilewright-opt %s -tilewright-plan-temporaries | FileCheck %s

func.func private @k(%x: tensor<64xf32>, %out: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel, tilewright.access = ["read", "write"]}
func.func private @wide(%x: tensor<64xf32>, %out: tensor<128xf32>) -> tensor<128xf32> attributes {tilewright.kernel, tilewright.access = ["read", "write"]}
func.func private @back(%x: tensor<128xf32>, %out: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel, tilewright.access = ["read", "write"]}
func.func private @update(%out: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel, tilewright.access = ["readwrite"]}

// The first and the third are never alive together; the result is the caller's.
// CHECK-LABEL: func @NeighboursLieSideBySide(
// CHECK-SAME: attributes {tilewright.arena = array<i64: 768, 768>}
// CHECK: tensor.empty() {tilewright.temporary = array<i64: 0, 512>} : tensor<64xf32>
// CHECK: tensor.empty() {tilewright.temporary = array<i64: 1, 0>} : tensor<128xf32>
// CHECK: tensor.empty() {tilewright.temporary = array<i64: 2, 512>} : tensor<64xf32>
// CHECK: tensor.empty() : tensor<64xf32>
func.func @NeighboursLieSideBySide(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = tensor.empty() : tensor<64xf32>
  %1 = tilewright.dispatch @k(%x : tensor<64xf32>) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
  %2 = tensor.empty() : tensor<128xf32>
  %3 = tilewright.dispatch @wide(%1 : tensor<64xf32>) outs(%2 : tensor<128xf32>) -> tensor<128xf32>
  %4 = tensor.empty() : tensor<64xf32>
  %5 = tilewright.dispatch @back(%3 : tensor<128xf32>) outs(%4 : tensor<64xf32>) -> tensor<64xf32>
  %6 = tensor.empty() : tensor<64xf32>
  %7 = tilewright.dispatch @k(%5 : tensor<64xf32>) outs(%6 : tensor<64xf32>) -> tensor<64xf32>
  return %7 : tensor<64xf32>
}

// A tensor lives as long as what shares its buffer.
// CHECK-LABEL: func @AliasesKeepAlive(
// CHECK-SAME: attributes {tilewright.arena = array<i64: 768, 768>}
// CHECK: tensor.empty() {tilewright.temporary = array<i64: 0, 0>} : tensor<64xf32>
// CHECK: tensor.empty() {tilewright.temporary = array<i64: 1, 256>} : tensor<64xf32>
// CHECK: tensor.empty() {tilewright.temporary = array<i64: 2, 512>} : tensor<64xf32>
func.func @AliasesKeepAlive(%x: tensor<64xf32>, %y: tensor<8x8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = tensor.empty() : tensor<64xf32>
  %1 = tilewright.dispatch @k(%x : tensor<64xf32>) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
  %grid = tensor.expand_shape %1 [[0, 1]] output_shape [8, 8] : tensor<64xf32> into tensor<8x8xf32>
  %2 = tensor.empty() : tensor<64xf32>
  %3 = tilewright.dispatch @k(%x : tensor<64xf32>) outs(%2 : tensor<64xf32>) -> tensor<64xf32>
  %4 = tensor.empty() : tensor<64xf32>
  %5 = tilewright.dispatch @k(%3 : tensor<64xf32>) outs(%4 : tensor<64xf32>) -> tensor<64xf32>
  %a = tensor.extract %grid[%c0, %c0] : tensor<8x8xf32>
  %b = tensor.extract %5[%c0] : tensor<64xf32>
  %r = arith.addf %a, %b : f32
  return %r : f32
}

// A use in a loop lasts as long as the loop.
// CHECK-LABEL: func @LoopsKeepAlive(
// CHECK-SAME: attributes {tilewright.arena = array<i64: 512, 512>}
// CHECK: tensor.empty() {tilewright.temporary = array<i64: 0, 0>}
// CHECK: tensor.empty() {tilewright.temporary = array<i64: 1, 256>}
func.func @LoopsKeepAlive(%x: tensor<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.empty() : tensor<64xf32>
  %1 = tilewright.dispatch @k(%x : tensor<64xf32>) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
  %2 = tensor.empty() : tensor<64xf32>
  scf.for %i = %c0 to %n step %c1 {
    %3 = tilewright.dispatch @k(%1 : tensor<64xf32>) outs(%2 : tensor<64xf32>) -> tensor<64xf32>
    %v = tensor.extract %3[%c0] : tensor<64xf32>
    vector.print %v : f32
  }
  return
}

// Results, what a loop carries and sizes that are not known stay with the pool.
// CHECK-LABEL: func @OthersAreLeftAlone(
// CHECK-NOT: tilewright.arena
// CHECK-NOT: tilewright.temporary
// CHECK: return
func.func @OthersAreLeftAlone(%x: tensor<64xf32>, %n: index) -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.empty() : tensor<64xf32>
  %1 = tilewright.dispatch @k(%x : tensor<64xf32>) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
  %2 = tensor.empty() : tensor<64xf32>
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %2) -> tensor<64xf32> {
    %4 = tilewright.dispatch @update() outs(%c : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %4 : tensor<64xf32>
  }
  %5 = tensor.empty(%n) : tensor<?xf32>
  %6 = tensor.empty(%n) : tensor<?xf32>
  return %1, %3 : tensor<64xf32>, tensor<64xf32>
}
