// RUN: tilewright-opt %s -tilewright-place-shared-memory -split-input-file | FileCheck %s

#shared = #tilewright.shared
#t = #tilewright.target<"test", "nvvm", {shared_memory = 100000}>
module attributes {tilewright.target = #t} {

// A ring that copies fill, and what leaves through shared memory behind a wait for all
// of them.
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
      %v = memref.load %a[%i] : memref<512xf32, #shared>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  tilewright.async_wait 0
  memref.store %h, %s[%n] : memref<2048xf16, #shared>
  %w = memref.load %s[%c0] : memref<2048xf16, #shared>
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
  memref.store %f, %s[%n] : memref<512xf32, #shared>
  %w = memref.load %s[%c0] : memref<512xf32, #shared>
  memref.store %w, %x[%n] : memref<?xf32>
  return
}

// What one role exchanges and what another does at the same time.
// CHECK-LABEL: @Roles
// CHECK-SAME: tilewright.shared_bytes = 4096 : i64
func.func private @Roles(%x: memref<?xf32>, %n: index, %f: f32, %one: i1, %other: i1) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<512xf32, #shared>
  %s = memref.alloc() : memref<512xf32, #shared>
  tilewright.role if %one meets 8 threads = 64 {
    memref.store %f, %a[%n] : memref<512xf32, #shared>
    %v = memref.load %a[%c0] : memref<512xf32, #shared>
    memref.store %v, %x[%n] : memref<?xf32>
  }
  tilewright.role if %other meets 9 threads = 64 {
    memref.store %f, %s[%n] : memref<512xf32, #shared>
    %w = memref.load %s[%c0] : memref<512xf32, #shared>
    memref.store %w, %x[%n] : memref<?xf32>
  }
  return
}

// A few bytes are not worth a barrier.
// CHECK-LABEL: @Partials
// CHECK-SAME: tilewright.shared_bytes = 64 : i64
func.func private @Partials(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32, #shared>
  %s = memref.alloc() : memref<8xf32, #shared>
  memref.store %f, %a[%n] : memref<8xf32, #shared>
  %v = memref.load %a[%c0] : memref<8xf32, #shared>
  memref.store %v, %s[%n] : memref<8xf32, #shared>
  %w = memref.load %s[%c0] : memref<8xf32, #shared>
  memref.store %w, %x[%n] : memref<?xf32>
  return
}

// A loop whose first tile is stored in front of it.
// CHECK-LABEL: @TwoStages
// CHECK-SAME: tilewright.shared_bytes = 2048 : i64
func.func private @TwoStages(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<512xf32, #shared>
  %s = memref.alloc() : memref<512xf32, #shared>
  memref.store %f, %a[%n] : memref<512xf32, #shared>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %a[%i] : memref<512xf32, #shared>
    memref.store %v, %x[%i] : memref<?xf32>
    memref.store %f, %a[%n] : memref<512xf32, #shared>
    }
  memref.store %f, %s[%n] : memref<512xf32, #shared>
  %w = memref.load %s[%c0] : memref<512xf32, #shared>
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
      memref.store %v, %a[%n] : memref<512xf32, #shared>
      memref.store %f, %s[%n] : memref<512xf32, #shared>
      %w = memref.load %s[%c0] : memref<512xf32, #shared>
      memref.store %w, %x[%n] : memref<?xf32>
  }
  memref.store %f, %t[%n] : memref<512xf32, #shared>
  %u = memref.load %t[%c0] : memref<512xf32, #shared>
  memref.store %u, %x[%n] : memref<?xf32>
  return
}
}

// -----

// Variables of a type of their own: buffers of a type begin at one place.

#shared = #tilewright.shared
#t = #tilewright.target<"test", "spirv", {shared_memory = 100000, typed_shared_memory}>
module attributes {tilewright.target = #t} {
// CHECK-LABEL: @ByType
// CHECK-SAME: tilewright.shared_bytes = 3072 : i64
// CHECK: memref.alloc() {tilewright.shared_place = 0 : i64} : memref<256xf32
// CHECK: memref.alloc() {tilewright.shared_place = 0 : i64} : memref<512xf32
// CHECK: memref.alloc() {tilewright.shared_place = 2048 : i64} : memref<512xf16
func.func private @ByType(%x: memref<?xf32>, %y: memref<?xf16>, %n: index, %f: f32, %h: f16) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<256xf32, #shared>
  %b = memref.alloc() : memref<512xf32, #shared>
  %c = memref.alloc() : memref<512xf16, #shared>
  memref.store %f, %a[%n] : memref<256xf32, #shared>
  %u = memref.load %a[%c0] : memref<256xf32, #shared>
  memref.store %u, %b[%n] : memref<512xf32, #shared>
  %v = memref.load %b[%c0] : memref<512xf32, #shared>
  memref.store %v, %x[%n] : memref<?xf32>
  memref.store %h, %c[%n] : memref<512xf16, #shared>
  %w = memref.load %c[%c0] : memref<512xf16, #shared>
  memref.store %w, %y[%n] : memref<?xf16>
  return
}
}
