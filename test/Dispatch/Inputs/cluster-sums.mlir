// Products of 32 and 64 rows: a sum that begins with zero, and is narrowed; one that begins with what is in memory; one of weights that are
// widened on their way.

#all = affine_map<(i, j) -> (i, j)>
func.func @few(%a: tensor<32x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<32x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x4096xf32>) -> tensor<32x4096xf32>
  %p = linalg.matmul ins(%a, %b : tensor<32x4096xbf16>, tensor<4096x4096xbf16>) outs(%z : tensor<32x4096xf32>) -> tensor<32x4096xf32>
  %n = tensor.empty() : tensor<32x4096xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<32x4096xf32>) outs(%n : tensor<32x4096xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<32x4096xbf16>
  return %r : tensor<32x4096xbf16>
}

func.func @added(%a: tensor<64x4096xbf16>, %b: tensor<4096x4096xbf16>, %c: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<64x4096xbf16>, tensor<4096x4096xbf16>) outs(%c : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %p : tensor<64x4096xf32>
}

func.func @widened(%a: tensor<64x4096xbf16>, %b: tensor<4096x4096xi8>) -> tensor<64x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<4096x4096xbf16>
  %wide = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<4096x4096xi8>) outs(%w : tensor<4096x4096xbf16>) {
  ^bb0(%x: i8, %out: bf16):
    %t = arith.sitofp %x : i8 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x4096xbf16>
  %e = tensor.empty() : tensor<64x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %p = linalg.matmul ins(%a, %wide : tensor<64x4096xbf16>, tensor<4096x4096xbf16>) outs(%z : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %p : tensor<64x4096xf32>
}
