// RUN: tilewright-compile %s --target=cuda:sm_80 --explain -o %t.tw 2>&1 | FileCheck %s

// Where times are equal but for what no model sees, rows that several ops run over stay on chip: a block of 256 threads has the
// 8192 numbers in registers, though a warp that walks along them, sums in the loop of the maxima, would be 0.1 % faster.
// CHECK: config: #tilewright.lowering_config<strategy = reduction, block = [1, 8192], warps = [1, 8]>
// CHECK-NOT: sums of exponentials are taken in the loop
#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
func.func @log_sum_exp(%x: tensor<8192x8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<8192x8192xf32>) outs(%l : tensor<8192xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x, %m : tensor<8192x8192xf32>, tensor<8192xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f32, %top: f32, %acc: f32):
      %d = arith.subf %in, %top : f32
      %p = math.exp %d : f32
      %a = arith.addf %acc, %p : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
       ins(%m, %s : tensor<8192xf32>, tensor<8192xf32>) outs(%e : tensor<8192xf32>) {
    ^bb0(%top: f32, %sum: f32, %out: f32):
      %g = math.log %sum : f32
      %a = arith.addf %g, %top : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  return %r : tensor<8192xf32>
}
