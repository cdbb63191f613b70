// RUN: tilewright-opt %s -tilewright-check-host -split-input-file -verify-diagnostics

func.func @Insert(%x: tensor<8xf32>, %v: f32, %i: index) -> tensor<8xf32> {
  // expected-error @below {{'tensor.insert' op is not compiled; on the host tensors can be created}}
  %r = tensor.insert %v into %x[%i] : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @Vectors(%v: vector<4xf32>) -> vector<4xf32> {
  // expected-error @below {{works on tensors or vectors but has no elementwise form}}
  %r = arith.addf %v, %v : vector<4xf32>
  return %r : vector<4xf32>
}

// -----

func.func @OtherDialect(%m: memref<8xf32>) {
  // expected-error @below {{is neither compiled into a kernel nor known to the host}}
  gpu.barrier
  return
}
