// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

// Also where warpgroups serve, of many queries, what ends at a length of the batch is the op's length.

#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#w = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#h = affine_map<(h, i, j) -> (h)>
#ij = affine_map<(h, i, j) -> (h, i, j)>
#i = affine_map<(h, i, j) -> (h, i)>
#ppp = ["parallel", "parallel", "parallel"]
#ppr = ["parallel", "parallel", "reduction"]
#pppr = ["parallel", "parallel", "parallel", "reduction"]

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_90a", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64, warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
// CHECK-LABEL: func.func @many(
// CHECK: tilewright.attention {{.*}}) lengths(%{{.*}} : tensor<4xi64>)
func.func @many(%q: tensor<4x64x16xf16>, %k: tensor<4x40x16xf16>, %v: tensor<4x40x16xf16>, %n: tensor<4xi64>) -> tensor<4x64x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x64x40xf32>
  %er = tensor.empty() : tensor<4x64xf32>
  %ew = tensor.empty() : tensor<4x64x40xf16>
  %eo = tensor.empty() : tensor<4x64x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x64x40xf32>) -> tensor<4x64x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x64xf32>) -> tensor<4x64xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x64xf32>) -> tensor<4x64xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x64x16xf32>) -> tensor<4x64x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x64x16xf16>, tensor<4x40x16xf16>) outs(%zs : tensor<4x64x40xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32): %a = arith.extf %x : f16 to f32 %b = arith.extf %y : f16 to f32 %0 = arith.mulf %a, %b : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x64x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #h, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x64x40xf32>, tensor<4xi64>) outs(%es : tensor<4x64x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %c = arith.cmpi slt, %a, %n0 : i64 %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x64x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x64x40xf32>) outs(%lr : tensor<4x64xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x64xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x64x40xf32>, tensor<4x64xf32>) outs(%es : tensor<4x64x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x64x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x64x40xf32>) outs(%zr : tensor<4x64xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x64xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x64x40xf32>, tensor<4x64xf32>) outs(%ew : tensor<4x64x40xf16>) {
    ^bb0(%x: f32, %y: f32, %acc: f16): %0 = arith.divf %x, %y : f32 %1 = arith.truncf %0 : f32 to f16 linalg.yield %1 : f16 } -> tensor<4x64x40xf16>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x64x40xf16>, tensor<4x40x16xf16>) outs(%zo : tensor<4x64x16xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32): %a = arith.extf %x : f16 to f32 %b = arith.extf %y : f16 to f32 %0 = arith.mulf %a, %b : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x64x16xf32>
  return %r : tensor<4x64x16xf32>
}
}
