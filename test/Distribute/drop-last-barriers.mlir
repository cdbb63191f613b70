// RUN: tilewright-opt %s -tilewright-drop-last-barriers | FileCheck %s

#shared = #tilewright.shared

// CHECK-LABEL: @Exchange
// CHECK: store %{{.*}}, %[[S:.*]][
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: load %[[S]]
// CHECK-NEXT: store
// CHECK-NEXT: return
func.func private @Exchange(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %s = memref.alloc() : memref<512xf32, #shared>
  memref.store %f, %s[%n] : memref<512xf32, #shared>
  gpu.barrier
  %w = memref.load %s[%n] : memref<512xf32, #shared>
  gpu.barrier
  memref.store %w, %x[%n] : memref<?xf32>
  return
}

// Another exchange writes the memory again: only the last barrier goes.
// CHECK-LABEL: @Twice
// CHECK-COUNT-3: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func private @Twice(%x: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %s = memref.alloc() : memref<512xf32, #shared>
  memref.store %f, %s[%n] : memref<512xf32, #shared>
  gpu.barrier
  %v = memref.load %s[%n] : memref<512xf32, #shared>
  gpu.barrier
  memref.store %v, %s[%n] : memref<512xf32, #shared>
  gpu.barrier
  %w = memref.load %s[%n] : memref<512xf32, #shared>
  gpu.barrier
  memref.store %w, %x[%n] : memref<?xf32>
  return
}

// Others write global memory that is read in front of the barrier.
// CHECK-LABEL: @InPlace
// CHECK: load
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: store
func.func private @InPlace(%x: memref<?xf32>, %n: index, %i: index) attributes {tilewright.kernel} {
  %v = memref.load %x[%n] : memref<?xf32>
  gpu.barrier
  memref.store %v, %x[%i] : memref<?xf32>
  return
}

// Each warp stores its part of a product as it is done with it.
// CHECK-LABEL: @Ring
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: async_wait 0
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func private @Ring(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %f: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = memref.alloc() : memref<512xf32, #shared>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %f) -> f32 {
    tilewright.async_copy_run %x[%i] to %s[%c0] {count = 4 : i64} : memref<?xf32> to memref<512xf32, #shared>
    tilewright.async_commit
    tilewright.async_wait 1
    gpu.barrier
    %v = memref.load %s[%i] : memref<512xf32, #shared>
    %b = arith.addf %a, %v : f32
    scf.yield %b : f32
  }
  tilewright.async_wait 0
  gpu.barrier
  memref.store %r, %y[%n] : memref<?xf32>
  return
}

// At the end of what a role does; not in a loop.
// CHECK-LABEL: @Roles
// CHECK: tilewright.barrier
// CHECK-NOT: tilewright.barrier
// CHECK: else
// CHECK-COUNT-2: gpu.barrier
func.func private @Roles(%x: memref<?xf32>, %n: index, %f: f32, %role: i1) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = memref.alloc() : memref<512xf32, #shared>
  scf.if %role {
    memref.store %f, %s[%n] : memref<512xf32, #shared>
    tilewright.barrier 8 threads = 128
    %w = memref.load %s[%n] : memref<512xf32, #shared>
    tilewright.barrier 8 threads = 128
    memref.store %w, %x[%n] : memref<?xf32>
  } else {
    scf.for %i = %c0 to %n step %c1 {
      memref.store %f, %s[%n] : memref<512xf32, #shared>
      gpu.barrier
      %w = memref.load %s[%n] : memref<512xf32, #shared>
      gpu.barrier
      memref.store %w, %x[%n] : memref<?xf32>
    }
  }
  return
}
