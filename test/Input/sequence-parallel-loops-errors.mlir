// RUN: tilewright-opt %s -verify-diagnostics -pass-pipeline='builtin.module(func.func(tilewright-sequence-parallel-loops))'

func.func @Sum(%a: memref<64xf32>) -> f32 {
  // expected-error @below {{'affine.parallel' op gives values; write the sum as affine.for with iter_args}}
  %r = affine.parallel (%i) = (0) to (64) reduce ("addf") -> f32 {
    %x = affine.load %a[%i] : memref<64xf32>
    affine.yield %x : f32
  }
  return %r : f32
}
