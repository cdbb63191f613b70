// RUN: tilewright-opt %s -tilewright-convert-to-nvvm -split-input-file -verify-diagnostics

func.func private @no_place() attributes {tilewright.kernel} {
  // expected-error @below {{'memref.alloc' op has no place in shared memory; tilewright-place-shared-memory gives it one}}
  %0 = memref.alloc() : memref<4xf32, #tilewright.shared>
  return
}

// -----

func.func private @barrier() attributes {tilewright.kernel} {
  // expected-error @below {{barrier 16 does not exist; a block has 0 to 15}}
  // expected-error @below {{failed to legalize}}
  tilewright.barrier 16 threads = 32
  return
}

// -----

func.func private @mma(%a: f16, %c: f32) attributes {tilewright.kernel} {
  // expected-error @below {{this back end has no matrix instruction 'mma.m1n1k1'}}
  // expected-error @below {{failed to legalize}}
  %0 = tilewright.mma_fragment "mma.m1n1k1" (%a : f16), (%a : f16), (%c : f32) -> f32
  return
}

// -----

// expected-error @below {{argument 0 has type 'tensor<4xf32>', which no kernel parameter can have}}
// expected-error @below {{failed to legalize}}
func.func private @tensor(%a: tensor<4xf32>) attributes {tilewright.kernel} {
  return
}

// -----

// expected-error @below {{'tilewright.index_bits' must be 32 or 64}}
func.func private @index() attributes {tilewright.kernel, tilewright.index_bits = 16 : i64} {
  return
}
