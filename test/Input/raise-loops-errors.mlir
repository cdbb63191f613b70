// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(tilewright-raise-loops))'

func.func @Recurrence(%a: memref<64xf32>) {
  affine.for %i = 0 to 63 {
    // expected-error @below {{'affine.load' op loads what another iteration has stored}}
    %x = affine.load %a[%i] : memref<64xf32>
    // expected-note @below {{the other one of the two}}
    affine.store %x, %a[%i + 1] : memref<64xf32>
  }
  return
}

// -----

// The first store reads what the second one stores in an earlier iteration.
func.func @Backward(%a: memref<64xf32>, %b: memref<64xf32>, %c: memref<64xf32>) {
  affine.for %i = 0 to 63 {
    // expected-error @below {{'affine.load' op loads what another iteration has stored}}
    %x = affine.load %b[%i] : memref<64xf32>
    affine.store %x, %a[%i] : memref<64xf32>
    %y = affine.load %c[%i] : memref<64xf32>
    // expected-note @below {{the other one of the two}}
    affine.store %y, %b[%i + 1] : memref<64xf32>
  }
  return
}

// -----

// What the last op needs is gone when all of the first store is done.
func.func @Before(%a: memref<64xf32>, %b: memref<64xf32>, %z: f32) {
  affine.for %i = 0 to 64 {
    // expected-error @below {{'affine.load' op loads an element before it is stored, by what stands in front of it in the nest}}
    %x = affine.load %a[%i] : memref<64xf32>
    // expected-note @below {{the other one of the two}}
    affine.store %z, %a[%i] : memref<64xf32>
    affine.store %x, %b[%i] : memref<64xf32>
  }
  return
}

// -----

func.func @Twice(%a: memref<65xf32>, %y: f32, %z: f32) {
  affine.for %i = 0 to 64 {
    // expected-note @below {{the other one of the two}}
    affine.store %y, %a[%i] : memref<65xf32>
    // expected-error @below {{'affine.store' op stores an element that a later iteration stores by what stands in front of it; written as scf.for with memref.load and memref.store, the loops run on the host, element by element}}
    affine.store %z, %a[%i + 1] : memref<65xf32>
  }
  return
}

// -----

// The sum begins anew in each iteration: it is none.
func.func @Early(%x: memref<8x16xf32>, %y: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %v = affine.load %y[%i] : memref<8xf32>
    // expected-note @below {{the other one of the two}}
    affine.for %k = 0 to 16 {
      %a = affine.load %x[%i, %k] : memref<8x16xf32>
      %s = arith.addf %v, %a : f32
      // expected-error @below {{stores an element in several iterations, of which only the last one counts}}
      affine.store %s, %y[%i] : memref<8xf32>
    }
  }
  return
}

// -----

// A window is read beyond its memref where the condition does not hold.
func.func @Beyond(%a: memref<64xf32>, %b: memref<64x3xf32>) {
  affine.for %i = 0 to 64 {
    affine.for %k = 0 to 3 {
      affine.if affine_set<(d0, d1) : (d0 + d1 - 1 >= 0, 64 - d0 - d1 >= 0)>(%i, %k) {
        // expected-error @below {{'affine.load' op may be beyond its memref where the condition around it does not hold}}
        %x = affine.load %a[%i + %k - 1] : memref<64xf32>
        affine.store %x, %b[%i, %k] : memref<64x3xf32>
      }
    }
  }
  return
}

// -----

// Neither is one of a branch that gives a value, in loops that are a rectangle: a[64] is not there.
func.func @BeyondInBranch(%a: memref<64xf32>, %b: memref<64xf32>, %z: f32) {
  affine.for %i = 0 to 64 {
    %v = affine.if affine_set<(d0) : (62 - d0 >= 0)>(%i) -> f32 {
      // expected-error @below {{'affine.load' op may be beyond its memref where the condition around it does not hold}}
      %x = affine.load %a[%i + 1] : memref<64xf32>
      affine.yield %x : f32
    } else {
      affine.yield %z : f32
    }
    affine.store %v, %b[%i] : memref<64xf32>
  }
  return
}

// -----

// Stores in a branch that gives a value.
func.func @Values(%a: memref<64xf32>, %b: memref<64xf32>, %z: f32) {
  affine.for %i = 0 to 64 {
    %v = affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) -> f32 {
      // expected-error @below {{'affine.store' op stands in a branch of a condition that gives values}}
      affine.store %z, %a[%i] : memref<64xf32>
      affine.yield %z : f32
    } else {
      affine.yield %z : f32
    }
    affine.store %v, %b[%i] : memref<64xf32>
  }
  return
}

// -----

// The upper triangle is what other iterations have stored: row after row.
func.func @Mirror(%a: memref<64x64xf32>) {
  // expected-remark @below {{this loop runs on the host, around kernels: 'affine.load' op loads what another iteration has stored}}
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 2)>(%i) {
      %x = affine.load %a[%j, %i] : memref<64x64xf32>
      // expected-note @below {{the other one of the two}}
      affine.store %x, %a[%i, %j] : memref<64x64xf32>
    }
  }
  return
}

// -----

func.func @Diagonal(%a: memref<64x64xf32>, %z: f32) {
  affine.for %i = 0 to 64 {
    // expected-error @below {{stores at a place that several iterations share, or along a diagonal}}
    affine.store %z, %a[%i, %i] : memref<64x64xf32>
  }
  return
}

// -----

func.func @Modulo(%a: memref<64xf32>, %b: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    // expected-error @below {{is at a place that is no sum of multiples of loops}}
    %x = affine.load %a[%i mod 8] : memref<64xf32>
    affine.store %x, %b[%i] : memref<64xf32>
  }
  return
}

// -----

func.func @Backwards(%a: memref<64xf32>, %b: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    // expected-error @below {{goes backwards along a loop}}
    %x = affine.load %a[63 - %i] : memref<64xf32>
    affine.store %x, %b[%i] : memref<64xf32>
  }
  return
}

// -----

func.func @Call(%a: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    %x = affine.load %a[%i] : memref<64xf32>
    // expected-error @below {{'vector.print' op is no load, store or arithmetic of scalars}}
    vector.print %x : f32
  }
  return
}

// -----

// Loops of scf stay on the host, and say so.
func.func @Host(%a: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  scf.for %i = %c0 to %c63 step %c1 {
    // expected-remark @below {{its loops run on the host, element by element: 'affine.load' op loads what another iteration has stored}}
    %x = memref.load %a[%i] : memref<64xf32>
    %j = arith.addi %i, %c1 : index
    // expected-note @below {{the other one of the two}}
    memref.store %x, %a[%j] : memref<64xf32>
  }
  return
}

// -----

// Of a sum that goes on from one element to the next, no loop is a kernel.
func.func @Within(%a: memref<64x64xf32>) {
  affine.for %t = 0 to 4 {
    affine.for %i = 0 to 64 {
      affine.for %j = 1 to 64 {
        // expected-error @below {{'affine.load' op loads what another iteration has stored}}
        %x = affine.load %a[%i, %j - 1] : memref<64x64xf32>
        %y = affine.load %a[%i, %j] : memref<64x64xf32>
        %z = arith.addf %x, %y : f32
        // expected-note @below {{the other one of the two}}
        affine.store %z, %a[%i, %j] : memref<64x64xf32>
      }
    }
  }
  return
}

// -----

// Two halves, which views do not tell apart.
func.func @Views(%m: memref<20xf32>) {
  %a = memref.subview %m[0] [8] [1] : memref<20xf32> to memref<8xf32, strided<[1]>>
  %b = memref.subview %m[8] [8] [1] : memref<20xf32> to memref<8xf32, strided<[1], offset: 8>>
  affine.for %i = 0 to 8 {
    // expected-error @below {{'affine.load' op may meet an element that is stored through another view of the same memref; use the memref itself}}
    %x = affine.load %b[%i] : memref<8xf32, strided<[1], offset: 8>>
    %y = arith.addf %x, %x : f32
    // expected-note @below {{the other one of the two}}
    affine.store %y, %a[%i] : memref<8xf32, strided<[1]>>
  }
  return
}
