// DEFINE: %{visible} =
// DEFINE: %{keys} = 48
// DEFINE: %{raise} = sed -e 's/VISIBLE/%{visible}/' -e 's/KEYS/%{keys}/g' %s | \
// DEFINE:   tilewright-opt -tilewright-raise-attention -canonicalize

// A mask of comparisons that hold in numbers that do not wrap around, and not in these.

// i - j <= i is true of all whole numbers, and of unsigned ones where j <= i.
// REDEFINE: %{visible} = %d = arith.subi %i, %j : index %c = arith.cmpi ule, %d, %i : index
// RUN: %{raise} | FileCheck %s --check-prefix=MASK
// REDEFINE: %{visible} = %m = arith.constant -1 : index %a = arith.addi %i, %m : index %b = arith.addi %j, %m : index %c = arith.cmpi uge, %a, %b : index
// RUN: %{raise} | FileCheck %s --check-prefix=MASK
// REDEFINE: %{visible} = %c = arith.cmpi ule, %j, %i : index
// RUN: %{raise} | FileCheck %s --check-prefix=CAUSAL
// REDEFINE: %{visible} = %d = arith.subi %j, %i : index %n = arith.constant 0 : index %c = arith.cmpi sle, %d, %n : index
// RUN: %{raise} | FileCheck %s --check-prefix=CAUSAL

// 8 bits hold 128 keys.
// REDEFINE: %{visible} = %i8 = arith.index_cast %i : index to i8 %j8 = arith.index_cast %j : index to i8 %c = arith.cmpi sle, %j8, %i8 : i8
// RUN: %{raise} | FileCheck %s --check-prefix=CAUSAL
// REDEFINE: %{keys} = 300
// RUN: %{raise} | FileCheck %s --check-prefix=MASK
// REDEFINE: %{visible} = %j8 = arith.index_cast %j : index to i8 %i8 = arith.index_cast %i : index to i8 %jw = arith.extsi %j8 : i8 to i32 %iw = arith.extsi %i8 : i8 to i32 %c = arith.cmpi sle, %jw, %iw : i32
// RUN: %{raise} | FileCheck %s --check-prefix=MASK
// A difference that is extended without its sign.
// REDEFINE: %{visible} = %iw = arith.index_cast %i : index to i32 %jw = arith.index_cast %j : index to i32 %d = arith.subi %iw, %jw : i32 %u = arith.extui %d : i32 to i64 %n = arith.constant 0 : i64 %c = arith.cmpi sge, %u, %n : i64
// RUN: %{raise} | FileCheck %s --check-prefix=MASK

// MASK: %[[MASK:.*]] = linalg.generic
// MASK: arith.cmpi
// MASK: tilewright.attention {{.*}} mask(%[[MASK]] :
// CAUSAL: tilewright.attention
// CAUSAL-NOT: mask(
// CAUSAL-SAME: causal = "top_left"

#ij = affine_map<(h, i, j) -> (h, i, j)>
#i = affine_map<(h, i, j) -> (h, i)>
#sq = affine_map<(h, i, j, d) -> (h, i, d)>
#sk = affine_map<(h, i, j, d) -> (h, j, d)>
#ss = affine_map<(h, i, j, d) -> (h, i, j)>
#ow = affine_map<(h, i, e, j) -> (h, i, j)>
#ov = affine_map<(h, i, e, j) -> (h, j, e)>
#oo = affine_map<(h, i, e, j) -> (h, i, e)>
#ppp = ["parallel", "parallel", "parallel"]
#ppr = ["parallel", "parallel", "reduction"]
#pppr = ["parallel", "parallel", "parallel", "reduction"]
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
func.func @attention(%q: tensor<2xKEYSx16xf32>, %k: tensor<2xKEYSx16xf32>, %v: tensor<2xKEYSx16xf32>) -> tensor<2xKEYSx16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %hidden = arith.constant -1.0e30 : f32
  %es = tensor.empty() : tensor<2xKEYSxKEYSxf32>
  %er = tensor.empty() : tensor<2xKEYSxf32>
  %eo = tensor.empty() : tensor<2xKEYSx16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2xKEYSxKEYSxf32>) -> tensor<2xKEYSxKEYSxf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<2xKEYSxf32>) -> tensor<2xKEYSxf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<2xKEYSxf32>) -> tensor<2xKEYSxf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2xKEYSx16xf32>) -> tensor<2xKEYSx16xf32>
  %s = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = #pppr} ins(%q, %k : tensor<2xKEYSx16xf32>, tensor<2xKEYSx16xf32>) outs(%zs : tensor<2xKEYSxKEYSxf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2xKEYSxKEYSxf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<2xKEYSxKEYSxf32>) outs(%es : tensor<2xKEYSxKEYSxf32>) {
  ^bb0(%x: f32, %acc: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    VISIBLE
    %z = arith.select %c, %x, %hidden : f32
    linalg.yield %z : f32
  } -> tensor<2xKEYSxKEYSxf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<2xKEYSxKEYSxf32>) outs(%lr : tensor<2xKEYSxf32>) {
  ^bb0(%x: f32, %acc: f32):
    %0 = arith.maximumf %x, %acc : f32
    linalg.yield %0 : f32
  } -> tensor<2xKEYSxf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<2xKEYSxKEYSxf32>, tensor<2xKEYSxf32>) outs(%es : tensor<2xKEYSxKEYSxf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2xKEYSxKEYSxf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<2xKEYSxKEYSxf32>) outs(%zr : tensor<2xKEYSxf32>) {
  ^bb0(%x: f32, %acc: f32):
    %0 = arith.addf %acc, %x : f32
    linalg.yield %0 : f32
  } -> tensor<2xKEYSxf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<2xKEYSxKEYSxf32>, tensor<2xKEYSxf32>) outs(%es : tensor<2xKEYSxKEYSxf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2xKEYSxKEYSxf32>
  %r = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = #pppr} ins(%w, %v : tensor<2xKEYSxKEYSxf32>, tensor<2xKEYSx16xf32>) outs(%zo : tensor<2xKEYSx16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2xKEYSx16xf32>
  return %r : tensor<2xKEYSx16xf32>
}
}
