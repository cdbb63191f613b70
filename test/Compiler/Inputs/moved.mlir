func.func @f(%a: tensor<64x96xf32>, %b: tensor<96x32xf32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %m = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x32xf32>) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %m : tensor<64x32xf32>
}
