// RUN: tilewright-compile %s --target=vulkan+subgroup=32 --explain -o %t.tw 2>&1 | FileCheck %s
// REQUIRES: tilewright-compile

// In 32 KiB of shared memory, f32 of any depth that is served is one kernel.
// CHECK: @depth_192({{.*}}): 1 kernel{{$}}
// CHECK: @depth_256({{.*}}): 1 kernel{{$}}
// CHECK: queries and keys are multiplied in slices of {{[0-9]+}} of the depth
// CHECK: block = [32, 16]
// CHECK: queries and keys are multiplied in slices of {{[0-9]+}} of the depth
// CHECK: block = [32, 16]
#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
func.func @depth_192(%q: tensor<4x512x192xf32>, %k: tensor<4x512x192xf32>, %v: tensor<4x512x192xf32>) -> tensor<4x512x192xf32> {
  %e = tensor.empty() : tensor<4x512x192xf32>
  %r = tilewright.attention ins(%q, %k, %v : tensor<4x512x192xf32>, tensor<4x512x192xf32>, tensor<4x512x192xf32>)
      outs(%e : tensor<4x512x192xf32>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<4x512x192xf32>
  return %r : tensor<4x512x192xf32>
}
func.func @depth_256(%q: tensor<4x512x256xf32>, %k: tensor<4x512x256xf32>, %v: tensor<4x512x256xf32>) -> tensor<4x512x256xf32> {
  %e = tensor.empty() : tensor<4x512x256xf32>
  %r = tilewright.attention ins(%q, %k, %v : tensor<4x512x256xf32>, tensor<4x512x256xf32>, tensor<4x512x256xf32>)
      outs(%e : tensor<4x512x256xf32>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<4x512x256xf32>
  return %r : tensor<4x512x256xf32>
}
