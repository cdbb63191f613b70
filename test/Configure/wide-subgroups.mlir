// Subgroups of 64 are those of AMD's GPUs. Every 16 lanes hold all of an operand's fragment there: fewer keys a step, where
// the fragments of 64 would be spilled; short ones, of rows that no block holds.
// RUN: tilewright-compile %s --target=vulkan:1.3+shared_memory=65536+coopmat --stop-after=configure -o - | FileCheck %s

// CHECK-LABEL: module @{{.*}}_sg32
// CHECK: func.func {{.*}}@shallow_attention_0
// CHECK: block = [64, 64], warps = [4, 1]
// CHECK: func.func {{.*}}@deep_attention_0
// CHECK: block = [64, 32], warps = [4, 1]
// CHECK: func.func {{.*}}@long_reduce_0
// CHECK: block = [1, 8192], warps = [1, 8]

// CHECK-LABEL: module @{{.*}}_sg64
// CHECK: func.func {{.*}}@shallow_attention_0
// CHECK: block = [64, 64], warps = [4, 1]
// CHECK: func.func {{.*}}@deep_attention_0
// CHECK: block = [64, 16], warps = [4, 1]
// CHECK: func.func {{.*}}@long_reduce_0
// CHECK: block = [1, 4096], warps = [1, 4]

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
func.func @shallow(%q: tensor<64x512x64xf16>, %out: tensor<64x512x64xf16>) -> tensor<64x512x64xf16> {
  %r = tilewright.attention ins(%q, %q, %q : tensor<64x512x64xf16>, tensor<64x512x64xf16>, tensor<64x512x64xf16>)
      outs(%out : tensor<64x512x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<64x512x64xf16>
  return %r : tensor<64x512x64xf16>
}
func.func @deep(%q: tensor<64x512x128xf16>, %out: tensor<64x512x128xf16>) -> tensor<64x512x128xf16> {
  %r = tilewright.attention ins(%q, %q, %q : tensor<64x512x128xf16>, tensor<64x512x128xf16>, tensor<64x512x128xf16>)
      outs(%out : tensor<64x512x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<64x512x128xf16>
  return %r : tensor<64x512x128xf16>
}
func.func @long(%x: tensor<1024x131072xf32>) -> tensor<1024x131072xf32> {
  %e = tensor.empty() : tensor<1024x131072xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<1024x131072xf32>) outs(%e : tensor<1024x131072xf32>) -> tensor<1024x131072xf32>
  return %r : tensor<1024x131072xf32>
}
