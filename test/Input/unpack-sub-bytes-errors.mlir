// RUN: tilewright-opt %s -tilewright-unpack-sub-bytes -tilewright-check-input -split-input-file -verify-diagnostics

// expected-error @below {{has a value of type 'tensor<?x5xi4>', which has rows of 5 elements, and 2 of them share a byte; make the innermost dim a multiple of that, or all dims static}}
func.func @Odd(%w: tensor<?x5xi4>) {
  return
}

// -----

func.func @OddReshape(%w: tensor<3x5xi4>) {
  // expected-error @below {{uses a tensor of 'i4', which structured ops only read}}
  %v = tensor.collapse_shape %w [[0, 1]] : tensor<3x5xi4> into tensor<15xi4>
  return
}

// -----

func.func @Window(%w: tensor<4x6xi4>) {
  // expected-error @below {{uses a tensor of 'i4', which structured ops only read}}
  %v = tensor.extract_slice %w[0, 1] [4, 4] [1, 1] : tensor<4x6xi4> to tensor<4x4xi4>
  return
}

// -----

func.func @Copy(%w: tensor<4x6xi4>, %o: tensor<4x6xi4>) -> tensor<4x6xi4> {
  // expected-error @below {{uses a tensor of 'i4', which structured ops only read}}
  %r = linalg.copy ins(%w : tensor<4x6xi4>) outs(%o : tensor<4x6xi4>) -> tensor<4x6xi4>
  return %r : tensor<4x6xi4>
}

// -----

func.func @Arithmetic(%w: tensor<6xi4>, %o: tensor<6xi8>) -> tensor<6xi8> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%w : tensor<6xi4>) outs(%o : tensor<6xi8>) {
  ^bb0(%x: i4, %out: i8):
    // expected-error @below {{computes with 'i4', which is only extended and converted to floats; do so first}}
    %s = arith.addi %x, %x : i4
    %v = arith.extsi %s : i4 to i8
    linalg.yield %v : i8
  } -> tensor<6xi8>
  return %r : tensor<6xi8>
}

// -----

// expected-error @below {{argument 0 has type 'memref<4x6xi4>': i4 and i2 are elements of tensors that are read, two or four to a byte; take an argument as a tensor, return i8}}
func.func @Memref(%w: memref<4x6xi4>) {
  return
}

// -----

func.func @SplitByte(%w: tensor<4x6xi4>) {
  // expected-error @below {{uses a tensor of 'i4', which structured ops only read}}
  %v = tensor.expand_shape %w [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xi4> into tensor<4x2x3xi4>
  return
}

// -----

// expected-error @below {{has a value of type 'tensor<?x6xi2>', which has rows of 6 elements, and 4 of them share a byte; make the innermost dim a multiple of that, or all dims static}}
func.func @Quarters(%w: tensor<?x6xi2>) {
  return
}

// -----

// expected-error @below {{result 0 has type 'tensor<4xi2>': i4 and i2 are elements of tensors that are read, two or four to a byte}}
func.func @Result(%x: tensor<4xi8>) -> tensor<4xi2> {
  %r = arith.trunci %x : tensor<4xi8> to tensor<4xi2>
  return %r : tensor<4xi2>
}
