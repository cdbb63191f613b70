// Constants stored by the host, a transpose and a square in nests of affine loops, and the host's printing. Both nests are one
// kernel: what the first stores is read once, by the second.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80,vulkan,cpu,cpu-reference -o %t.tw --explain 2>&1 | FileCheck %s
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --print --input=3x2xf64=0 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=ptxsim --check=oracle --print --input=3x2xf64=0 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=vulkan --check=oracle --print --input=3x2xf64=0 | FileCheck %s --check-prefix=RIGHT

// CHECK: @squares(3x2xf64): 1 kernel
// RIGHT: 36
// RIGHT: ok
func.func @squares(%out: memref<3x2xf64>) {
  %from = memref.alloc() : memref<2x3xf64>
  %turned = memref.alloc() : memref<3x2xf64>
  %n1 = arith.constant 1.0 : f64
  %n2 = arith.constant 2.0 : f64
  %n3 = arith.constant 3.0 : f64
  %n4 = arith.constant 4.0 : f64
  %n5 = arith.constant 5.0 : f64
  %n6 = arith.constant 6.0 : f64
  affine.store %n1, %from[0, 0] : memref<2x3xf64>
  affine.store %n2, %from[0, 1] : memref<2x3xf64>
  affine.store %n3, %from[0, 2] : memref<2x3xf64>
  affine.store %n4, %from[1, 0] : memref<2x3xf64>
  affine.store %n5, %from[1, 1] : memref<2x3xf64>
  affine.store %n6, %from[1, 2] : memref<2x3xf64>
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 2 {
      %x = affine.load %from[%j, %i] : memref<2x3xf64>
      affine.store %x, %turned[%i, %j] : memref<3x2xf64>
    }
  }
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 2 {
      %x = affine.load %turned[%i, %j] : memref<3x2xf64>
      %y = affine.load %turned[%i, %j] : memref<3x2xf64>
      %m = arith.mulf %x, %y : f64
      affine.store %m, %out[%i, %j] : memref<3x2xf64>
    }
  }
  %last = affine.load %out[2, 1] : memref<3x2xf64>
  vector.print %last : f64
  memref.dealloc %turned : memref<3x2xf64>
  memref.dealloc %from : memref<2x3xf64>
  return
}
