// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @Leaves(%x: tensor<9xf32>) -> tensor<8x3xf32> {
  // expected-error @below {{reaches element 9 of dim 0, which has 9}}
  %v = tilewright.im2col %x[] {map = affine_map<(i, k) -> (i + k)>} : tensor<9xf32> to tensor<8x3xf32>
  return %v : tensor<8x3xf32>
}

// -----

func.func @Backwards(%x: tensor<9xf32>) -> tensor<9xf32> {
  // expected-error @below {{which has no sum of dims times positive constants there}}
  %v = tilewright.im2col %x[] {map = affine_map<(i) -> (8 - i)>} : tensor<9xf32> to tensor<9xf32>
  return %v : tensor<9xf32>
}

// -----

func.func @Sizes(%x: tensor<?xf32>) -> tensor<?x3xf32> {
  // expected-error @below {{has 0 sizes for 1 dynamic dims}}
  %v = tilewright.im2col %x[] {map = affine_map<(i, k) -> (i + k)>} : tensor<?xf32> to tensor<?x3xf32>
  return %v : tensor<?x3xf32>
}

// -----

func.func @Rank(%x: tensor<9x9xf32>) -> tensor<7x3xf32> {
  // expected-error @below {{needs a map from the dims of its result to those of its source}}
  %v = tilewright.im2col %x[] {map = affine_map<(i, k) -> (i + k)>} : tensor<9x9xf32> to tensor<7x3xf32>
  return %v : tensor<7x3xf32>
}

// -----

func.func @Type(%x: tensor<9xf32>) -> tensor<7x3xf16> {
  // expected-error @below {{must keep the element type}}
  %v = tilewright.im2col %x[] {map = affine_map<(i, k) -> (i + k)>} : tensor<9xf32> to tensor<7x3xf16>
  return %v : tensor<7x3xf16>
}
