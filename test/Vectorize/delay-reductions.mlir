// RUN: tilewright-opt %s -tilewright-delay-reductions | FileCheck %s

// CHECK-LABEL: func.func @WidenAccumulator(
// CHECK-SAME: %[[INIT:.+]]: vector<4xf32>
func.func @WidenAccumulator(%init: vector<4xf32>, %v: vector<4x128xf32>, %n: index) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  // CHECK: %[[LEAST:.+]] = arith.constant dense<0xFF800000> : vector<4x128xf32>
  // CHECK: %[[W:.+]] = scf.for {{.+}} iter_args(%[[A:.+]] = %[[LEAST]]) -> (vector<4x128xf32>)
  // CHECK:   %[[N:.+]] = arith.maximumf %{{.+}}, %[[A]] : vector<4x128xf32>
  // CHECK:   scf.yield %[[N]]
  // CHECK: vector.multi_reduction <maximumf>, %[[W]], %[[INIT]] [1]
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %init) -> (vector<4xf32>) {
    %s = vector.multi_reduction <maximumf>, %v, %acc [1] : vector<4x128xf32> to vector<4xf32>
    scf.yield %s : vector<4xf32>
  }
  return %r : vector<4xf32>
}

// Where a number comes in any case, lanes begin with one, too; otherwise with NaN, which is what
// nothing but NaN yields.
// CHECK-LABEL: func.func @BeginWithNumbers(
func.func @BeginWithNumbers(%init: vector<4xf32>, %v: vector<4x128xf32>, %n: index) -> (vector<4xf32>, vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %number = vector.broadcast %zero : f32 to vector<4xf32>
  // CHECK-DAG: %[[LEAST:.+]] = arith.constant dense<0xFF800000> : vector<4x128xf32>
  // CHECK-DAG: %[[NAN:.+]] = arith.constant dense<0xFFC00000> : vector<4x128xf32>
  // CHECK: scf.for {{.+}} iter_args(%{{.+}} = %[[LEAST]], %{{.+}} = %[[NAN]])
  %r:2 = scf.for %i = %c0 to %n step %c128 iter_args(%a = %number, %b = %init) -> (vector<4xf32>, vector<4xf32>) {
    %s = vector.multi_reduction <maxnumf>, %v, %a [1] : vector<4x128xf32> to vector<4xf32>
    %t = vector.multi_reduction <maxnumf>, %v, %b [1] : vector<4x128xf32> to vector<4xf32>
    scf.yield %s, %t : vector<4xf32>, vector<4xf32>
  }
  return %r#0, %r#1 : vector<4xf32>, vector<4xf32>
}

// The accumulator is used in the loop by something else.
// CHECK-LABEL: func.func @KeepAccumulatorInUse(
func.func @KeepAccumulatorInUse(%init: vector<4xf32>, %v: vector<4x128xf32>, %n: index) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  // CHECK: scf.for {{.+}} -> (vector<4xf32>)
  // CHECK:   vector.multi_reduction
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %init) -> (vector<4xf32>) {
    %twice = arith.addf %acc, %acc : vector<4xf32>
    %s = vector.multi_reduction <add>, %v, %twice [1] : vector<4x128xf32> to vector<4xf32>
    scf.yield %s : vector<4xf32>
  }
  return %r : vector<4xf32>
}

// A product that may be contracted is added by a fused multiply-add.
// CHECK-LABEL: func.func @FuseProduct(
// CHECK-SAME: %[[A:.+]]: vector<4x128xf32>, %[[B:.+]]: vector<4x128xf32>
func.func @FuseProduct(%a: vector<4x128xf32>, %b: vector<4x128xf32>, %init: vector<4xf32>, %n: index) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  // CHECK: scf.for {{.+}} iter_args(%[[SUM:.+]] = %{{.+}}) -> (vector<4x128xf32>)
  // CHECK:   %[[N:.+]] = math.fma %[[A]], %[[B]], %[[SUM]] : vector<4x128xf32>
  // CHECK:   scf.yield %[[N]]
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %init) -> (vector<4xf32>) {
    %p = arith.mulf %a, %b fastmath<contract> : vector<4x128xf32>
    %s = vector.multi_reduction <add>, %p, %acc [1] : vector<4x128xf32> to vector<4xf32>
    scf.yield %s : vector<4xf32>
  }
  return %r : vector<4xf32>
}

// Lanes outside keep their sums, whatever the product is there.
// CHECK-LABEL: func.func @FuseMaskedProduct(
// CHECK-SAME: %[[A:.+]]: vector<4x128xf32>, %[[B:.+]]: vector<4x128xf32>, %[[INSIDE:.+]]: vector<4x128xi1>
func.func @FuseMaskedProduct(%a: vector<4x128xf32>, %b: vector<4x128xf32>, %inside: vector<4x128xi1>, %init: vector<4xf32>, %n: index) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<-0.0> : vector<4x128xf32>
  // CHECK: scf.for {{.+}} iter_args(%[[SUM:.+]] = %{{.+}}) -> (vector<4x128xf32>)
  // CHECK:   %[[F:.+]] = math.fma %[[A]], %[[B]], %[[SUM]] : vector<4x128xf32>
  // CHECK:   %[[N:.+]] = arith.select %[[INSIDE]], %[[F]], %[[SUM]]
  // CHECK:   scf.yield %[[N]]
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %init) -> (vector<4xf32>) {
    %p = arith.mulf %a, %b fastmath<contract> : vector<4x128xf32>
    %t = arith.select %inside, %p, %zero : vector<4x128xi1>, vector<4x128xf32>
    %s = vector.multi_reduction <add>, %t, %acc [1] : vector<4x128xf32> to vector<4xf32>
    scf.yield %s : vector<4xf32>
  }
  return %r : vector<4xf32>
}

// Any other product is rounded before it is added.
// CHECK-LABEL: func.func @KeepProduct(
func.func @KeepProduct(%a: vector<4x128xf32>, %b: vector<4x128xf32>, %init: vector<4xf32>, %n: index) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  // CHECK: scf.for
  // CHECK-NOT: math.fma
  // CHECK:   arith.addf
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %init) -> (vector<4xf32>) {
    %p = arith.mulf %a, %b : vector<4x128xf32>
    %s = vector.multi_reduction <add>, %p, %acc [1] : vector<4x128xf32> to vector<4xf32>
    scf.yield %s : vector<4xf32>
  }
  return %r : vector<4xf32>
}
