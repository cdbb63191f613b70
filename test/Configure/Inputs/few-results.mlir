// Few results of a long sum; tiles that are few more than a device has multiprocessors.

func.func @few(%a: tensor<1024x8192xbf16>, %b: tensor<8192x512xbf16>) -> tensor<1024x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1024x8192xbf16>, tensor<8192x512xbf16>) outs(%z : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %p : tensor<1024x512xf32>
}

func.func @added(%a: tensor<1024x8192xbf16>, %b: tensor<8192x512xbf16>, %c: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<1024x8192xbf16>, tensor<8192x512xbf16>) outs(%c : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %p : tensor<1024x512xf32>
}

func.func @more(%a: tensor<2048x8192xbf16>, %b: tensor<8192x2304xbf16>) -> tensor<2048x2304xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2304xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2304xf32>) -> tensor<2048x2304xf32>
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], warps = [8, 1, 1],
      stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", registers = [40, 232], persistent = true>}
    ins(%a, %b : tensor<2048x8192xbf16>, tensor<8192x2304xbf16>) outs(%z : tensor<2048x2304xf32>) -> tensor<2048x2304xf32>
  return %p : tensor<2048x2304xf32>
}
