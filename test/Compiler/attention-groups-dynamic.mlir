// Heads that share keys and values, with a dynamic number of queries, are one kernel.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80,cpu,cpu-reference --explain -o %t.tw 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=3x2x3x9x32xf32=random:1 --input=3x2x40x32xf32=random:2 --input=3x2x40x32xf32=random:3 | FileCheck %s --implicit-check-not="NOT CHECKED"
// RUN: tilewright-run %t.tw --device=ptxsim --check=oracle --input=3x2x3x7x32xf32=random:1 --input=3x2x33x32xf32=random:2 --input=3x2x33x32xf32=random:3 | FileCheck %s --implicit-check-not="NOT CHECKED"
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=3x2x3x1x32xf32=random:1 --input=3x2x5x32xf32=random:2 --input=3x2x5x32xf32=random:3 | FileCheck %s --implicit-check-not="NOT CHECKED"
// EXPLAIN: @grouped({{.*}}): 1 kernel{{$}}
// EXPLAIN: found in linalg: contraction, softmax and contraction are one attention
// CHECK: result[0]: ok: {{.*}}error bounds of the oracle

func.func @grouped(%a0: tensor<3x2x3x?x32xf32>, %a1: tensor<3x2x?x32xf32>, %a2: tensor<3x2x?x32xf32>) -> (tensor<3x2x3x?x32xf32>) {
  %c9 = arith.constant 3 : index
  %c1 = arith.constant 2 : index
  %c2 = arith.constant 0.1767766922712326 : f32
  %c3 = arith.constant 0.0 : f32
  %c4 = arith.constant 0xFF800000 : f32
  %c5 = arith.constant 1.0 : f32
  %dim1 = tensor.dim %a0, %c9 : tensor<3x2x3x?x32xf32>
  %dim2 = tensor.dim %a1, %c1 : tensor<3x2x?x32xf32>
  %e3 = tensor.empty(%dim1, %dim2) : tensor<3x2x3x?x?xf32>
  %f4 = linalg.fill ins(%c3 : f32) outs(%e3 : tensor<3x2x3x?x?xf32>) -> tensor<3x2x3x?x?xf32>
  %g5 = linalg.generic {indexing_maps = [affine_map<(b, h, g, i, j, d) -> (b, h, g, i, d)>, affine_map<(b, h, g, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, g, i, j, d) -> (b, h, g, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<3x2x3x?x32xf32>, tensor<3x2x?x32xf32>) outs(%f4 : tensor<3x2x3x?x?xf32>) {
    ^bb0(%x0: f32, %x1: f32, %o0: f32):
      %p = arith.mulf %x0, %x1 : f32
      %r = arith.addf %o0, %p : f32
      linalg.yield %r : f32
  } -> tensor<3x2x3x?x?xf32>
  %e6 = tensor.empty(%dim1, %dim2) : tensor<3x2x3x?x?xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>, affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%g5 : tensor<3x2x3x?x?xf32>) outs(%e6 : tensor<3x2x3x?x?xf32>) {
    ^bb0(%x0: f32, %o0: f32):
      %r = arith.mulf %x0, %c2 : f32
      linalg.yield %r : f32
  } -> tensor<3x2x3x?x?xf32>
  %e8 = tensor.empty(%dim1) : tensor<3x2x3x?xf32>
  %f9 = linalg.fill ins(%c4 : f32) outs(%e8 : tensor<3x2x3x?xf32>) -> tensor<3x2x3x?xf32>
  %g10 = linalg.generic {indexing_maps = [affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>, affine_map<(b, h, g, i, j) -> (b, h, g, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%g7 : tensor<3x2x3x?x?xf32>) outs(%f9 : tensor<3x2x3x?xf32>) {
    ^bb0(%x0: f32, %o0: f32):
      %r = arith.maximumf %x0, %o0 : f32
      linalg.yield %r : f32
  } -> tensor<3x2x3x?xf32>
  %e11 = tensor.empty(%dim1, %dim2) : tensor<3x2x3x?x?xf32>
  %g12 = linalg.generic {indexing_maps = [affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>, affine_map<(b, h, g, i, j) -> (b, h, g, i)>, affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%g7, %g10 : tensor<3x2x3x?x?xf32>, tensor<3x2x3x?xf32>) outs(%e11 : tensor<3x2x3x?x?xf32>) {
    ^bb0(%x0: f32, %x1: f32, %o0: f32):
      %d = arith.subf %x0, %x1 : f32
      %r = math.exp %d : f32
      linalg.yield %r : f32
  } -> tensor<3x2x3x?x?xf32>
  %e13 = tensor.empty(%dim1) : tensor<3x2x3x?xf32>
  %f14 = linalg.fill ins(%c3 : f32) outs(%e13 : tensor<3x2x3x?xf32>) -> tensor<3x2x3x?xf32>
  %g15 = linalg.generic {indexing_maps = [affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>, affine_map<(b, h, g, i, j) -> (b, h, g, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%g12 : tensor<3x2x3x?x?xf32>) outs(%f14 : tensor<3x2x3x?xf32>) {
    ^bb0(%x0: f32, %o0: f32):
      %r = arith.addf %x0, %o0 : f32
      linalg.yield %r : f32
  } -> tensor<3x2x3x?xf32>
  %e16 = tensor.empty(%dim1, %dim2) : tensor<3x2x3x?x?xf32>
  %g17 = linalg.generic {indexing_maps = [affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>, affine_map<(b, h, g, i, j) -> (b, h, g, i)>, affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%g12, %g15 : tensor<3x2x3x?x?xf32>, tensor<3x2x3x?xf32>) outs(%e16 : tensor<3x2x3x?x?xf32>) {
    ^bb0(%x0: f32, %x1: f32, %o0: f32):
      %r = arith.divf %x0, %x1 : f32
      linalg.yield %r : f32
  } -> tensor<3x2x3x?x?xf32>
  %e18 = tensor.empty(%dim1) : tensor<3x2x3x?x32xf32>
  %f19 = linalg.fill ins(%c3 : f32) outs(%e18 : tensor<3x2x3x?x32xf32>) -> tensor<3x2x3x?x32xf32>
  %g20 = linalg.generic {indexing_maps = [affine_map<(b, h, g, i, e, j) -> (b, h, g, i, j)>, affine_map<(b, h, g, i, e, j) -> (b, h, j, e)>, affine_map<(b, h, g, i, e, j) -> (b, h, g, i, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%g17, %a2 : tensor<3x2x3x?x?xf32>, tensor<3x2x?x32xf32>) outs(%f19 : tensor<3x2x3x?x32xf32>) {
    ^bb0(%x0: f32, %x1: f32, %o0: f32):
      %p = arith.mulf %x0, %x1 : f32
      %r = arith.addf %o0, %p : f32
      linalg.yield %r : f32
  } -> tensor<3x2x3x?x32xf32>
  return %g20 : tensor<3x2x3x?x32xf32>
}
