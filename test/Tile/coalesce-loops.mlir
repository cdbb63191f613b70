// RUN: tilewright-opt %s -tilewright-coalesce-loops -canonicalize | FileCheck %s

#config = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 64, 1, 32], mma = "mma.m16n8k16.f16.f32">

// CHECK-LABEL: func private @Nest
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c6 step %{{.*}} iter_args
// CHECK-NOT: scf.for
// CHECK-DAG: arith.remui %[[I]]
// CHECK-DAG: arith.divui %[[I]]
func.func private @Nest(%m: memref<3x64xf32>) -> f32 attributes {tilewright.kernel, tilewright.lowering_config = #config} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %z) -> f32 {
    %s = scf.for %j = %c0 to %c64 step %c32 iter_args(%y = %x) -> f32 {
      %v = memref.load %m[%i, %j] : memref<3x64xf32>
      %t = arith.addf %v, %y : f32
      scf.yield %t : f32
    }
    scf.yield %s : f32
  }
  return %r : f32
}

// A loop whose bound is not known keeps its own steps.
// CHECK-LABEL: func private @Dynamic
// CHECK-SAME: tilewright.explain = ["a loop of steps inside of another, which copies do not look beyond: their bounds are known only at run time{{.*}}"]
// CHECK-COUNT-2: scf.for
func.func private @Dynamic(%m: memref<3x?xf32>, %n: index) -> f32 attributes {tilewright.kernel, tilewright.explain = [], tilewright.lowering_config = #config} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %z) -> f32 {
    %s = scf.for %j = %c0 to %n step %c32 iter_args(%y = %x) -> f32 {
      %v = memref.load %m[%i, %j] : memref<3x?xf32>
      %t = arith.addf %v, %y : f32
      scf.yield %t : f32
    }
    scf.yield %s : f32
  }
  return %r : f32
}

// The loop of a ring is one, whatever constants stand between.
#ring = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 1, 64], mma = "wgmma.m64n64k16.f16.f32">
// CHECK-LABEL: func private @Ring
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
func.func private @Ring(%m: memref<3x72xf32>) -> f32 attributes {tilewright.kernel, tilewright.lowering_config = #ring} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %z) -> f32 {
    %c64 = arith.constant 64 : index
    %c72 = arith.constant 72 : index
    %s = scf.for %j = %c0 to %c72 step %c64 iter_args(%y = %x) -> f32 {
      %v = memref.load %m[%i, %j] : memref<3x72xf32>
      %t = arith.addf %v, %y : f32
      scf.yield %t : f32
    }
    scf.yield %s : f32
  }
  return %r : f32
}

// Loops over panels stay a nest: one over rows, one over columns.
// CHECK-LABEL: func private @Panels
// CHECK-COUNT-2: scf.for
func.func private @Panels(%m: memref<64x64xf32>) attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.panels = array<i64: 2, 2, 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c32 {
    scf.for %j = %c0 to %c64 step %c32 {
      memref.store %z, %m[%i, %j] : memref<64x64xf32>
    }
  }
  return
}
