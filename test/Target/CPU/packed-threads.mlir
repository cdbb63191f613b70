// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cpu -o %t.tw
// RUN: env TILEWRIGHT_CPU_THREADS=1 tilewright-run %t.tw --device=cpu --input=70x90xf32=random --input=90x75xf32=random --output=@%t.1.npy
// RUN: env TILEWRIGHT_CPU_THREADS=3 tilewright-run %t.tw --device=cpu --input=70x90xf32=random --input=90x75xf32=random --output=@%t.3.npy
// RUN: cmp %t.1.npy %t.3.npy
// RUN: tilewright-run %t.tw --device=cpu --input=70x90xf32=random --input=90x75xf32=random --output=@%t.2.npy --threads=2 --bench=1 --json=%t.json
// RUN: cmp %t.1.npy %t.2.npy
// RUN: grep -q '2 threads' %t.json

// Blocks of a packed contraction share nothing: results have the same bits on any number of threads. Three chunks of the sum,
// ragged tiles along every loop.
func.func @main(%a: tensor<70x90xf32>, %b: tensor<90x75xf32>) -> tensor<70x75xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x75xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<70x75xf32>) -> tensor<70x75xf32>
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [24, 32, 32], thread = [6, 16, 8], promote = [0, 1]>}
      ins(%a, %b : tensor<70x90xf32>, tensor<90x75xf32>) outs(%z : tensor<70x75xf32>) -> tensor<70x75xf32>
  return %p : tensor<70x75xf32>
}
