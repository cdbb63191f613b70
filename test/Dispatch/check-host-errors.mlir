// RUN: tilewright-opt %s -tilewright-check-host -split-input-file -verify-diagnostics

func.func @Gather(%x: tensor<8xf32>, %i: tensor<4x1xi32>) -> tensor<4xf32> {
  // expected-error @below {{'tensor.gather' op is not compiled; on the host tensors can be created}}
  %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<8xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
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

// -----

func.func @pad_with_what_is_computed(%x: tensor<4xf32>) -> tensor<6xf32> {
  // expected-error @below {{'tensor.pad' op pads with a value that its body computes; pad with one value}}
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %0 = arith.index_cast %i : index to i32
    %1 = arith.sitofp %0 : i32 to f32
    tensor.yield %1 : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %p : tensor<6xf32>
}
