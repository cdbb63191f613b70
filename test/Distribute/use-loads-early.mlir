// What copy engines bring beside sums meets them as it is loaded, in front of the next wait; stores stay where they are.

// RUN: tilewright-opt %s -split-input-file -tilewright-use-loads-early | FileCheck %s

#shared = #tilewright.shared

// CHECK-LABEL: @residual
// CHECK: %[[SUMS:.*]]:4 = tilewright.mma_wait 0
// CHECK: tilewright.mbarrier_wait %{{.*}}[%c0]
// CHECK-NEXT: %[[R:.*]]:2 = tilewright.load_matrices
// CHECK-NEXT: %[[W0:.*]] = arith.extf %[[R]]#0
// CHECK-NEXT: arith.addf %[[SUMS]]#0, %[[W0]]
// CHECK-NEXT: %[[W1:.*]] = arith.extf %[[R]]#1
// CHECK-NEXT: arith.addf %[[SUMS]]#1, %[[W1]]
// CHECK-NEXT: tilewright.mbarrier_wait %{{.*}}[%c1]
// CHECK-NEXT: %[[S:.*]] = vector.load
// CHECK-NEXT: vector.extract %[[S]][0]
// CHECK-NEXT: arith.addf %[[SUMS]]#2
// CHECK-NEXT: vector.extract %[[S]][1]
// CHECK-NEXT: arith.addf %[[SUMS]]#3
// CHECK-NEXT: memref.store
func.func private @residual(%sums: memref<4xf32>, %p: memref<64xbf16, #shared>, %q: memref<64xf32, #shared>, %bars: memref<2xi64, #shared>)
    attributes {tilewright.kernel, tilewright.loaded_tiles = array<i64: 1, 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %s:4 = tilewright.mma_wait 0(%zero, %zero, %zero, %zero : f32, f32, f32, f32)
  tilewright.mbarrier_wait %bars[%c0] parity %c0 : memref<2xi64, #shared>
  %r:2 = tilewright.load_matrices %p[%c0] : memref<64xbf16, #shared> -> bf16, bf16
  tilewright.mbarrier_wait %bars[%c1] parity %c0 : memref<2xi64, #shared>
  %v = vector.load %q[%c0] : memref<64xf32, #shared>, vector<2xf32>
  %v0 = vector.extract %v[0] : f32 from vector<2xf32>
  %v1 = vector.extract %v[1] : f32 from vector<2xf32>
  %w0 = arith.extf %r#0 : bf16 to f32
  %w1 = arith.extf %r#1 : bf16 to f32
  %x0 = arith.addf %s#0, %w0 : f32
  %x1 = arith.addf %s#1, %w1 : f32
  %x2 = arith.addf %s#2, %v0 : f32
  %x3 = arith.addf %s#3, %v1 : f32
  memref.store %x0, %sums[%c0] : memref<4xf32>
  memref.store %x1, %sums[%c0] : memref<4xf32>
  memref.store %x2, %sums[%c0] : memref<4xf32>
  memref.store %x3, %sums[%c0] : memref<4xf32>
  return
}

// -----

#shared = #tilewright.shared

// What is computed of sums in front of it comes along; what follows is computed where it is used, but for what is narrower.
// CHECK-LABEL: @between
// CHECK: %[[SUMS:.*]]:2 = tilewright.mma_wait 0
// CHECK-NEXT: %[[R:.*]] = vector.load
// CHECK-NEXT: math.absf %[[SUMS]]#0
// CHECK-NEXT: vector.extract %[[R]][0]
// CHECK-NEXT: %[[X0:.*]] = arith.addf
// CHECK-NEXT: math.absf %[[SUMS]]#1
// CHECK-NEXT: vector.extract %[[R]][1]
// CHECK-NEXT: %[[X1:.*]] = arith.addf
// CHECK-NEXT: %[[T0:.*]] = arith.truncf %[[X0]]
// CHECK-NEXT: %[[T1:.*]] = arith.truncf %[[X1]]
// CHECK-NEXT: tilewright.mbarrier_wait
// CHECK-NEXT: %[[Y0:.*]] = arith.negf %[[T0]]
// CHECK-NEXT: memref.store %[[Y0]]
// CHECK-NEXT: %[[Y1:.*]] = arith.negf %[[T1]]
// CHECK-NEXT: memref.store %[[Y1]]
func.func private @between(%sums: memref<4xbf16>, %q: memref<64xf32, #shared>, %bars: memref<2xi64, #shared>)
    attributes {tilewright.kernel, tilewright.loaded_tiles = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %s:2 = tilewright.mma_wait 0(%zero, %zero : f32, f32)
  %r = vector.load %q[%c0] : memref<64xf32, #shared>, vector<2xf32>
  tilewright.mbarrier_wait %bars[%c0] parity %c0 : memref<2xi64, #shared>
  %r0 = vector.extract %r[0] : f32 from vector<2xf32>
  %r1 = vector.extract %r[1] : f32 from vector<2xf32>
  %a0 = math.absf %s#0 : f32
  %a1 = math.absf %s#1 : f32
  %x0 = arith.addf %a0, %r0 : f32
  %x1 = arith.addf %a1, %r1 : f32
  %t0 = arith.truncf %x0 : f32 to bf16
  %t1 = arith.truncf %x1 : f32 to bf16
  %y0 = arith.negf %t0 : bf16
  %y1 = arith.negf %t1 : bf16
  memref.store %y0, %sums[%c0] : memref<4xbf16>
  memref.store %y1, %sums[%c0] : memref<4xbf16>
  return
}

// -----

#shared = #tilewright.shared

// Of kernels that nothing is brought to, nothing moves.
// CHECK-LABEL: @without
// CHECK: vector.load
// CHECK-NEXT: memref.load
// CHECK-NEXT: vector.extract
func.func private @without(%q: memref<64xf32>, %o: memref<64xf32>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %v = vector.load %q[%c0] : memref<64xf32>, vector<2xf32>
  %w = memref.load %q[%c0] : memref<64xf32>
  %v0 = vector.extract %v[0] : f32 from vector<2xf32>
  %x = arith.addf %v0, %w : f32
  memref.store %x, %o[%c0] : memref<64xf32>
  return
}

// -----

#shared = #tilewright.shared

// A value per row, which the kernel only reads, is read in front of all pieces, with its index; what the kernel writes stays.
// CHECK-LABEL: @rows
// CHECK: %[[SUM:.*]] = tilewright.mma_wait 0
// CHECK-NEXT: arith.addi
// CHECK-NEXT: %[[ROW:.*]] = memref.load %{{.*}} : memref<64xf32>
// CHECK-NEXT: %[[LESS:.*]] = arith.subf %[[SUM]], %[[ROW]]
// CHECK-NEXT: tilewright.mbarrier_wait %{{.*}}[%c0]
// CHECK-NEXT: %[[P:.*]] = memref.load %{{.*}} : memref<64xf32, #tilewright.shared>
// CHECK-NEXT: arith.mulf %[[LESS]], %[[P]]
// CHECK-NEXT: tilewright.mbarrier_wait %{{.*}}[%c1]
// CHECK: memref.load %{{.*}} : memref<4xf32>
func.func private @rows(%row: memref<64xf32>, %sums: memref<4xf32>, %p: memref<64xf32, #shared>, %bars: memref<2xi64, #shared>, %i: index)
    attributes {tilewright.kernel, tilewright.loaded_tiles = array<i64: 1>, tilewright.access = ["read", "readwrite", "read", "read"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %s = tilewright.mma_wait 0(%zero : f32)
  tilewright.mbarrier_wait %bars[%c0] parity %c0 : memref<2xi64, #shared>
  %v = memref.load %p[%c0] : memref<64xf32, #shared>
  tilewright.mbarrier_wait %bars[%c1] parity %c0 : memref<2xi64, #shared>
  %j = arith.addi %i, %c1 : index
  %r = memref.load %row[%j] : memref<64xf32>
  %less = arith.subf %s, %r : f32
  %x = arith.mulf %less, %v : f32
  %old = memref.load %sums[%c0] : memref<4xf32>
  %y = arith.addf %x, %old : f32
  memref.store %y, %sums[%c0] : memref<4xf32>
  return
}

// -----

#shared = #tilewright.shared

// The index is the first op behind the sums, and stays in front of what is computed from it.
// CHECK-LABEL: @first
// CHECK: %[[SUM:.*]] = tilewright.mma_wait 0
// CHECK-NEXT: %[[J:.*]] = arith.addi
// CHECK-NEXT: %[[TWICE:.*]] = arith.muli %[[J]]
// CHECK-NEXT: memref.load %{{.*}}[%[[TWICE]]]
// CHECK: tilewright.mbarrier_wait
func.func private @first(%row: memref<64xf32>, %sums: memref<4xf32>, %p: memref<64xf32, #shared>, %bars: memref<2xi64, #shared>, %i: index)
    attributes {tilewright.kernel, tilewright.loaded_tiles = array<i64: 1>, tilewright.access = ["read", "readwrite", "read", "read"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %s = tilewright.mma_wait 0(%zero : f32)
  %j = arith.addi %i, %c1 : index
  tilewright.mbarrier_wait %bars[%c0] parity %c0 : memref<2xi64, #shared>
  %v = memref.load %p[%c0] : memref<64xf32, #shared>
  %twice = arith.muli %j, %j : index
  %r = memref.load %row[%twice] : memref<64xf32>
  %less = arith.subf %s, %r : f32
  %x = arith.mulf %less, %v : f32
  memref.store %x, %sums[%c0] : memref<4xf32>
  return
}
