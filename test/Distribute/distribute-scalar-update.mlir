// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-assign-layouts,tilewright-distribute))' | FileCheck %s

// Every thread reads a scalar, one writes it: not before all have read.
// CHECK-LABEL: @update
// CHECK: memref.load
// CHECK: gpu.barrier
// CHECK: memref.store
func.func private @update(%a: memref<128xf32>, %c: memref<1xf32>) attributes {tilewright.kernel,
    tilewright.launch = #tilewright.launch<threads = 64, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %old = memref.load %c[%c0] : memref<1xf32>
  %sum = arith.addf %old, %old : f32
  memref.store %sum, %c[%c0] : memref<1xf32>
  return
}

// What nobody reads needs no barrier.
// CHECK-LABEL: @write
// CHECK-NOT: gpu.barrier
// CHECK: memref.store
func.func private @write(%a: memref<128xf32>, %c: memref<1xf32>) attributes {tilewright.kernel,
    tilewright.launch = #tilewright.launch<threads = 64, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %old = memref.load %a[%c0] : memref<128xf32>
  memref.store %old, %c[%c0] : memref<1xf32>
  return
}
