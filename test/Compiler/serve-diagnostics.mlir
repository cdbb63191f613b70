// Several kernels are refused at once, while others are looked up: each request gets the reason.
// REQUIRES: tilewright-compile
// RUN: echo '{"id": 1, "input": "%s", "output": "%t.tw"}' > %t.one
// RUN: cat %t.one %t.one %t.one %t.one %t.one %t.one %t.one %t.one %t.one %t.one %t.one %t.one > %t.requests
// RUN: tilewright-compile --serve --target=cuda:sm_80 < %t.requests | FileCheck %s

// CHECK-COUNT-12: the pinned lowering config does not fit: needs 2048 threads
func.func @product(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

#id = affine_map<(i, j) -> (i, j)>
#config = #tilewright.lowering_config<strategy = streaming, block = [64, 64], warps = [64, 1]>

func.func @a(%x: tensor<64x60xi64>, %e: tensor<64x60xi64>) -> tensor<64x60xi64> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"], tilewright.lowering_config = #config}
      ins(%x : tensor<64x60xi64>) outs(%e : tensor<64x60xi64>) {
  ^bb0(%i: i64, %o: i64):
    %s = arith.muli %i, %i : i64
    linalg.yield %s : i64
  } -> tensor<64x60xi64>
  return %r : tensor<64x60xi64>
}

func.func @b(%x: tensor<64x61xi64>, %e: tensor<64x61xi64>) -> tensor<64x61xi64> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"], tilewright.lowering_config = #config}
      ins(%x : tensor<64x61xi64>) outs(%e : tensor<64x61xi64>) {
  ^bb0(%i: i64, %o: i64):
    %s = arith.muli %i, %i : i64
    linalg.yield %s : i64
  } -> tensor<64x61xi64>
  return %r : tensor<64x61xi64>
}
