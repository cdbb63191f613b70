// RUN: tilewright-compile %s --target=cuda:sm_90a --stop-after=configure -o - | FileCheck %s

// Beside a result of 256 columns, elements of a mask take registers of the producer; beside a causal mask, those of 32 bits
// are too many for 64 keys, as they are beside a soft cap. Read one by one, they leave none for a loop over tiles.
// CHECK-LABEL: func.func private @Plain_attention_0
// CHECK: block = [128, 64], {{.*}} registers = [24, 240]
// CHECK-LABEL: func.func private @Causal_attention_0
// CHECK: block = [128, 32], {{.*}} registers = [40, 232]
// CHECK-LABEL: func.func private @Capped_attention_0
// CHECK: block = [128, 32], {{.*}} registers = [40, 232]
// CHECK-LABEL: func.func private @Any_attention_0_aligned
// CHECK: persistent = true
// CHECK-LABEL: func.func private @Any_attention_0(
// CHECK-NOT: persistent
// CHECK: return

// Elements of 32 bits beside a soft cap are too much for 128 keys of any depth; those of 16 are not.
// CHECK-LABEL: func.func private @CappedWords_attention_0
// CHECK: block = [128, 64],
// CHECK-LABEL: func.func private @CappedHalves_attention_0
// CHECK: block = [128, 128],
#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#m = affine_map<(h, i, j, d, e) -> (i, j)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
func.func @Plain(%q: tensor<8x1024x256xf16>, %k: tensor<8x1024x256xf16>, %v: tensor<8x1024x256xf16>, %m: tensor<1024x1024xf32>) -> tensor<8x1024x256xf16> {
  %e = tensor.empty() : tensor<8x1024x256xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x1024x256xf16>, tensor<8x1024x256xf16>, tensor<8x1024x256xf16>) mask(%m : tensor<1024x1024xf32>) outs(%e : tensor<8x1024x256xf16>) {
    indexing_maps = [#q, #k, #v, #m, #o]} -> tensor<8x1024x256xf16>
  return %r : tensor<8x1024x256xf16>
}
func.func @Causal(%q: tensor<8x1024x256xf16>, %k: tensor<8x1024x256xf16>, %v: tensor<8x1024x256xf16>, %m: tensor<1024x1024xf32>) -> tensor<8x1024x256xf16> {
  %e = tensor.empty() : tensor<8x1024x256xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x1024x256xf16>, tensor<8x1024x256xf16>, tensor<8x1024x256xf16>) mask(%m : tensor<1024x1024xf32>) outs(%e : tensor<8x1024x256xf16>) {
    causal = "top_left", indexing_maps = [#q, #k, #v, #m, #o]} -> tensor<8x1024x256xf16>
  return %r : tensor<8x1024x256xf16>
}
func.func @Capped(%q: tensor<8x1024x256xf16>, %k: tensor<8x1024x256xf16>, %v: tensor<8x1024x256xf16>, %m: tensor<1024x1024xf16>) -> tensor<8x1024x256xf16> {
  %e = tensor.empty() : tensor<8x1024x256xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x1024x256xf16>, tensor<8x1024x256xf16>, tensor<8x1024x256xf16>) mask(%m : tensor<1024x1024xf16>) outs(%e : tensor<8x1024x256xf16>) {
    softcap = 20.0, indexing_maps = [#q, #k, #v, #m, #o]} -> tensor<8x1024x256xf16>
  return %r : tensor<8x1024x256xf16>
}
func.func @Any(%q: tensor<8x?x256xf16>, %k: tensor<8x?x256xf16>, %v: tensor<8x?x256xf16>, %m: tensor<?x?xf16>) -> tensor<8x?x256xf16> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %q, %c1 : tensor<8x?x256xf16>
  %e = tensor.empty(%n) : tensor<8x?x256xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x?x256xf16>, tensor<8x?x256xf16>, tensor<8x?x256xf16>) mask(%m : tensor<?x?xf16>) outs(%e : tensor<8x?x256xf16>) {
    indexing_maps = [#q, #k, #v, #m, #o]} -> tensor<8x?x256xf16>
  return %r : tensor<8x?x256xf16>
}
func.func @CappedWords(%q: tensor<8x1024x64xf16>, %k: tensor<8x1024x64xf16>, %v: tensor<8x1024x64xf16>, %m: tensor<1024x1024xf32>) -> tensor<8x1024x64xf16> {
  %e = tensor.empty() : tensor<8x1024x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>) mask(%m : tensor<1024x1024xf32>) outs(%e : tensor<8x1024x64xf16>) {
    softcap = 20.0, indexing_maps = [#q, #k, #v, #m, #o]} -> tensor<8x1024x64xf16>
  return %r : tensor<8x1024x64xf16>
}
func.func @CappedHalves(%q: tensor<8x1024x64xf16>, %k: tensor<8x1024x64xf16>, %v: tensor<8x1024x64xf16>, %m: tensor<1024x1024xf16>) -> tensor<8x1024x64xf16> {
  %e = tensor.empty() : tensor<8x1024x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>) mask(%m : tensor<1024x1024xf16>) outs(%e : tensor<8x1024x64xf16>) {
    softcap = 20.0, indexing_maps = [#q, #k, #v, #m, #o]} -> tensor<8x1024x64xf16>
  return %r : tensor<8x1024x64xf16>
}
