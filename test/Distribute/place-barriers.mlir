// RUN: tilewright-opt %s -tilewright-place-barriers | FileCheck %s

#shared = #tilewright.shared

// Between what is stored and what is read; nothing behind it writes the memory again.
// CHECK-LABEL: @Exchange
// CHECK: store %{{.*}}, %[[S:.*]][
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: load %[[S]]
// CHECK-NEXT: store
// CHECK-NEXT: return
func.func private @Exchange(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %s = memref.alloc() {tilewright.shared_place = 0 : i64} : memref<512xf32, #shared>
  memref.store %f, %s[%n] : memref<512xf32, #shared>
  %w = memref.load %s[%n] : memref<512xf32, #shared>
  memref.store %w, %x[%n] : memref<?xf32>
  return
}

// Two exchanges in bytes of their own, over and over: the barrier of one is behind the
// reads of the other.
// CHECK-LABEL: @TwoBuffers
// CHECK: scf.for
// CHECK: store %{{.*}}, %[[A:.*]][
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: load %[[A]]
// CHECK-NEXT: store %{{.*}}, %[[B:.*]][
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: load %[[B]]
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func private @TwoBuffers(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() {tilewright.shared_place = 0 : i64} : memref<8xf32, #shared>
  %b = memref.alloc() {tilewright.shared_place = 32 : i64} : memref<8xf32, #shared>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %f, %a[%i] : memref<8xf32, #shared>
    %v = memref.load %a[%c0] : memref<8xf32, #shared>
    memref.store %v, %b[%i] : memref<8xf32, #shared>
    %w = memref.load %b[%c0] : memref<8xf32, #shared>
    memref.store %w, %x[%i] : memref<?xf32>
  }
  return
}

// The same bytes: each is written when all have read the other.
// CHECK-LABEL: @SameBytes
// CHECK: store %{{.*}}, %[[A:.*]][
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: load %[[A]]
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: store %{{.*}}, %[[B:.*]][
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: load %[[B]]
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func private @SameBytes(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %a = memref.alloc() {tilewright.shared_place = 0 : i64} : memref<512xf32, #shared>
  %b = memref.alloc() {tilewright.shared_place = 1024 : i64} : memref<512xf32, #shared>
  memref.store %f, %a[%n] : memref<512xf32, #shared>
  %v = memref.load %a[%n] : memref<512xf32, #shared>
  memref.store %v, %b[%n] : memref<512xf32, #shared>
  %w = memref.load %b[%n] : memref<512xf32, #shared>
  memref.store %w, %x[%n] : memref<?xf32>
  return
}

// One exchange in a loop: the next step writes what this one has read.
// CHECK-LABEL: @Step
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: load
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func private @Step(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() {tilewright.shared_place = 0 : i64} : memref<512xf32, #shared>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %f, %a[%i] : memref<512xf32, #shared>
    %v = memref.load %a[%c0] : memref<512xf32, #shared>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  return
}

// Threads do not meet in a branch that one of them takes alone.
// CHECK-LABEL: @OneThread
// CHECK: scf.if
// CHECK-NEXT: store
// CHECK-NEXT: }
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.if
// CHECK-NEXT: load
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func private @OneThread(%x: memref<?xf32>, %n: index, %f: f32, %first: i1, %last: i1) attributes {tilewright.kernel} {
  %a = memref.alloc() {tilewright.shared_place = 0 : i64} : memref<512xf32, #shared>
  scf.if %first {
    memref.store %f, %a[%n] : memref<512xf32, #shared>
  }
  scf.if %last {
    %v = memref.load %a[%n] : memref<512xf32, #shared>
    memref.store %v, %x[%n] : memref<?xf32>
  }
  return
}

// A ring has the barriers of its schedule; the result takes its bytes when all have
// arrived, and been read.
// CHECK-LABEL: @RingAndResult
// CHECK: scf.for
// CHECK: async_wait 1
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: async_copy_run
// CHECK-NEXT: async_commit
// CHECK-NEXT: load
// CHECK: }
// CHECK-NEXT: async_wait 0
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: store %{{.*}}, %[[S:.*]][
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: load %[[S]]
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func private @RingAndResult(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() {tilewright.shared_place = 0 : i64, tilewright.stages = 3 : i64} : memref<1536xf32, #shared>
  %s = memref.alloc() {tilewright.shared_place = 0 : i64} : memref<512xf32, #shared>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %f) -> f32 {
    tilewright.async_wait 1
    gpu.barrier
    tilewright.async_copy_run %x[%i] to %a[%i] {count = 4 : i64} : memref<?xf32> to memref<1536xf32, #shared>
    tilewright.async_commit
    %v = memref.load %a[%i] : memref<1536xf32, #shared>
    %next = arith.addf %sum, %v : f32
    scf.yield %next : f32
  }
  tilewright.async_wait 0
  memref.store %r, %s[%n] : memref<512xf32, #shared>
  %w = memref.load %s[%c0] : memref<512xf32, #shared>
  memref.store %w, %x[%n] : memref<?xf32>
  return
}

// A tile that is copied once is read behind a wait and a barrier.
// CHECK-LABEL: @CopiedOnce
// CHECK: async_copy_run
// CHECK: scf.for
// CHECK-NEXT: async_wait 0
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: load
// CHECK: return
func.func private @CopiedOnce(%x: memref<?xf32>, %n: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() {tilewright.shared_place = 0 : i64} : memref<512xf32, #shared>
  tilewright.async_copy_run %x[%n] to %a[%n] {count = 4 : i64} : memref<?xf32> to memref<512xf32, #shared>
  tilewright.async_commit
  scf.for %i = %c0 to %n step %c1 {
    tilewright.async_wait 0
    %v = memref.load %a[%i] : memref<512xf32, #shared>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  return
}

// The warps of a role meet among themselves.
// CHECK-LABEL: @Role
// CHECK: scf.if
// CHECK-NEXT: store
// CHECK-NEXT: tilewright.barrier 9 threads = 128
// CHECK-NEXT: load
// CHECK-NOT: tilewright.role
// CHECK: return
func.func private @Role(%x: memref<?xf32>, %n: index, %f: f32, %mine: i1) attributes {tilewright.kernel} {
  %a = memref.alloc() {tilewright.shared_place = 0 : i64} : memref<512xf32, #shared>
  tilewright.role if %mine meets 9 threads = 128 {
    memref.store %f, %a[%n] : memref<512xf32, #shared>
    %v = memref.load %a[%n] : memref<512xf32, #shared>
    memref.store %v, %x[%n] : memref<?xf32>
  }
  return
}
