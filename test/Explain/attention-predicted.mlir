// How long attention takes in the closed form: keys that a mask hides are not counted, and
// nothing is said where sizes are not known, or of CPUs.
// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80,cuda:sm_90a,cpu -o /dev/null --explain 2>&1 | FileCheck %s

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>

// CHECK:     cuda:sm_80
// CHECK:     all_attention_0: 1 op
// CHECK:     predicted, not measured: 2{{[0-9][0-9]\.[0-9]}} us on NVIDIA A100 {{.*}}tensor {{[0-9]+}} %{{.*}} on a multiprocessor
// CHECK:     causal_attention_0: 1 op
// CHECK:     predicted, not measured: 1{{[0-9][0-9]\.[0-9]}} us on NVIDIA A100 {{.*}}tensor
// CHECK:     any_attention_0: 1 op
// CHECK-NOT: predicted, not measured
// CHECK:     cuda:sm_90a
// CHECK:     all_attention_0: 1 op
// CHECK:     predicted, not measured: {{[0-9.]+}} us on NVIDIA H100 {{.*}}tensor
// CHECK:     any_attention_0: 1 op
// CHECK-NOT: predicted, not measured

func.func @all(%q: tensor<16x2048x128xf16>, %k: tensor<16x2048x128xf16>, %v: tensor<16x2048x128xf16>) -> tensor<16x2048x128xf16> {
  %e = tensor.empty() : tensor<16x2048x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<16x2048x128xf16>, tensor<16x2048x128xf16>, tensor<16x2048x128xf16>)
      outs(%e : tensor<16x2048x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<16x2048x128xf16>
  return %r : tensor<16x2048x128xf16>
}

func.func @causal(%q: tensor<16x2048x128xf16>, %k: tensor<16x2048x128xf16>, %v: tensor<16x2048x128xf16>) -> tensor<16x2048x128xf16> {
  %e = tensor.empty() : tensor<16x2048x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<16x2048x128xf16>, tensor<16x2048x128xf16>, tensor<16x2048x128xf16>)
      outs(%e : tensor<16x2048x128xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<16x2048x128xf16>
  return %r : tensor<16x2048x128xf16>
}

func.func @any(%q: tensor<16x?x128xf16>, %k: tensor<16x2048x128xf16>, %v: tensor<16x2048x128xf16>) -> tensor<16x?x128xf16> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %q, %c1 : tensor<16x?x128xf16>
  %e = tensor.empty(%n) : tensor<16x?x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<16x?x128xf16>, tensor<16x2048x128xf16>, tensor<16x2048x128xf16>)
      outs(%e : tensor<16x?x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<16x?x128xf16>
  return %r : tensor<16x?x128xf16>
}
