// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @Table(%w: tensor<3x8x16xf32>, %e: tensor<6xf32>) {
  // expected-error@+1 {{takes a table of one dim, of integers}}
  %p = tilewright.pick %w[%e] : tensor<3x8x16xf32>, tensor<6xf32> to tensor<6x8x16xf32>
  return
}

// -----

func.func @Matrices(%w: tensor<3x8x16xf32>, %e: tensor<6xi64>) {
  // expected-error@+1 {{changes the number of matrices only}}
  %p = tilewright.pick %w[%e] : tensor<3x8x16xf32>, tensor<6xi64> to tensor<6x16x8xf32>
  return
}

// -----

func.func @Unknown(%w: tensor<?x8x16xf32>, %e: tensor<6xi64>) {
  // expected-error@+1 {{takes a known number of matrices, at least one}}
  %p = tilewright.pick %w[%e] : tensor<?x8x16xf32>, tensor<6xi64> to tensor<6x8x16xf32>
  return
}

// -----

func.func @Entries(%w: tensor<3x8x16xf32>, %e: tensor<6xi64>) {
  // expected-error@+1 {{gives a matrix for each entry of the table}}
  %p = tilewright.pick %w[%e] : tensor<3x8x16xf32>, tensor<6xi64> to tensor<5x8x16xf32>
  return
}
