// Two fully connected layers with bias and relu, then a softmax over each row,
// for any number of rows:
//
//   probabilities = softmax(relu(relu(x · w1 + b1) · w2 + b2))

#rows_columns = affine_map<(m, n) -> (m, n)>
#columns = affine_map<(m, n) -> (n)>

func.func @main(%x: tensor<?x784xf32>, %w1: tensor<784x256xf32>, %b1: tensor<256xf32>,
                %w2: tensor<256x10xf32>, %b2: tensor<10xf32>) -> tensor<?x10xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x784xf32>

  %e1 = tensor.empty(%rows) : tensor<?x256xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x256xf32>) -> tensor<?x256xf32>
  %m1 = linalg.matmul ins(%x, %w1 : tensor<?x784xf32>, tensor<784x256xf32>)
                      outs(%z1 : tensor<?x256xf32>) -> tensor<?x256xf32>
  %h1 = linalg.generic {indexing_maps = [#rows_columns, #columns, #rows_columns],
                        iterator_types = ["parallel", "parallel"]}
      ins(%m1, %b1 : tensor<?x256xf32>, tensor<256xf32>) outs(%e1 : tensor<?x256xf32>) {
  ^bb0(%value: f32, %bias: f32, %out: f32):
    %sum = arith.addf %value, %bias : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<?x256xf32>

  %e2 = tensor.empty(%rows) : tensor<?x10xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x10xf32>) -> tensor<?x10xf32>
  %m2 = linalg.matmul ins(%h1, %w2 : tensor<?x256xf32>, tensor<256x10xf32>)
                      outs(%z2 : tensor<?x10xf32>) -> tensor<?x10xf32>
  %h2 = linalg.generic {indexing_maps = [#rows_columns, #columns, #rows_columns],
                        iterator_types = ["parallel", "parallel"]}
      ins(%m2, %b2 : tensor<?x10xf32>, tensor<10xf32>) outs(%e2 : tensor<?x10xf32>) {
  ^bb0(%value: f32, %bias: f32, %out: f32):
    %sum = arith.addf %value, %bias : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<?x10xf32>

  %r = linalg.softmax dimension(1) ins(%h2 : tensor<?x10xf32>) outs(%e2 : tensor<?x10xf32>) -> tensor<?x10xf32>
  return %r : tensor<?x10xf32>
}
