// RUN: tilewright-opt %s -tilewright-prepare-destinations | FileCheck %s

func.func private @update(tensor<?xf32>) -> tensor<?xf32>
    attributes {tilewright.kernel, tilewright.access = ["readwrite"]}
func.func private @write(tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]}

func.func private @two(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {tilewright.kernel, tilewright.access = ["readwrite", "readwrite"]}

// CHECK-LABEL: @CopiesArguments
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK: tilewright.dispatch @update() outs(%[[C]]
func.func @CopiesArguments(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tilewright.dispatch @update() outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @MakesNewTensorsForWrites
// CHECK: %[[D:.*]] = tensor.dim %arg0
// CHECK: %[[E:.*]] = tensor.empty(%[[D]])
// CHECK: tilewright.dispatch @write(%arg0 : tensor<?xf32>) outs(%[[E]]
func.func @MakesNewTensorsForWrites(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tilewright.dispatch @write(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @ReusesResults
// CHECK-NOT: copy
// CHECK: return
func.func @ReusesResults(%n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = tilewright.dispatch @update() outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %1 = tilewright.dispatch @update() outs(%0 : tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// A cast shares the buffer, and is still looked at.
// CHECK-LABEL: @CopiesWhatACastShares
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy
// CHECK: tilewright.dispatch @update() outs(%[[C]]
func.func @CopiesWhatACastShares(%n: index) -> (tensor<4xf32>, tensor<?xf32>) {
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = tilewright.dispatch @update() outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<4xf32>
  %2 = tilewright.dispatch @update() outs(%0 : tensor<?xf32>) -> tensor<?xf32>
  return %1, %2 : tensor<4xf32>, tensor<?xf32>
}

// The next iteration would find the tensor of before the loop overwritten.
// CHECK-LABEL: @CopiesInLoops
// CHECK: scf.for
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy
// CHECK: tilewright.dispatch @update() outs(%[[C]]
func.func @CopiesInLoops(%n: index, %lb: index, %ub: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = tilewright.dispatch @update() outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.for %i = %lb to %ub step %lb iter_args(%t = %e) -> tensor<?xf32> {
    %1 = tilewright.dispatch @update() outs(%0 : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// A kernel writes a window of a tensor that nobody looks at later.
// CHECK-LABEL: @WritesAWindowInPlace
// CHECK-NOT: alloc_tensor
// CHECK: tensor.insert_slice {{.*}}tilewright.in_place
func.func @WritesAWindowInPlace(%n: index) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %w = tensor.extract_slice %e[2] [%n] [1] : tensor<8xf32> to tensor<?xf32>
  %0 = tilewright.dispatch @update() outs(%w : tensor<?xf32>) -> tensor<?xf32>
  %1 = tensor.insert_slice %0 into %e[2] [%n] [1] : tensor<?xf32> into tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: @CopiesAroundAWindow
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK: %[[W:.*]] = tensor.extract_slice %[[C]]
// CHECK: %[[R:.*]] = tilewright.dispatch @update() outs(%[[W]]
// CHECK: tensor.insert_slice %[[R]] into %[[C]]{{.*}}tilewright.in_place
func.func @CopiesAroundAWindow(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %w = tensor.extract_slice %x[2] [%n] [1] : tensor<8xf32> to tensor<?xf32>
  %0 = tilewright.dispatch @update() outs(%w : tensor<?xf32>) -> tensor<?xf32>
  %1 = tensor.insert_slice %0 into %x[2] [%n] [1] : tensor<?xf32> into tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Two windows of a new tensor, put there one after the other.
// CHECK-LABEL: @WritesPartsInPlace
// CHECK-NOT: alloc_tensor
// CHECK-COUNT-2: tensor.insert_slice {{.*}}tilewright.in_place
func.func @WritesPartsInPlace() -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %v = tensor.extract_slice %e[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %w = tensor.extract_slice %e[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %0:2 = tilewright.dispatch @two() outs(%v, %w : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
  %1 = tensor.insert_slice %0#0 into %e[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %2 = tensor.insert_slice %0#1 into %1[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %2 : tensor<8xf32>
}

// One copy of the argument for both.
// CHECK-LABEL: @CopiesAroundParts
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK-NOT: alloc_tensor
// CHECK: %[[V:.*]] = tensor.extract_slice %[[C]]
// CHECK: %[[W:.*]] = tensor.extract_slice %[[C]]
// CHECK: tilewright.dispatch @two() outs(%[[V]], %[[W]]
// CHECK: %[[I:.*]] = tensor.insert_slice %{{.*}}#0 into %[[C]]{{.*}}tilewright.in_place
// CHECK: tensor.insert_slice %{{.*}}#1 into %[[I]]{{.*}}tilewright.in_place
func.func @CopiesAroundParts(%x: tensor<16xf32>) -> tensor<16xf32> {
  %v = tensor.extract_slice %x[0] [4] [1] : tensor<16xf32> to tensor<4xf32>
  %w = tensor.extract_slice %x[4] [4] [1] : tensor<16xf32> to tensor<4xf32>
  %0:2 = tilewright.dispatch @two() outs(%v, %w : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
  %1 = tensor.insert_slice %0#0 into %x[0] [4] [1] : tensor<4xf32> into tensor<16xf32>
  %2 = tensor.insert_slice %0#1 into %1[4] [4] [1] : tensor<4xf32> into tensor<16xf32>
  return %2 : tensor<16xf32>
}

// One copy in front of the loop, not one per iteration.
// CHECK-LABEL: @CopiesBeforeTheLoop
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %[[C]])
// CHECK-NOT: alloc_tensor
// CHECK: tensor.extract_slice %[[T]]
func.func @CopiesBeforeTheLoop(%x: tensor<8xf32>, %n: index, %lb: index, %ub: index) -> tensor<8xf32> {
  %r = scf.for %i = %lb to %ub step %lb iter_args(%t = %x) -> tensor<8xf32> {
    %w = tensor.extract_slice %t[%i] [%n] [1] : tensor<8xf32> to tensor<?xf32>
    %0 = tilewright.dispatch @update() outs(%w : tensor<?xf32>) -> tensor<?xf32>
    %1 = tensor.insert_slice %0 into %t[%i] [%n] [1] : tensor<?xf32> into tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A swap: the second store wants what the first one overwrites.
// CHECK-LABEL: @KeepsWhatALaterStoreWants
// CHECK: %[[A:.*]] = bufferization.to_tensor %arg0
// CHECK: %[[B:.*]] = bufferization.to_tensor %arg1
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK: materialize_in_destination %[[B]] in writable %arg0
// CHECK: materialize_in_destination %[[C]] in writable %arg1
func.func @KeepsWhatALaterStoreWants(%a: memref<4xf32>, %b: memref<4xf32>) {
  %ta = bufferization.to_tensor %a restrict writable : memref<4xf32> to tensor<4xf32>
  %tb = bufferization.to_tensor %b restrict writable : memref<4xf32> to tensor<4xf32>
  bufferization.materialize_in_destination %tb in writable %a : (tensor<4xf32>, memref<4xf32>) -> ()
  bufferization.materialize_in_destination %ta in writable %b : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// What a loop carries may end in either buffer.
// CHECK-LABEL: @KeepsWhatLoopsExchange
// CHECK: %[[R:.*]]:2 = scf.for
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[R]]#1)
// CHECK: materialize_in_destination %[[R]]#0 in writable %arg0
// CHECK: materialize_in_destination %[[C]] in writable %arg1
func.func @KeepsWhatLoopsExchange(%a: memref<4xf32>, %b: memref<4xf32>, %n: index, %lb: index) {
  %ta = bufferization.to_tensor %a restrict writable : memref<4xf32> to tensor<4xf32>
  %tb = bufferization.to_tensor %b restrict writable : memref<4xf32> to tensor<4xf32>
  %r:2 = scf.for %i = %lb to %n step %n iter_args(%x = %ta, %y = %tb) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %y, %x : tensor<4xf32>, tensor<4xf32>
  }
  bufferization.materialize_in_destination %r#0 in writable %a : (tensor<4xf32>, memref<4xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in writable %b : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// A kernel may read for a later store; all stores come last.
// CHECK-LABEL: @StoresLast
// CHECK: tilewright.dispatch @write
// CHECK: materialize_in_destination %{{.*}} in writable %arg0
// CHECK: materialize_in_destination %{{.*}} in writable %arg1
func.func @StoresLast(%a: memref<?xf32>, %b: memref<?xf32>, %x: tensor<?xf32>, %n: index) {
  %ta = bufferization.to_tensor %a restrict writable : memref<?xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %x in writable %a : (tensor<?xf32>, memref<?xf32>) -> ()
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = tilewright.dispatch @write(%ta : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %0 in writable %b : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// The caller's buffer keeps its elements where nothing is stored to it.
// CHECK-LABEL: @KeepsWhatIsOnlyRead
// CHECK: %[[A:.*]] = bufferization.to_tensor %arg0
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK: tilewright.dispatch @update() outs(%[[C]]
func.func @KeepsWhatIsOnlyRead(%a: memref<?xf32>, %b: memref<?xf32>) {
  %ta = bufferization.to_tensor %a restrict writable : memref<?xf32> to tensor<?xf32>
  %0 = tilewright.dispatch @update() outs(%ta : tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %0 in writable %b : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

func.func private @half(tensor<8xf32>) -> tensor<8xf32>
    attributes {tilewright.kernel, tilewright.access = ["readwrite"]}

// Two windows of one tensor, each put into it for itself: a copy for each.
// CHECK-LABEL: @SideBySide
// CHECK: %[[A:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK: %[[WA:.*]] = tensor.extract_slice %[[A]]
// CHECK: %[[RA:.*]] = tilewright.dispatch @half() outs(%[[WA]]
// CHECK: tensor.insert_slice %[[RA]] into %[[A]]
// CHECK: %[[B:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK: %[[WB:.*]] = tensor.extract_slice %[[B]]
// CHECK: %[[RB:.*]] = tilewright.dispatch @half() outs(%[[WB]]
// CHECK: tensor.insert_slice %[[RB]] into %[[B]]
func.func @SideBySide(%t: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %s = tensor.extract_slice %t[0] [8] [1] : tensor<16xf32> to tensor<8xf32>
  %a = tilewright.dispatch @half() outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %i = tensor.insert_slice %a into %t[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %r = tensor.extract_slice %t[0] [8] [1] : tensor<16xf32> to tensor<8xf32>
  %b = tilewright.dispatch @half() outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %j = tensor.insert_slice %b into %t[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %i, %j : tensor<16xf32>, tensor<16xf32>
}

// The part in the middle is computed last, into the tensor that the first is in already: the last
// part lies in its window all the same.
func.func private @part(tensor<4x2xf32>) -> tensor<4x2xf32>
    attributes {tilewright.kernel, tilewright.access = ["write"]}
// CHECK-LABEL: @PartInTheMiddleLast
// CHECK: tensor.empty() : tensor<4x6xf32>
// CHECK-NOT: tensor.empty
// CHECK-NOT: alloc_tensor
// CHECK: return
func.func @PartInTheMiddleLast() -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %w0 = tensor.extract_slice %e[0, 0] [4, 2] [1, 1] : tensor<4x6xf32> to tensor<4x2xf32>
  %a = tilewright.dispatch @part() outs(%w0 : tensor<4x2xf32>) -> tensor<4x2xf32>
  %w2 = tensor.extract_slice %e[0, 4] [4, 2] [1, 1] : tensor<4x6xf32> to tensor<4x2xf32>
  %c = tilewright.dispatch @part() outs(%w2 : tensor<4x2xf32>) -> tensor<4x2xf32>
  %i0 = tensor.insert_slice %a into %e[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x6xf32>
  %w1 = tensor.extract_slice %i0[0, 2] [4, 2] [1, 1] : tensor<4x6xf32> to tensor<4x2xf32>
  %b = tilewright.dispatch @part() outs(%w1 : tensor<4x2xf32>) -> tensor<4x2xf32>
  %i1 = tensor.insert_slice %b into %i0[0, 2] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x6xf32>
  %i2 = tensor.insert_slice %c into %i1[0, 4] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x6xf32>
  return %i2 : tensor<4x6xf32>
}
