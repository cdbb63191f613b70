// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-raise-loops))' | FileCheck %s

// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1) -> (d0 * 2 + d1)>

// CHECK-LABEL: func.func @Product
// CHECK-SAME: %[[A:.*]]: memref<64x32xf32>, %[[B:.*]]: memref<32x48xf32>, %[[C:.*]]: memref<64x48xf32>
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[MK]], #[[KN]], #[[MN]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]] :
// CHECK: arith.mulf
// CHECK: arith.addf %out
// CHECK-NOT: affine.for
func.func @Product(%a: memref<64x32xf32>, %b: memref<32x48xf32>, %c: memref<64x48xf32>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 48 {
      affine.for %k = 0 to 32 {
        %x = affine.load %a[%i, %k] : memref<64x32xf32>
        %y = affine.load %b[%k, %j] : memref<32x48xf32>
        %z = affine.load %c[%i, %j] : memref<64x48xf32>
        %m = arith.mulf %x, %y : f32
        %s = arith.addf %z, %m : f32
        affine.store %s, %c[%i, %j] : memref<64x48xf32>
      }
    }
  }
  return
}

// Stores one after the other; a window begins where its offset says, and is as long as loops reach.
// CHECK-LABEL: func.func @Window
// CHECK-SAME: %[[X:.*]]: memref<34xf32>, %[[W:.*]]: memref<3xf32>, %[[Y:.*]]: memref<15xf32>
// CHECK: linalg.fill ins(%cst : f32) outs(%[[Y]] : memref<15xf32>)
// CHECK: %[[V:.*]] = memref.subview %[[X]][1] [31] [1]
// CHECK: linalg.generic {indexing_maps = [#[[WINDOW]], {{.*}}ins(%[[V]], %[[W]] : {{.*}}) outs(%[[Y]] :
// CHECK: linalg.generic
// CHECK: arith.maximumf %out, %cst
func.func @Window(%x: memref<34xf32>, %w: memref<3xf32>, %y: memref<15xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 15 {
    affine.store %zero, %y[%i] : memref<15xf32>
    affine.for %k = 0 to 3 {
      %a = affine.load %x[%i * 2 + %k + 1] : memref<34xf32>
      %b = affine.load %w[%k] : memref<3xf32>
      %c = affine.load %y[%i] : memref<15xf32>
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      affine.store %s, %y[%i] : memref<15xf32>
    }
    %v = affine.load %y[%i] : memref<15xf32>
    %r = arith.maximumf %v, %zero : f32
    affine.store %r, %y[%i] : memref<15xf32>
  }
  return
}

// Loops of scf; what a loop carries has an element for each iteration of those around it.
// CHECK-LABEL: func.func @Carried
// CHECK-SAME: %[[A:.*]]: memref<?x32xf32>, %[[B:.*]]: memref<?xf32>
// CHECK: %[[N:.*]] = memref.dim %[[A]]
// CHECK: %[[SUMS:.*]] = memref.alloc(%[[N]]) : memref<?xf32>
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[SUMS]] : memref<?xf32>)
// CHECK-NEXT: linalg.generic {{.*}}["parallel", "reduction"]} ins(%[[A]] : memref<?x32xf32>) outs(%[[SUMS]] : memref<?xf32>)
// CHECK: linalg.generic {{.*}}["parallel"]} ins(%[[SUMS]] : memref<?xf32>)
func.func @Carried(%a: memref<?x32xf32>, %b: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %a, %c0 : memref<?x32xf32>
  scf.for %i = %c0 to %n step %c1 {
    %r = scf.for %k = %c0 to %c32 step %c1 iter_args(%s = %zero) -> f32 {
      %x = memref.load %a[%i, %k] : memref<?x32xf32>
      %t = arith.addf %s, %x : f32
      scf.yield %t : f32
    }
    memref.store %r, %b[%i] : memref<?xf32>
  }
  return
}

// What is read elsewhere in what is stored is read as it was.
// CHECK-LABEL: func.func @Shift
// CHECK: %[[FROM:.*]] = memref.subview %{{.*}}[1] [63] [1]
// CHECK: %[[BEFORE:.*]] = memref.alloc() : memref<63xf32>
// CHECK: memref.copy %[[FROM]], %[[BEFORE]]
// CHECK: linalg.generic {{.*}} ins(%[[BEFORE]] :
func.func @Shift(%a: memref<64xf32>) {
  affine.for %i = 0 to 63 {
    %x = affine.load %a[%i + 1] : memref<64xf32>
    affine.store %x, %a[%i] : memref<64xf32>
  }
  return
}

// Steps of a loop are strides, loops in values are linalg.index; outside of loops a load is a load.
// CHECK-LABEL: func.func @Places
// CHECK: memref.subview %{{.*}}[4, 0] [16, 8] [2, 1]
// CHECK: linalg.index 0
// CHECK: memref.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<16x8xf32>
func.func @Places(%a: memref<64x8xf32>, %b: memref<16x8xf32>) -> f32 {
  affine.for %i = 4 to 36 step 2 {
    affine.for %j = 0 to 8 {
      %x = affine.load %a[%i, %j] : memref<64x8xf32>
      %f = arith.index_cast %i : index to i32
      %g = arith.sitofp %f : i32 to f32
      %y = arith.addf %x, %g : f32
      affine.store %y, %b[%i floordiv 2 - 2, %j] : memref<16x8xf32>
    }
  }
  %r = affine.load %b[3, 2] : memref<16x8xf32>
  return %r : f32
}

// Nests in a loop of the host, which stays.
// CHECK-LABEL: func.func @Host
// CHECK: scf.for
// CHECK-NEXT: linalg.generic
// CHECK: linalg.exp
func.func @Host(%a: memref<64xf32>, %b: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %t = %c0 to %c3 step %c1 {
    affine.for %i = 0 to 64 {
      %x = affine.load %a[%i] : memref<64xf32>
      %y = arith.addf %x, %x : f32
      affine.store %y, %b[%i] : memref<64xf32>
    }
    linalg.exp ins(%b : memref<64xf32>) outs(%a : memref<64xf32>)
  }
  return
}

// How far the inner loop goes is no operand's dim: a window says it, as those of poolings.
// CHECK-LABEL: func.func @Pool
// CHECK: %[[SHAPE:.*]] = memref.alloc() : memref<3xf32>
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]} ins(%{{.*}}, %[[SHAPE]] : memref<34xf32>, memref<3xf32>)
func.func @Pool(%x: memref<34xf32>, %y: memref<32xf32>) {
  affine.for %i = 0 to 32 {
    affine.for %k = 0 to 3 {
      %a = affine.load %x[%i + %k] : memref<34xf32>
      %b = affine.load %y[%i] : memref<32xf32>
      %s = arith.maximumf %a, %b : f32
      affine.store %s, %y[%i] : memref<32xf32>
    }
  }
  return
}

// Refused nests leave nothing behind, whatever had been made for them; loops of one iteration.
// CHECK-LABEL: func.func @Refused
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.store
func.func @Refused(%x: memref<34xf32>, %y: memref<34xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c1 step %c1 {
      %r = scf.for %k = %c0 to %c1 step %c1 iter_args(%s = %zero) -> f32 {
        %a = memref.load %y[%i] : memref<34xf32>
        %t = arith.addf %s, %a : f32
        scf.yield %t : f32
      }
      %p = arith.addi %i, %c1 : index
      memref.store %r, %y[%p] : memref<34xf32>
    }
  }
  return
}

// A triangle is a rectangle of which what lies outside stays; what it reads was never stored.
// CHECK-LABEL: func.func @Mirror
// CHECK: linalg.generic {{.*}}["parallel", "parallel"]}
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[INSIDE:.*]] = arith.cmpi sge
// CHECK: arith.select %[[INSIDE]], %in, %out
func.func @Mirror(%a: memref<64x64xf32>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
      %x = affine.load %a[%j, %i] : memref<64x64xf32>
      affine.store %x, %a[%i, %j] : memref<64x64xf32>
    }
  }
  return
}

// Terms of a sum outside of a triangle are zeros; loops begin and end where others say.
// CHECK-LABEL: func.func @TriangularProduct
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]}
// CHECK: %[[ZERO:.*]] = arith.constant -0.000000e+00
// CHECK: %[[TERM:.*]] = arith.select %{{.*}}, %{{.*}}, %[[ZERO]]
// CHECK: arith.addf %out, %[[TERM]]
func.func @TriangularProduct(%a: memref<16x16xf32>, %b: memref<16x16xf32>, %c: memref<16x16xf32>) {
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 16 {
      affine.for %k = affine_map<(d0) -> (d0)>(%i) to min affine_map<(d0)[] -> (d0 + 4, 16)>(%i) {
        %x = affine.load %a[%i, %k] : memref<16x16xf32>
        %y = affine.load %b[%k, %j] : memref<16x16xf32>
        %z = affine.load %c[%i, %j] : memref<16x16xf32>
        %m = arith.mulf %x, %y : f32
        %s = arith.addf %z, %m : f32
        affine.store %s, %c[%i, %j] : memref<16x16xf32>
      }
    }
  }
  return
}

// A condition on one loop is where it begins and ends, and keeps places inside.
// CHECK-LABEL: func.func @Inside
// CHECK: memref.subview %{{.*}}[1] [63] [1]
// CHECK: memref.subview %{{.*}}[0] [63] [1]
// CHECK: linalg.generic
// CHECK-NOT: arith.select
// CHECK: linalg.yield
func.func @Inside(%a: memref<64xf32>, %b: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) {
      %x = affine.load %a[%i - 1] : memref<64xf32>
      affine.store %x, %b[%i] : memref<64xf32>
    }
  }
  return
}

// A condition on elements, with two branches; one that gives a value.
// CHECK-LABEL: func.func @Elements
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT: linalg.generic
func.func @Elements(%a: memref<64xf32>, %b: memref<64xf32>, %c: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %a[%i] : memref<64xf32>
    %less = arith.cmpf olt, %x, %zero : f32
    scf.if %less {
      memref.store %zero, %b[%i] : memref<64xf32>
    } else {
      memref.store %x, %b[%i] : memref<64xf32>
    }
    %v = scf.if %less -> (f32) {
      scf.yield %zero : f32
    } else {
      %y = memref.load %c[%i] : memref<64xf32>
      scf.yield %y : f32
    }
    memref.store %v, %c[%i] : memref<64xf32>
  }
  return
}

// Sweeps, each of which needs the one before: a loop of the host, whose counter is an offset.
// CHECK-LABEL: func.func @Counter
// CHECK: scf.for %[[T:.*]] =
// CHECK-NOT: scf.for
// CHECK: memref.subview %{{.*}}[%[[T]], 0] [1, 64] [1, 1]
// CHECK: linalg.generic
func.func @Counter(%a: memref<32x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.for %t = %c1 to %c32 step %c1 {
    %before = arith.subi %t, %c1 : index
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %a[%before, %i] : memref<32x64xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %a[%t, %i] : memref<32x64xf32>
    }
  }
  return
}

// The same of affine.for: each step of time is two kernels.
// CHECK-LABEL: func.func @Steps
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: linalg.generic
// CHECK-NOT: memref.load
// CHECK: linalg.generic
// CHECK-NOT: memref.load
// CHECK: return
func.func @Steps(%a: memref<64xf32>, %b: memref<64xf32>) {
  affine.for %t = 0 to 10 {
    affine.for %i = 1 to 63 {
      %x = affine.load %a[%i - 1] : memref<64xf32>
      %y = affine.load %a[%i + 1] : memref<64xf32>
      %z = arith.addf %x, %y : f32
      affine.store %z, %b[%i] : memref<64xf32>
    }
    affine.for %i = 1 to 63 {
      %x = affine.load %b[%i] : memref<64xf32>
      affine.store %x, %a[%i] : memref<64xf32>
    }
  }
  return
}

// A loop of the host may have another one in it, and bounds that say how far kernels go.
// CHECK-LABEL: func.func @TwoLoops
// CHECK: scf.for
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK-NOT: memref.load
// CHECK: return
func.func @TwoLoops(%a: memref<64x64xf32>) {
  affine.for %t = 0 to 4 {
    affine.for %i = 1 to 64 {
      affine.for %j = 0 to affine_map<(i) -> (i)>(%i) {
        %x = affine.load %a[%i - 1, %j] : memref<64x64xf32>
        %y = affine.load %a[%i, %j] : memref<64x64xf32>
        %z = arith.addf %x, %y : f32
        affine.store %z, %a[%i, %j] : memref<64x64xf32>
      }
    }
  }
  return
}

// A division that each iteration does, and a loop that counts in integers.
// CHECK-LABEL: @DividesAndCounts
// CHECK-NOT: scf.for
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: %[[S:.*]] = arith.addi %{{.*}}, %[[N]] : i32
// CHECK: arith.divsi %[[S]], %{{.*}} : i32
func.func @DividesAndCounts(%a: memref<8xi32>, %b: memref<8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %p = arith.index_cast %i : i32 to index
    %x = memref.load %a[%p] : memref<8xi32>
    %y = memref.load %b[%p] : memref<8xi32>
    %s = arith.addi %x, %i : i32
    %d = arith.divsi %s, %y : i32
    memref.store %d, %a[%p] : memref<8xi32>
  }
  return
}

// A sum over two loops is one sum, also where a loop in front of the inner one carries a product.
// CHECK-LABEL: func.func @Weighted
// CHECK-SAME: %[[X:.*]]: memref<6x4x5xf32>, %[[W:.*]]: memref<4x3xf32>, %[[O:.*]]: memref<6xf32>
// CHECK-DAG: %[[SUMS:.*]] = memref.alloc() : memref<6xf32>
// CHECK-DAG: %[[WEIGHTS:.*]] = memref.alloc() : memref<6x4xf32>
// CHECK-DAG: linalg.fill {{.*}} outs(%[[SUMS]] : memref<6xf32>)
// CHECK-DAG: linalg.generic {{.*}} ins(%[[W]] : memref<4x3xf32>) outs(%[[WEIGHTS]] : memref<6x4xf32>)
// CHECK: linalg.generic {{.*}}["parallel", "reduction", "reduction"]} ins(%[[X]], %[[WEIGHTS]] : {{.*}}) outs(%[[SUMS]] : memref<6xf32>)
// CHECK: linalg.generic {{.*}}["parallel"]} ins(%[[SUMS]] : memref<6xf32>) outs(%[[O]] :
func.func @Weighted(%x: memref<6x4x5xf32>, %w: memref<4x3xf32>, %o: memref<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  affine.for %p = 0 to 6 {
    %r = affine.for %i = 0 to 4 iter_args(%s = %zero) -> f32 {
      %t = affine.for %k = 0 to 3 iter_args(%u = %one) -> f32 {
        %a = affine.load %w[%i, %k] : memref<4x3xf32>
        %b = arith.mulf %u, %a : f32
        affine.yield %b : f32
      }
      %n = affine.for %j = 0 to 5 iter_args(%v = %s) -> f32 {
        %a = affine.load %x[%p, %i, %j] : memref<6x4x5xf32>
        %b = arith.mulf %a, %t : f32
        %c = arith.addf %v, %b : f32
        affine.yield %c : f32
      }
      affine.yield %n : f32
    }
    affine.store %r, %o[%p] : memref<6xf32>
  }
  return
}
