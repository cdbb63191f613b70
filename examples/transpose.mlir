// A transpose: read and written 16 bytes at a time, turned in shared memory.

func.func @main(%a: tensor<1024x512xf32>) -> tensor<512x1024xf32> {
  %e = tensor.empty() : tensor<512x1024xf32>
  %r = linalg.transpose ins(%a : tensor<1024x512xf32>) outs(%e : tensor<512x1024xf32>) permutation = [1, 0]
  return %r : tensor<512x1024xf32>
}
