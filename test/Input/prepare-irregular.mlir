// RUN: tilewright-opt %s -tilewright-prepare-irregular | FileCheck %s

// Updates are counted by one dim.
// CHECK-LABEL: @batches
// CHECK: %[[U:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]]
// CHECK: %[[I:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0, 1], [2]]
// CHECK: tilewright.scatter ins(%[[U]], %[[I]] : tensor<?x8xf32>, tensor<?x1xi32>)
func.func @batches(%u: tensor<3x?x8xf32>, %i: tensor<3x?x1xi32>, %t: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %r = tilewright.scatter ins(%u, %i : tensor<3x?x8xf32>, tensor<3x?x1xi32>) outs(%t : tensor<9x8xf32>) {dims = array<i64: 0>} -> tensor<9x8xf32>
  return %r : tensor<9x8xf32>
}

// CHECK-LABEL: @short
// CHECK: %[[R:.*]] = tilewright.scan ins(%arg0 : tensor<4x100x3xf32>) outs(%{{.*}}) {dim = 1 : i64} combine
// CHECK: return %[[R]]
func.func @short(%x: tensor<4x100x3xf32>, %e: tensor<4x100x3xf32>) -> tensor<4x100x3xf32> {
  %r = tilewright.scan ins(%x : tensor<4x100x3xf32>) outs(%e : tensor<4x100x3xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<4x100x3xf32>
  return %r : tensor<4x100x3xf32>
}

// Long ones stay, too: targets differ in how they are shared out.
// CHECK-LABEL: @long
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<1x5000x1xf32>
// CHECK: %[[I:.*]] = tensor.expand_shape %arg2 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
// CHECK: %[[R:.*]] = tilewright.scan ins(%[[X]] : {{.*}}) init(%[[I]] : {{.*}}) outs(%{{.*}}) {dim = 1 : i64, exclusive, reverse}
// CHECK: tensor.collapse_shape %[[R]]
func.func @long(%x: tensor<5000xf32>, %e: tensor<5000xf32>, %s: tensor<f32>) -> tensor<5000xf32> {
  %r = tilewright.scan ins(%x : tensor<5000xf32>) init(%s : tensor<f32>) outs(%e : tensor<5000xf32>) {dim = 0 : i64, exclusive, reverse} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<5000xf32>
  return %r : tensor<5000xf32>
}

// As the oracle has it.
// CHECK-LABEL: @memrefs
// CHECK: %[[D:.*]] = bufferization.to_tensor %arg2 restrict writable
// CHECK: %[[R:.*]] = tilewright.scatter {{.*}} outs(%[[D]] : tensor<9x8xf32>)
// CHECK: bufferization.materialize_in_destination %[[R]] in restrict writable %arg2
func.func @memrefs(%u: memref<?x8xf32>, %i: memref<?x1xi32>, %t: memref<9x8xf32>) {
  tilewright.scatter ins(%u, %i : memref<?x8xf32>, memref<?x1xi32>) outs(%t : memref<9x8xf32>) {dims = array<i64: 0>, unique}
  return
}

// Runs of 512 elements through scratch memory, and merges until there is one.
// CHECK-LABEL: @sort
// CHECK: %[[K:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<1x1000x3xf32>
// CHECK: %[[S:.*]]:4 = tilewright.sort ins(%[[K]], %{{.*}} : tensor<1x1000x3xf32>, tensor<1x1000x3xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {descending, dim = 1 : i64, runs}
// CHECK-DAG: %[[N:.*]] = arith.constant 1000 : index
// CHECK-DAG: %[[C512:.*]] = arith.constant 512 : index
// CHECK: %[[L:.*]]:3 = scf.while (%[[W:.*]] = %[[C512]], %{{.*}} = %[[S]]#0, %{{.*}} = %[[S]]#1)
// CHECK: arith.cmpi ult, %[[W]], %[[N]]
// CHECK: } do {
// CHECK: ^bb0(%[[V:.*]]: index, %[[A:.*]]: tensor<1x1000x3xf32>, %[[B:.*]]: tensor<1x1000x3xi32>):
// CHECK: %[[M:.*]]:2 = tilewright.sort ins(%[[A]], %[[B]] : {{.*}}) width(%[[V]]) outs(%{{.*}}) {descending, dim = 1 : i64}
// CHECK: %[[T:.*]] = arith.muli %[[V]]
// CHECK: scf.yield %[[T]], %[[M]]#0, %[[M]]#1
// CHECK: tensor.collapse_shape %[[L]]#1
func.func @sort(%x: tensor<1000x3xf32>, %i: tensor<1000x3xi32>) -> (tensor<1000x3xf32>, tensor<1000x3xi32>) {
  %r:2 = tilewright.sort ins(%x, %i : tensor<1000x3xf32>, tensor<1000x3xi32>) outs(%x, %i : tensor<1000x3xf32>, tensor<1000x3xi32>) {dim = 0 : i64, descending} -> tensor<1000x3xf32>, tensor<1000x3xi32>
  return %r#0, %r#1 : tensor<1000x3xf32>, tensor<1000x3xi32>
}

// The beginning of a sort; a row of one run needs neither loop nor scratch memory.
// CHECK-LABEL: @topK
// CHECK: %[[I:.*]] = linalg.generic
// CHECK: linalg.index 1
// CHECK: %[[S:.*]]:2 = tilewright.sort ins(%{{.*}} : tensor<4x30x1xf32>, tensor<4x30x1xi64>) outs(%{{.*}}) {dim = 1 : i64, runs}
// CHECK-NOT: scf.while
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [4, 5] [1, 1] : tensor<4x30xf32> to tensor<4x5xf32>
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [4, 5] [1, 1] : tensor<4x30xi64> to tensor<4x5xi64>
func.func @topK(%x: tensor<4x30xf32>, %v: tensor<4x5xf32>, %i: tensor<4x5xi64>) -> (tensor<4x5xf32>, tensor<4x5xi64>) {
  %r:2 = tilewright.top_k ins(%x : tensor<4x30xf32>) outs(%v, %i : tensor<4x5xf32>, tensor<4x5xi64>) {dim = 1 : i64, smallest} -> tensor<4x5xf32>, tensor<4x5xi64>
  return %r#0, %r#1 : tensor<4x5xf32>, tensor<4x5xi64>
}

// Merges until runs have as many elements as are taken; then what is behind them is dropped.
// CHECK-LABEL: @few
// CHECK: %[[S:.*]]:2 = tilewright.sort {{.*}} {dim = 1 : i64, runs}
// CHECK: %[[LEAST:.*]] = arith.minui %arg1, %[[N:.*]] : index
// CHECK: %[[M:.*]]:2 = scf.while
// CHECK: arith.cmpi ult, %{{.*}}, %[[LEAST]]
// CHECK: tilewright.sort {{.*}} {dim = 1 : i64}
// CHECK: %[[L:.*]]:2 = scf.while (%[[LENGTH:.*]] = %[[N]], %{{.*}} = %[[M]]#1)
// CHECK: arith.cmpi ult, %[[M]]#0, %[[LENGTH]]
// CHECK: ^bb0(%{{.*}}: index, %[[T:.*]]: tensor<1x?x1xf32>):
// CHECK: tilewright.sort ins(%[[T]] : {{.*}}) width(%[[M]]#0) outs(%{{.*}}) {dim = 1 : i64, halves}
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[L]]#1
// CHECK: tensor.extract_slice %[[R]][0] [%arg1] [1] : tensor<?xf32> to tensor<?xf32>
func.func @few(%x: tensor<?xf32>, %k: index) -> tensor<?xf32> {
  %r = tilewright.sort ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) {dim = 0 : i64} -> tensor<?xf32>
  %s = tensor.extract_slice %r[0] [%k] [1] : tensor<?xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}

// What is not zero is numbered by a scan, and put there.
// CHECK-LABEL: @nonzero
// CHECK: %[[F:.*]] = linalg.generic
// CHECK: arith.cmpf une
// CHECK: %[[FLAGS:.*]] = tensor.collapse_shape %[[F]]
// CHECK: tilewright.scan ins(%{{.*}} : tensor<1x28x1xi64>) outs(%{{.*}}) {dim = 1 : i64} combine
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[FLAGS]], %{{.*}} : tensor<28xi64>, tensor<28xi64>)
// CHECK: %[[PLACES:.*]] = tensor.expand_shape %[[P]] {{.*}} into tensor<28x1xi64>
// CHECK: tilewright.scatter ins(%{{.*}}, %[[PLACES]] : tensor<28x2xi64>, tensor<28x1xi64>) outs(%arg1 : {{.*}}) {dims = array<i64: 0>, unique}
// CHECK: linalg.generic {{.*}}["reduction"]} ins(%[[FLAGS]]
func.func @nonzero(%x: tensor<4x7xf32>, %i: tensor<?x2xi64>, %n: tensor<i64>) -> (tensor<?x2xi64>, tensor<i64>) {
  %r:2 = tilewright.nonzero ins(%x : tensor<4x7xf32>) outs(%i, %n : tensor<?x2xi64>, tensor<i64>) -> tensor<?x2xi64>, tensor<i64>
  return %r#0, %r#1 : tensor<?x2xi64>, tensor<i64>
}

// Of each run of equal elements of a sort, the first one.
// CHECK-LABEL: @unique
// CHECK: %[[S:.*]] = tilewright.sort ins(%{{.*}}, %{{.*}} : tensor<1x28x1xf32>, tensor<1x28x1xi64>)
// CHECK: %[[F:.*]] = linalg.generic
// CHECK: tensor.extract
// CHECK: tilewright.scan
// CHECK: tilewright.scatter {{.*}} outs(%arg1 : tensor<?xf32>) {dims = array<i64: 0>, unique}
// CHECK: linalg.generic {{.*}}["reduction"]} ins(%[[F]]
// CHECK: %[[W:.*]] = tilewright.scatter {{.*}} -> tensor<28xi64>
// CHECK: tensor.expand_shape %[[W]] {{.*}} into tensor<4x7xi64>
// CHECK: %[[STARTS:.*]] = tilewright.scatter
// CHECK: tensor.extract %[[STARTS]]
func.func @unique(%x: tensor<4x7xf32>, %v: tensor<?xf32>, %n: tensor<i64>, %w: tensor<4x7xi64>, %c: tensor<?xi64>)
    -> (tensor<?xf32>, tensor<i64>, tensor<4x7xi64>, tensor<?xi64>) {
  %r:4 = tilewright.unique ins(%x : tensor<4x7xf32>) outs(%v, %n : tensor<?xf32>, tensor<i64>) inverse(%w : tensor<4x7xi64>) counts(%c : tensor<?xi64>)
      -> tensor<?xf32>, tensor<i64>, tensor<4x7xi64>, tensor<?xi64>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xf32>, tensor<i64>, tensor<4x7xi64>, tensor<?xi64>
}

// Two factors, a product each, and powers of the root between them; the second one puts
// frequencies in order.
// CHECK-LABEL: @fft
// CHECK: %[[X:.*]] = tensor.expand_shape %{{.*}} : tensor<?x32x2xf32> into tensor<?x16x2x2xf32>
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[X]] : tensor<16x2x16x2xf32>, tensor<?x16x2x2xf32>)
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[A]], %{{.*}}, %{{.*}} : {{.*}}, tensor<16x2xf32>, tensor<16x2xf32>)
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[B]] : tensor<2x2x2x2xf32>, tensor<?x16x2x2xf32>) outs(%{{.*}} : tensor<?x2x16x2xf32>)
// CHECK: tensor.collapse_shape %[[C]] {{.*}} into tensor<?x32x2xf32>
func.func @fft(%x: tensor<?x32x2xf32>, %e: tensor<?x32x2xf32>) -> tensor<?x32x2xf32> {
  %r = tilewright.fft ins(%x : tensor<?x32x2xf32>) outs(%e : tensor<?x32x2xf32>) -> tensor<?x32x2xf32>
  return %r : tensor<?x32x2xf32>
}

// Of a length that is not known, a sum with a table of the powers.
// CHECK-LABEL: @fftByTerms
// CHECK: %[[T:.*]] = linalg.generic
// CHECK: math.cos
// CHECK: math.sin
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: arith.remui
// CHECK: tensor.extract %[[T]]
// CHECK: linalg.generic
// CHECK: arith.mulf
func.func @fftByTerms(%x: tensor<?x2xf32>, %e: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %r = tilewright.fft ins(%x : tensor<?x2xf32>) outs(%e : tensor<?x2xf32>) {inverse} -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// Nothing is found in what has no elements.
// CHECK-LABEL: func.func @NothingIsNonzero(
// CHECK-SAME: %{{.*}}, %[[O:.*]]: tensor<?x2xi64>, %[[C:.*]]: tensor<i64>
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-NEXT: %[[N:.*]] = linalg.fill ins(%[[ZERO]] : i64) outs(%[[C]]
// CHECK-NEXT: return %[[O]], %[[N]]
func.func @NothingIsNonzero(%x: tensor<0x?xf32>, %o: tensor<?x2xi64>, %c: tensor<i64>) -> (tensor<?x2xi64>, tensor<i64>) {
  %r:2 = tilewright.nonzero ins(%x : tensor<0x?xf32>) outs(%o, %c : tensor<?x2xi64>, tensor<i64>) -> tensor<?x2xi64>, tensor<i64>
  return %r#0, %r#1 : tensor<?x2xi64>, tensor<i64>
}

// CHECK-LABEL: func.func @NothingIsUnique(
// CHECK-SAME: %{{.*}}, %[[V:.*]]: tensor<4xi16>, %[[N:.*]]: tensor<i64>, %[[O:.*]]: tensor<4xi64>
// CHECK: %[[COUNT:.*]] = linalg.fill ins(%{{.*}} : i64) outs(%[[N]]
// CHECK: %[[OFTEN:.*]] = linalg.fill ins(%{{.*}} : i64) outs(%[[O]]
// CHECK-NEXT: return %[[V]], %[[COUNT]], %[[OFTEN]]
func.func @NothingIsUnique(%x: tensor<?x0xi16>, %v: tensor<4xi16>, %n: tensor<i64>, %o: tensor<4xi64>) -> (tensor<4xi16>, tensor<i64>, tensor<4xi64>) {
  %r:3 = tilewright.unique ins(%x : tensor<?x0xi16>) outs(%v, %n : tensor<4xi16>, tensor<i64>) counts(%o : tensor<4xi64>) -> tensor<4xi16>, tensor<i64>, tensor<4xi64>
  return %r#0, %r#1, %r#2 : tensor<4xi16>, tensor<i64>, tensor<4xi64>
}
