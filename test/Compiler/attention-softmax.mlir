// Attention whose softmax is the named op, between contractions of linalg, is one kernel.
//
// RUN: tilewright-compile %s --target=cuda:sm_80 --explain -o %t.tw 2>&1 | FileCheck %s

// CHECK: @a({{.*}}: 1 kernel
// CHECK: found in linalg: contraction, softmax and contraction are one attention

func.func @a(%q: tensor<2x64x64xf16>, %k: tensor<2x64x64xf16>, %v: tensor<2x64x64xf16>) -> tensor<2x64x64xf16> {
  %z = arith.constant 0.0 : f32
  %zh = arith.constant 0.0 : f16
  %es = tensor.empty() : tensor<2x64x64xf32>
  %fs = linalg.fill ins(%z : f32) outs(%es : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %s = linalg.contract indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>, affine_map<(h, i, j, d) -> (h, i, j)>]
    ins(%q, %k : tensor<2x64x64xf16>, tensor<2x64x64xf16>) outs(%fs : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x64xf32>) outs(%es : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %eh = tensor.empty() : tensor<2x64x64xf16>
  %ph = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x64x64xf32>) outs(%eh : tensor<2x64x64xf16>) {
  ^bb0(%x: f32, %o: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x64x64xf16>
  %r = linalg.contract indexing_maps = [affine_map<(h, i, e, j) -> (h, i, j)>, affine_map<(h, i, e, j) -> (h, j, e)>, affine_map<(h, i, e, j) -> (h, i, e)>]
    ins(%ph, %v : tensor<2x64x64xf16>, tensor<2x64x64xf16>) outs(%fs : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r : tensor<2x64x64xf32>) outs(%eh : tensor<2x64x64xf16>) {
  ^bb0(%x: f32, %out: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x64x64xf16>
  return %o : tensor<2x64x64xf16>
}
