// RUN: tilewright-opt %s -tilewright-bufferize -verify-diagnostics -split-input-file

func.func private @ReadAfterWrite(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0], %pad : tensor<?xf32>, vector<8xf32>
  %u = vector.transfer_write %v, %o[%c0] : vector<8xf32>, tensor<?xf32>
  // expected-error @+1 {{uses argument 1 as it was before it was written to; it would need a copy}}
  %w = vector.transfer_read %o[%c0], %pad : tensor<?xf32>, vector<8xf32>
  %t = vector.transfer_write %w, %u[%c0] : vector<8xf32>, tensor<?xf32>
  return %t : tensor<?xf32>
}

// -----

func.func private @Temporary(%o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{still works on tensors; it would need an allocation or a copy}}
  %e = tensor.empty() : tensor<8xf32>
  return %e : tensor<8xf32>
}

// -----

func.func private @WrongDestination(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{operand 0 is not its destination argument; it would need a copy}}
  return %x : tensor<8xf32>
}

// -----

func.func private @SliceIsNotRead(%x: tensor<9x32xf32>, %i: index, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel} {
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %x[%i, 0] [1, %i] [1, 1] : tensor<9x32xf32> to tensor<1x?xf32>
  // expected-error @+1 {{uses a slice of a tensor, which reads of vectors alone may}}
  %d = tensor.dim %s, %c1 : tensor<1x?xf32>
  return %o : tensor<8xf32>
}
