// RUN: tilewright-opt %s -tilewright-fuse-row-loops | FileCheck %s --check-prefixes=CHECK,MANY
// RUN: tilewright-opt %s -tilewright-fuse-row-loops=registers=16 | FileCheck %s --check-prefixes=CHECK,FEW

// A variance around a running mean: one loop for both. The sum is the mean times the steps.
// CHECK-LABEL: @Variance
// CHECK: %[[L:.*]]:3 = scf.for %[[I:.*]] = {{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[MEAN:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}})
// CHECK: %[[X:.*]] = vector.transfer_read %arg0[%arg1, %[[I]]]
// CHECK-NOT: vector.transfer_read
// CHECK: %[[K:.*]] = arith.sitofp
// CHECK: %[[SHARE:.*]] = arith.divf %{{.*}}, %[[K]] : f32
// CHECK: %[[R:.*]] = vector.broadcast %[[SHARE]]
// CHECK: %[[D:.*]] = arith.subf %[[X]], %[[MEAN]]
// CHECK: %[[NEXT:.*]] = math.fma %[[D]], %[[R]], %[[MEAN]]
// CHECK: %[[E:.*]] = arith.subf %[[X]], %[[NEXT]]
// CHECK: %[[Q:.*]] = math.fma %[[D]], %[[E]], %[[C]]
// CHECK: scf.yield %[[S]], %[[NEXT]], %[[Q]]
// CHECK: %[[STEPS:.*]] = arith.constant dense<4.0{{.*}}> : vector<2x32xf32>
// CHECK: %[[SUM:.*]] = arith.mulf %[[L]]#1, %[[STEPS]]
// CHECK: vector.multi_reduction <add>, %[[SUM]]
// CHECK: %[[M:.*]] = arith.divf
// CHECK: %[[A:.*]] = arith.subf %[[L]]#1, %[[M]]
// CHECK: %[[B:.*]] = arith.mulf %[[A]], %{{.*}}
// CHECK: %[[V:.*]] = math.fma %[[B]], %[[A]], %[[L]]#2
// CHECK-NOT: scf.for
// CHECK: return %[[V]]
func.func private @Variance(%x: memref<64x128xf32>, %row: index) -> vector<2x32xf32>
    attributes {tilewright.kernel, tilewright.access = ["read"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %z = arith.constant dense<0.0> : vector<2x32xf32>
  %z2 = arith.constant dense<0.0> : vector<2xf32>
  %n = arith.constant dense<128.0> : vector<2x32xf32>
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %b = arith.addf %v, %a : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  %t = vector.multi_reduction <add>, %s, %z2 [1] : vector<2x32xf32> to vector<2xf32>
  %q = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %t1 = vector.shape_cast %t : vector<2xf32> to vector<2x1xf32>
    %t2 = vector.broadcast %t1 : vector<2x1xf32> to vector<2x32xf32>
    %m = arith.divf %t2, %n : vector<2x32xf32>
    %d = arith.subf %v, %m : vector<2x32xf32>
    %b = math.fma %d, %d, %a : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  return %q : vector<2x32xf32>
}

// Rows of two dims; the distance is the other way around, its square a product.
// CHECK-LABEL: @Nest
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.transfer_read
// CHECK: arith.muli %{{.*}}, %{{.*}}
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}
// CHECK-NOT: scf.for
// CHECK: return
func.func private @Nest(%x: memref<64x4x128xf32>, %row: index) -> vector<2x32xf32>
    attributes {tilewright.kernel, tilewright.access = ["read"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %n = arith.constant 512.0 : f32
  %z = arith.constant dense<0.0> : vector<2x32xf32>
  %s = scf.for %j = %c0 to %c4 step %c2 iter_args(%o = %z) -> (vector<2x32xf32>) {
    %p = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %j, %i], %f0 {in_bounds = [true, true]} : memref<64x4x128xf32>, vector<2x32xf32>
      %b = arith.addf %v, %a : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    %r = arith.addf %p, %o : vector<2x32xf32>
    scf.yield %r : vector<2x32xf32>
  }
  %t = vector.multi_reduction <add>, %s, %f0 [0, 1] : vector<2x32xf32> to f32
  %q = scf.for %j = %c0 to %c4 step %c2 iter_args(%o = %z) -> (vector<2x32xf32>) {
    %p = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %j, %i], %f0 {in_bounds = [true, true]} : memref<64x4x128xf32>, vector<2x32xf32>
      %m = arith.divf %t, %n : f32
      %w = vector.broadcast %m : f32 to vector<2x32xf32>
      %d = arith.subf %w, %v : vector<2x32xf32>
      %e = arith.mulf %d, %d : vector<2x32xf32>
      %b = arith.addf %a, %e : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    %r = arith.addf %p, %o : vector<2x32xf32>
    scf.yield %r : vector<2x32xf32>
  }
  return %q : vector<2x32xf32>
}

// Distances to what differs from step to step, and what is no square, stay.
// CHECK-LABEL: @Stay
// CHECK-COUNT-3: scf.for
func.func private @Stay(%x: memref<64x128xf32>, %row: index) -> (vector<2x32xf32>, vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %z = arith.constant dense<0.0> : vector<2x32xf32>
  %other = arith.addi %row, %c1 : index
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %b = arith.addf %v, %a : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  %q = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %w = vector.transfer_read %x[%other, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %m = arith.mulf %s, %w : vector<2x32xf32>
    %d = arith.subf %v, %m : vector<2x32xf32>
    %b = math.fma %d, %d, %a : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  %r = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %d = arith.subf %v, %q : vector<2x32xf32>
    %e = arith.mulf %d, %v : vector<2x32xf32>
    %b = arith.addf %e, %a : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  return %q, %r : vector<2x32xf32>, vector<2x32xf32>
}

// A sum that is a result stays: of a row with an infinity the running mean is NaN. What is made of it
// and of the variance does not ask for it.
// CHECK-LABEL: @Returned
// CHECK: %[[L:.*]]:3 = scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[B:.*]] = arith.addf %{{.*}}, %[[S]]
// CHECK: scf.yield %[[B]], %{{.*}}, %{{.*}}
// CHECK: %[[T:.*]] = vector.reduction <add>, %[[L]]#0
// CHECK: return %[[T]]
func.func private @Returned(%x: memref<64x128xf32>, %row: index) -> (f32, vector<32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %n = arith.constant 128.0 : f32
  %z = arith.constant dense<0.0> : vector<32xf32>
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true]} : memref<64x128xf32>, vector<32xf32>
    %b = arith.addf %v, %a : vector<32xf32>
    scf.yield %b : vector<32xf32>
  }
  %t = vector.reduction <add>, %s : vector<32xf32> into f32
  %m = arith.divf %t, %n : f32
  %w = vector.broadcast %m : f32 to vector<32xf32>
  %q = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true]} : memref<64x128xf32>, vector<32xf32>
    %d = arith.subf %v, %w : vector<32xf32>
    %b = math.fma %d, %d, %a : vector<32xf32>
    scf.yield %b : vector<32xf32>
  }
  return %t, %q : f32, vector<32xf32>
}

// CHECK-LABEL: @Normalized
// CHECK: %[[L:.*]]:3 = scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: scf.yield %[[S]], %{{.*}}, %{{.*}}
// CHECK: return
func.func private @Normalized(%x: memref<64x128xf32>, %row: index, %y: vector<32xf32>) -> vector<32xf32>
    attributes {tilewright.kernel, tilewright.access = ["read"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %n = arith.constant 128.0 : f32
  %z = arith.constant dense<0.0> : vector<32xf32>
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true]} : memref<64x128xf32>, vector<32xf32>
    %b = arith.addf %v, %a : vector<32xf32>
    scf.yield %b : vector<32xf32>
  }
  %t = vector.reduction <add>, %s : vector<32xf32> into f32
  %m = arith.divf %t, %n : f32
  %w = vector.broadcast %m : f32 to vector<32xf32>
  %q = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true]} : memref<64x128xf32>, vector<32xf32>
    %d = arith.subf %v, %w : vector<32xf32>
    %b = math.fma %d, %d, %a : vector<32xf32>
    scf.yield %b : vector<32xf32>
  }
  %u = vector.reduction <add>, %q : vector<32xf32> into f32
  %r = math.rsqrt %u : f32
  %p = vector.broadcast %r : f32 to vector<32xf32>
  %d = arith.subf %y, %w : vector<32xf32>
  %e = arith.mulf %d, %p : vector<32xf32>
  return %e : vector<32xf32>
}

// Distances to a least element are no NaNs where there is an infinity.
// CHECK-LABEL: @ToLeast
// CHECK-COUNT-2: scf.for
// CHECK: return
func.func private @ToLeast(%x: memref<64x128xf32>, %row: index) -> vector<32xf32>
    attributes {tilewright.kernel, tilewright.access = ["read"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %z = arith.constant dense<0.0> : vector<32xf32>
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true]} : memref<64x128xf32>, vector<32xf32>
    %b = arith.minimumf %v, %a : vector<32xf32>
    scf.yield %b : vector<32xf32>
  }
  %q = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true]} : memref<64x128xf32>, vector<32xf32>
    %d = arith.subf %v, %s : vector<32xf32>
    %b = math.fma %d, %d, %a : vector<32xf32>
    scf.yield %b : vector<32xf32>
  }
  return %q : vector<32xf32>
}

// Of few registers, distances of what is widened are kept in the place of a running mean.
// CHECK-LABEL: @Widened
// MANY-COUNT-1: scf.for
// MANY-NOT: scf.for
// FEW-COUNT-2: scf.for
// CHECK: return
func.func private @Widened(%x: memref<64x128xf16>, %row: index) -> vector<2x32xf32>
    attributes {tilewright.kernel, tilewright.access = ["read"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f16
  %z = arith.constant dense<0.0> : vector<2x32xf32>
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %w = arith.extf %v : vector<2x32xf16> to vector<2x32xf32>
    %b = arith.addf %w, %a : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  %q = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %w = arith.extf %v : vector<2x32xf16> to vector<2x32xf32>
    %d = arith.subf %w, %s : vector<2x32xf32>
    %b = math.fma %d, %d, %a : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  return %q : vector<2x32xf32>
}
