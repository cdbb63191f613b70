// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of halves: heads (of all images of a batch) x tokens x depth, 16384 tokens or more in all and 2048 columns of
// heads, with and without a causal mask; the last 4096 keys; 8 heads of keys for 32 of queries; one query a head, or four, for 32768 keys,
// which may lie in pages of 16; 8 sequences of up to 4096 keys, as they lie and in pages of 16; numbers of keys that no block of keys
// divides, as many as queries or 77 of a text.

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
#gq = affine_map<(h, g, i, j, d, e) -> (h, g, i, d)>
#gk = affine_map<(h, g, i, j, d, e) -> (h, j, d)>
#gv = affine_map<(h, g, i, j, d, e) -> (h, j, e)>
#go = affine_map<(h, g, i, j, d, e) -> (h, g, i, e)>
#pq = affine_map<(b, h, g, i, j, d, e) -> (b, h, g, i, d)>
#pk = affine_map<(b, h, g, i, j, d, e) -> (j floordiv 16, j mod 16, h, d)>
#pv = affine_map<(b, h, g, i, j, d, e) -> (j floordiv 16, j mod 16, h, e)>
#pt = affine_map<(b, h, g, i, j, d, e) -> (b, j floordiv 16)>
#po = affine_map<(b, h, g, i, j, d, e) -> (b, h, g, i, e)>
#lq = affine_map<(b, h, i, j, d, e) -> (b, h, i, d)>
#lk = affine_map<(b, h, i, j, d, e) -> (b, h, j, d)>
#lv = affine_map<(b, h, i, j, d, e) -> (b, h, j, e)>
#lpk = affine_map<(b, h, i, j, d, e) -> (j floordiv 16, j mod 16, h, d)>
#lpv = affine_map<(b, h, i, j, d, e) -> (j floordiv 16, j mod 16, h, e)>
#lpt = affine_map<(b, h, i, j, d, e) -> (b, j floordiv 16)>
#ln = affine_map<(b, h, i, j, d, e) -> (b)>
#lo = affine_map<(b, h, i, j, d, e) -> (b, h, i, e)>

func.func @f16_d64_512(%q: tensor<1024x512x64xf16>, %k: tensor<1024x512x64xf16>, %v: tensor<1024x512x64xf16>) -> tensor<1024x512x64xf16> {
  %e = tensor.empty() : tensor<1024x512x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<1024x512x64xf16>, tensor<1024x512x64xf16>, tensor<1024x512x64xf16>)
      outs(%e : tensor<1024x512x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<1024x512x64xf16>
  return %r : tensor<1024x512x64xf16>
}
func.func @f16_d64_512_causal(%q: tensor<1024x512x64xf16>, %k: tensor<1024x512x64xf16>, %v: tensor<1024x512x64xf16>) -> tensor<1024x512x64xf16> {
  %e = tensor.empty() : tensor<1024x512x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<1024x512x64xf16>, tensor<1024x512x64xf16>, tensor<1024x512x64xf16>)
      outs(%e : tensor<1024x512x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<1024x512x64xf16>
  return %r : tensor<1024x512x64xf16>
}
func.func @f16_d64_4096(%q: tensor<128x4096x64xf16>, %k: tensor<128x4096x64xf16>, %v: tensor<128x4096x64xf16>) -> tensor<128x4096x64xf16> {
  %e = tensor.empty() : tensor<128x4096x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<128x4096x64xf16>, tensor<128x4096x64xf16>, tensor<128x4096x64xf16>)
      outs(%e : tensor<128x4096x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<128x4096x64xf16>
  return %r : tensor<128x4096x64xf16>
}
func.func @f16_d64_4096_causal(%q: tensor<128x4096x64xf16>, %k: tensor<128x4096x64xf16>, %v: tensor<128x4096x64xf16>) -> tensor<128x4096x64xf16> {
  %e = tensor.empty() : tensor<128x4096x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<128x4096x64xf16>, tensor<128x4096x64xf16>, tensor<128x4096x64xf16>)
      outs(%e : tensor<128x4096x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<128x4096x64xf16>
  return %r : tensor<128x4096x64xf16>
}
func.func @f16_d64_32768(%q: tensor<32x32768x64xf16>, %k: tensor<32x32768x64xf16>, %v: tensor<32x32768x64xf16>) -> tensor<32x32768x64xf16> {
  %e = tensor.empty() : tensor<32x32768x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<32x32768x64xf16>, tensor<32x32768x64xf16>, tensor<32x32768x64xf16>)
      outs(%e : tensor<32x32768x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<32x32768x64xf16>
  return %r : tensor<32x32768x64xf16>
}
func.func @f16_d64_32768_causal(%q: tensor<32x32768x64xf16>, %k: tensor<32x32768x64xf16>, %v: tensor<32x32768x64xf16>) -> tensor<32x32768x64xf16> {
  %e = tensor.empty() : tensor<32x32768x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<32x32768x64xf16>, tensor<32x32768x64xf16>, tensor<32x32768x64xf16>)
      outs(%e : tensor<32x32768x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<32x32768x64xf16>
  return %r : tensor<32x32768x64xf16>
}
func.func @f16_d128_512(%q: tensor<512x512x128xf16>, %k: tensor<512x512x128xf16>, %v: tensor<512x512x128xf16>) -> tensor<512x512x128xf16> {
  %e = tensor.empty() : tensor<512x512x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<512x512x128xf16>, tensor<512x512x128xf16>, tensor<512x512x128xf16>)
      outs(%e : tensor<512x512x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<512x512x128xf16>
  return %r : tensor<512x512x128xf16>
}
func.func @f16_d128_512_causal(%q: tensor<512x512x128xf16>, %k: tensor<512x512x128xf16>, %v: tensor<512x512x128xf16>) -> tensor<512x512x128xf16> {
  %e = tensor.empty() : tensor<512x512x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<512x512x128xf16>, tensor<512x512x128xf16>, tensor<512x512x128xf16>)
      outs(%e : tensor<512x512x128xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<512x512x128xf16>
  return %r : tensor<512x512x128xf16>
}
func.func @f16_d128_4096(%q: tensor<64x4096x128xf16>, %k: tensor<64x4096x128xf16>, %v: tensor<64x4096x128xf16>) -> tensor<64x4096x128xf16> {
  %e = tensor.empty() : tensor<64x4096x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<64x4096x128xf16>, tensor<64x4096x128xf16>, tensor<64x4096x128xf16>)
      outs(%e : tensor<64x4096x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<64x4096x128xf16>
  return %r : tensor<64x4096x128xf16>
}
func.func @f16_d128_4096_causal(%q: tensor<64x4096x128xf16>, %k: tensor<64x4096x128xf16>, %v: tensor<64x4096x128xf16>) -> tensor<64x4096x128xf16> {
  %e = tensor.empty() : tensor<64x4096x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<64x4096x128xf16>, tensor<64x4096x128xf16>, tensor<64x4096x128xf16>)
      outs(%e : tensor<64x4096x128xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<64x4096x128xf16>
  return %r : tensor<64x4096x128xf16>
}
func.func @f16_d128_32768(%q: tensor<16x32768x128xf16>, %k: tensor<16x32768x128xf16>, %v: tensor<16x32768x128xf16>) -> tensor<16x32768x128xf16> {
  %e = tensor.empty() : tensor<16x32768x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<16x32768x128xf16>, tensor<16x32768x128xf16>, tensor<16x32768x128xf16>)
      outs(%e : tensor<16x32768x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<16x32768x128xf16>
  return %r : tensor<16x32768x128xf16>
}
func.func @f16_d128_32768_causal(%q: tensor<16x32768x128xf16>, %k: tensor<16x32768x128xf16>, %v: tensor<16x32768x128xf16>) -> tensor<16x32768x128xf16> {
  %e = tensor.empty() : tensor<16x32768x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<16x32768x128xf16>, tensor<16x32768x128xf16>, tensor<16x32768x128xf16>)
      outs(%e : tensor<16x32768x128xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<16x32768x128xf16>
  return %r : tensor<16x32768x128xf16>
}
func.func @f16_d128_32768_causal_window_4096(%q: tensor<16x32768x128xf16>, %k: tensor<16x32768x128xf16>, %v: tensor<16x32768x128xf16>) -> tensor<16x32768x128xf16> {
  %e = tensor.empty() : tensor<16x32768x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<16x32768x128xf16>, tensor<16x32768x128xf16>, tensor<16x32768x128xf16>)
      outs(%e : tensor<16x32768x128xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left", window = array<i64: 4095, -1>} -> tensor<16x32768x128xf16>
  return %r : tensor<16x32768x128xf16>
}
func.func @f16_d128_4000(%q: tensor<64x4000x128xf16>, %k: tensor<64x4000x128xf16>, %v: tensor<64x4000x128xf16>) -> tensor<64x4000x128xf16> {
  %e = tensor.empty() : tensor<64x4000x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<64x4000x128xf16>, tensor<64x4000x128xf16>, tensor<64x4000x128xf16>)
      outs(%e : tensor<64x4000x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<64x4000x128xf16>
  return %r : tensor<64x4000x128xf16>
}
func.func @f16_d64_4096_keys_77(%q: tensor<128x4096x64xf16>, %k: tensor<128x77x64xf16>, %v: tensor<128x77x64xf16>) -> tensor<128x4096x64xf16> {
  %e = tensor.empty() : tensor<128x4096x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<128x4096x64xf16>, tensor<128x77x64xf16>, tensor<128x77x64xf16>)
      outs(%e : tensor<128x4096x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<128x4096x64xf16>
  return %r : tensor<128x4096x64xf16>
}
func.func @f16_d256_512(%q: tensor<256x512x256xf16>, %k: tensor<256x512x256xf16>, %v: tensor<256x512x256xf16>) -> tensor<256x512x256xf16> {
  %e = tensor.empty() : tensor<256x512x256xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<256x512x256xf16>, tensor<256x512x256xf16>, tensor<256x512x256xf16>)
      outs(%e : tensor<256x512x256xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<256x512x256xf16>
  return %r : tensor<256x512x256xf16>
}
func.func @f16_d256_512_causal(%q: tensor<256x512x256xf16>, %k: tensor<256x512x256xf16>, %v: tensor<256x512x256xf16>) -> tensor<256x512x256xf16> {
  %e = tensor.empty() : tensor<256x512x256xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<256x512x256xf16>, tensor<256x512x256xf16>, tensor<256x512x256xf16>)
      outs(%e : tensor<256x512x256xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<256x512x256xf16>
  return %r : tensor<256x512x256xf16>
}
func.func @f16_d256_4096(%q: tensor<32x4096x256xf16>, %k: tensor<32x4096x256xf16>, %v: tensor<32x4096x256xf16>) -> tensor<32x4096x256xf16> {
  %e = tensor.empty() : tensor<32x4096x256xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<32x4096x256xf16>, tensor<32x4096x256xf16>, tensor<32x4096x256xf16>)
      outs(%e : tensor<32x4096x256xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<32x4096x256xf16>
  return %r : tensor<32x4096x256xf16>
}
func.func @f16_d256_4096_causal(%q: tensor<32x4096x256xf16>, %k: tensor<32x4096x256xf16>, %v: tensor<32x4096x256xf16>) -> tensor<32x4096x256xf16> {
  %e = tensor.empty() : tensor<32x4096x256xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<32x4096x256xf16>, tensor<32x4096x256xf16>, tensor<32x4096x256xf16>)
      outs(%e : tensor<32x4096x256xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<32x4096x256xf16>
  return %r : tensor<32x4096x256xf16>
}
func.func @f16_d256_32768(%q: tensor<8x32768x256xf16>, %k: tensor<8x32768x256xf16>, %v: tensor<8x32768x256xf16>) -> tensor<8x32768x256xf16> {
  %e = tensor.empty() : tensor<8x32768x256xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x32768x256xf16>, tensor<8x32768x256xf16>, tensor<8x32768x256xf16>)
      outs(%e : tensor<8x32768x256xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<8x32768x256xf16>
  return %r : tensor<8x32768x256xf16>
}
func.func @f16_d256_32768_causal(%q: tensor<8x32768x256xf16>, %k: tensor<8x32768x256xf16>, %v: tensor<8x32768x256xf16>) -> tensor<8x32768x256xf16> {
  %e = tensor.empty() : tensor<8x32768x256xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x32768x256xf16>, tensor<8x32768x256xf16>, tensor<8x32768x256xf16>)
      outs(%e : tensor<8x32768x256xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<8x32768x256xf16>
  return %r : tensor<8x32768x256xf16>
}
func.func @bf16_d128_4096_causal(%q: tensor<64x4096x128xbf16>, %k: tensor<64x4096x128xbf16>, %v: tensor<64x4096x128xbf16>) -> tensor<64x4096x128xbf16> {
  %e = tensor.empty() : tensor<64x4096x128xbf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<64x4096x128xbf16>, tensor<64x4096x128xbf16>, tensor<64x4096x128xbf16>)
      outs(%e : tensor<64x4096x128xbf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<64x4096x128xbf16>
  return %r : tensor<64x4096x128xbf16>
}
func.func @f16_d128_4096_grouped_causal(%q: tensor<8x4x4096x128xf16>, %k: tensor<8x4096x128xf16>, %v: tensor<8x4096x128xf16>) -> tensor<8x4x4096x128xf16> {
  %e = tensor.empty() : tensor<8x4x4096x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x4x4096x128xf16>, tensor<8x4096x128xf16>, tensor<8x4096x128xf16>)
      outs(%e : tensor<8x4x4096x128xf16>) {indexing_maps = [#gq, #gk, #gv, #go], causal = "top_left"} -> tensor<8x4x4096x128xf16>
  return %r : tensor<8x4x4096x128xf16>
}
func.func @f16_d128_decode_32768(%q: tensor<32x1x128xf16>, %k: tensor<32x32768x128xf16>, %v: tensor<32x32768x128xf16>) -> tensor<32x1x128xf16> {
  %e = tensor.empty() : tensor<32x1x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<32x1x128xf16>, tensor<32x32768x128xf16>, tensor<32x32768x128xf16>)
      outs(%e : tensor<32x1x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<32x1x128xf16>
  return %r : tensor<32x1x128xf16>
}
func.func @f16_d128_decode_32768_grouped(%q: tensor<8x4x1x128xf16>, %k: tensor<8x32768x128xf16>, %v: tensor<8x32768x128xf16>) -> tensor<8x4x1x128xf16> {
  %e = tensor.empty() : tensor<8x4x1x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x4x1x128xf16>, tensor<8x32768x128xf16>, tensor<8x32768x128xf16>)
      outs(%e : tensor<8x4x1x128xf16>) {indexing_maps = [#gq, #gk, #gv, #go]} -> tensor<8x4x1x128xf16>
  return %r : tensor<8x4x1x128xf16>
}
func.func @f16_d128_decode_32768_grouped_queries(%q: tensor<8x4x4x128xf16>, %k: tensor<8x32768x128xf16>, %v: tensor<8x32768x128xf16>) -> tensor<8x4x4x128xf16> {
  %e = tensor.empty() : tensor<8x4x4x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x4x4x128xf16>, tensor<8x32768x128xf16>, tensor<8x32768x128xf16>)
      outs(%e : tensor<8x4x4x128xf16>) {indexing_maps = [#gq, #gk, #gv, #go]} -> tensor<8x4x4x128xf16>
  return %r : tensor<8x4x4x128xf16>
}
func.func @f16_d128_decode_32768_pages(%q: tensor<1x8x4x1x128xf16>, %k: tensor<2048x16x8x128xf16>, %v: tensor<2048x16x8x128xf16>, %t: tensor<1x2048xi32>) -> tensor<1x8x4x1x128xf16> {
  %e = tensor.empty() : tensor<1x8x4x1x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<1x8x4x1x128xf16>, tensor<2048x16x8x128xf16>, tensor<2048x16x8x128xf16>)
      table(%t : tensor<1x2048xi32>) outs(%e : tensor<1x8x4x1x128xf16>) {indexing_maps = [#pq, #pk, #pv, #pt, #po]} -> tensor<1x8x4x1x128xf16>
  return %r : tensor<1x8x4x1x128xf16>
}
func.func @f16_d128_4096_lengths(%q: tensor<8x8x4096x128xf16>, %k: tensor<8x8x4096x128xf16>, %v: tensor<8x8x4096x128xf16>, %n: tensor<8xi32>) -> tensor<8x8x4096x128xf16> {
  %e = tensor.empty() : tensor<8x8x4096x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x8x4096x128xf16>, tensor<8x8x4096x128xf16>, tensor<8x8x4096x128xf16>)
      lengths(%n : tensor<8xi32>) outs(%e : tensor<8x8x4096x128xf16>) {indexing_maps = [#lq, #lk, #lv, #ln, #lo]} -> tensor<8x8x4096x128xf16>
  return %r : tensor<8x8x4096x128xf16>
}
func.func @f16_d128_4096_lengths_causal(%q: tensor<8x8x4096x128xf16>, %k: tensor<8x8x4096x128xf16>, %v: tensor<8x8x4096x128xf16>, %n: tensor<8xi32>) -> tensor<8x8x4096x128xf16> {
  %e = tensor.empty() : tensor<8x8x4096x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x8x4096x128xf16>, tensor<8x8x4096x128xf16>, tensor<8x8x4096x128xf16>)
      lengths(%n : tensor<8xi32>) outs(%e : tensor<8x8x4096x128xf16>) {indexing_maps = [#lq, #lk, #lv, #ln, #lo], causal = "top_left"} -> tensor<8x8x4096x128xf16>
  return %r : tensor<8x8x4096x128xf16>
}
func.func @f16_d128_4096_lengths_pages(%q: tensor<8x8x4096x128xf16>, %k: tensor<2048x16x8x128xf16>, %v: tensor<2048x16x8x128xf16>, %t: tensor<8x256xi32>, %n: tensor<8xi32>) -> tensor<8x8x4096x128xf16> {
  %e = tensor.empty() : tensor<8x8x4096x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x8x4096x128xf16>, tensor<2048x16x8x128xf16>, tensor<2048x16x8x128xf16>)
      table(%t : tensor<8x256xi32>) lengths(%n : tensor<8xi32>) outs(%e : tensor<8x8x4096x128xf16>) {indexing_maps = [#lq, #lpk, #lpv, #lpt, #ln, #lo]} -> tensor<8x8x4096x128xf16>
  return %r : tensor<8x8x4096x128xf16>
}
