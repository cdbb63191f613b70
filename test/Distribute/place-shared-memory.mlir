// RUN: tilewright-opt %s -tilewright-place-shared-memory -split-input-file | FileCheck %s

#shared = #tilewright.shared
#t = #tilewright.target<"test", "nvvm", {shared_memory = 100000}>
module attributes {tilewright.target = #t} {

// A ring that copies fill, and what leaves through shared memory behind a wait for all
// of them and a barrier.
// CHECK-LABEL: @RingAndResult
// CHECK-SAME: tilewright.shared_bytes = 4096 : i64
// CHECK: alloc() {tilewright.shared_place = 0 : i64} : memref<512xf32
// CHECK: alloc() {tilewright.shared_place = 2048 : i64} : memref<512xf32
// CHECK: alloc() {tilewright.shared_place = 0 : i64} : memref<2048xf16
func.func private @RingAndResult(%x: memref<?xf32>, %y: memref<?xf16>, %n: index, %h: f16) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<512xf32, #shared>
  %b = memref.alloc() : memref<512xf32, #shared>
  %s = memref.alloc() : memref<2048xf16, #shared>
  tilewright.async_copy_run %x[%c0] to %a[%c0] {count = 4 : i64} : memref<?xf32> to memref<512xf32, #shared>
  tilewright.async_commit
  scf.for %i = %c0 to %n step %c1 {
    tilewright.async_copy_run %x[%i] to %b[%c0] {count = 4 : i64} : memref<?xf32> to memref<512xf32, #shared>
    tilewright.async_commit
    tilewright.async_wait 1
    gpu.barrier
    %v = memref.load %a[%i] : memref<512xf32, #shared>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  tilewright.async_wait 0
  gpu.barrier
  memref.store %h, %s[%n] : memref<2048xf16, #shared>
  gpu.barrier
  %w = memref.load %s[%c0] : memref<2048xf16, #shared>
  gpu.barrier
  memref.store %w, %y[%n] : memref<?xf16>
  return
}

// The same without the wait: copies may still be under way.
// CHECK-LABEL: @NoWait
// CHECK-SAME: tilewright.shared_bytes = 4096 : i64
func.func private @NoWait(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<512xf32, #shared>
  %s = memref.alloc() : memref<512xf32, #shared>
  tilewright.async_copy_run %x[%c0] to %a[%c0] {count = 4 : i64} : memref<?xf32> to memref<512xf32, #shared>
  tilewright.async_commit
  gpu.barrier
  memref.store %f, %s[%n] : memref<512xf32, #shared>
  gpu.barrier
  %w = memref.load %s[%c0] : memref<512xf32, #shared>
  gpu.barrier
  memref.store %w, %x[%n] : memref<?xf32>
  return
}

// Without a barrier between, a thread may write what another one still reads.
// CHECK-LABEL: @NoBarrier
// CHECK-SAME: tilewright.shared_bytes = 4096 : i64
func.func private @NoBarrier(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<512xf32, #shared>
  %s = memref.alloc() : memref<512xf32, #shared>
  memref.store %f, %a[%n] : memref<512xf32, #shared>
  gpu.barrier
  %v = memref.load %a[%c0] : memref<512xf32, #shared>
  memref.store %v, %s[%n] : memref<512xf32, #shared>
  gpu.barrier
  %w = memref.load %s[%c0] : memref<512xf32, #shared>
  gpu.barrier
  memref.store %w, %x[%n] : memref<?xf32>
  return
}

// A loop whose steps end with a barrier; the first tile is stored in front of it.
// CHECK-LABEL: @TwoSlots
// CHECK-SAME: tilewright.shared_bytes = 2048 : i64
func.func private @TwoSlots(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<512xf32, #shared>
  %s = memref.alloc() : memref<512xf32, #shared>
  memref.store %f, %a[%n] : memref<512xf32, #shared>
  gpu.barrier
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %a[%i] : memref<512xf32, #shared>
    memref.store %v, %x[%i] : memref<?xf32>
    memref.store %f, %a[%n] : memref<512xf32, #shared>
    gpu.barrier
  }
  memref.store %f, %s[%n] : memref<512xf32, #shared>
  gpu.barrier
  %w = memref.load %s[%c0] : memref<512xf32, #shared>
  gpu.barrier
  memref.store %w, %x[%n] : memref<?xf32>
  return
}

// What steps of a loop leave for the next ones is alive between them; %s, which each
// fills anew, is not alive together with %t.
// CHECK-LABEL: @Carried
// CHECK-SAME: tilewright.shared_bytes = 4096 : i64
// CHECK: alloc() {tilewright.shared_place = 0 : i64}
// CHECK: alloc() {tilewright.shared_place = 2048 : i64}
// CHECK: alloc() {tilewright.shared_place = 2048 : i64}
func.func private @Carried(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<512xf32, #shared>
  %s = memref.alloc() : memref<512xf32, #shared>
  %t = memref.alloc() : memref<512xf32, #shared>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %a[%i] : memref<512xf32, #shared>
    gpu.barrier
    memref.store %v, %a[%n] : memref<512xf32, #shared>
    gpu.barrier
    memref.store %f, %s[%n] : memref<512xf32, #shared>
    gpu.barrier
    %w = memref.load %s[%c0] : memref<512xf32, #shared>
    gpu.barrier
    memref.store %w, %x[%n] : memref<?xf32>
  }
  memref.store %f, %t[%n] : memref<512xf32, #shared>
  gpu.barrier
  %u = memref.load %t[%c0] : memref<512xf32, #shared>
  gpu.barrier
  memref.store %u, %x[%n] : memref<?xf32>
  return
}
}

// -----

// Variables of a type of their own: one is left of each type.

#shared = #tilewright.shared
#t = #tilewright.target<"test", "spirv", {shared_memory = 100000, typed_shared_memory}>
module attributes {tilewright.target = #t} {
// CHECK-LABEL: @ByType
// CHECK-SAME: tilewright.shared_bytes = 3072 : i64
// CHECK: %[[F:.*]] = memref.alloc() {tilewright.shared_place = 0 : i64} : memref<512xf32
// CHECK: %[[H:.*]] = memref.alloc() {tilewright.shared_place = 2048 : i64} : memref<512xf16
// CHECK: store %{{.*}}, %[[F]][
// CHECK: store %{{.*}}, %[[F]][
// CHECK: store %{{.*}}, %[[H]][
func.func private @ByType(%x: memref<?xf32>, %y: memref<?xf16>, %n: index, %f: f32, %h: f16) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<256xf32, #shared>
  %b = memref.alloc() : memref<512xf32, #shared>
  %c = memref.alloc() : memref<512xf16, #shared>
  memref.store %f, %a[%n] : memref<256xf32, #shared>
  gpu.barrier
  %u = memref.load %a[%c0] : memref<256xf32, #shared>
  gpu.barrier
  memref.store %u, %b[%n] : memref<512xf32, #shared>
  gpu.barrier
  %v = memref.load %b[%c0] : memref<512xf32, #shared>
  gpu.barrier
  memref.store %v, %x[%n] : memref<?xf32>
  memref.store %h, %c[%n] : memref<512xf16, #shared>
  gpu.barrier
  %w = memref.load %c[%c0] : memref<512xf16, #shared>
  gpu.barrier
  memref.store %w, %y[%n] : memref<?xf16>
  return
}
}
