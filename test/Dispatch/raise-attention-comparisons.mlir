// DEFINE: %{visible} =
// DEFINE: %{keys} = 48
// DEFINE: %{bias} = %zero
// DEFINE: %{raise} = sed -e 's/VISIBLE/%{visible}/' -e 's/BIAS/%{bias}/' -e 's/KEYS/%{keys}/g' %s | \
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

// The second result of an op, which no other body computes.
// REDEFINE: %{visible} = %ji = arith.index_cast %j : index to i32 %n = arith.constant 0 : i32 %l, %h = arith.mulsi_extended %ji, %ji : i32 %c = arith.cmpi sle, %h, %n : i32
// RUN: %{raise} | FileCheck %s --check-prefix=REFUSED

// Each op reads the one before it twice: paths through them double, but ops do not.
// REDEFINE: %{visible} = %c = arith.cmpf olt, %f26, %hidden : f32
// RUN: %{raise} | FileCheck %s --check-prefix=MASK
// REDEFINE: %{visible} = %c = arith.andi %b26, %b26 : i1
// RUN: %{raise} | FileCheck %s --check-prefix=CAUSAL
// REDEFINE: %{visible} = %c = arith.cmpi sle, %n26, %i : index
// RUN: %{raise} | FileCheck %s --check-prefix=MASK
// REDEFINE: %{visible} = %m0 = arith.addi %n26, %n26 : index %m1 = arith.addi %m0, %m0 : index %m2 = arith.addi %m1, %m1 : index %m3 = arith.addi %m2, %m2 : index %m4 = arith.addi %m3, %m3 : index %m5 = arith.addi %m4, %m4 : index %m6 = arith.addi %m5, %m5 : index %m7 = arith.addi %m6, %m6 : index %m8 = arith.addi %m7, %m7 : index %m9 = arith.addi %m8, %m8 : index %m10 = arith.addi %m9, %m9 : index %m11 = arith.addi %m10, %m10 : index %m12 = arith.addi %m11, %m11 : index %m13 = arith.addi %m12, %m12 : index %c = arith.cmpi ule, %m13, %i : index
// RUN: %{raise} | FileCheck %s --check-prefix=MASK
// REDEFINE: %{bias} = %f26
// REDEFINE: %{visible} = %c = arith.constant true
// RUN: %{raise} | FileCheck %s --check-prefix=BIAS

// MASK: %[[MASK:.*]] = linalg.generic
// MASK: arith.cmpi
// MASK: tilewright.attention {{.*}} mask(%[[MASK]] :
// BIAS: %[[BIAS:.*]] = linalg.generic
// BIAS: arith.addf
// BIAS: tilewright.attention {{.*}} mask(%[[BIAS]] :
// REFUSED: tilewright.decomposed = "what hides keys or is added to scores cannot be computed beside them"
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
    %b0 = arith.cmpi sle, %j, %i : index
    %f0 = arith.uitofp %b0 : i1 to f32
    %n0 = arith.addi %j, %i : index
    %b1 = arith.andi %b0, %b0 : i1 %f1 = arith.addf %f0, %f0 : f32 %n1 = arith.addi %n0, %n0 : index
    %b2 = arith.andi %b1, %b1 : i1 %f2 = arith.addf %f1, %f1 : f32 %n2 = arith.addi %n1, %n1 : index
    %b3 = arith.andi %b2, %b2 : i1 %f3 = arith.addf %f2, %f2 : f32 %n3 = arith.addi %n2, %n2 : index
    %b4 = arith.andi %b3, %b3 : i1 %f4 = arith.addf %f3, %f3 : f32 %n4 = arith.addi %n3, %n3 : index
    %b5 = arith.andi %b4, %b4 : i1 %f5 = arith.addf %f4, %f4 : f32 %n5 = arith.addi %n4, %n4 : index
    %b6 = arith.andi %b5, %b5 : i1 %f6 = arith.addf %f5, %f5 : f32 %n6 = arith.addi %n5, %n5 : index
    %b7 = arith.andi %b6, %b6 : i1 %f7 = arith.addf %f6, %f6 : f32 %n7 = arith.addi %n6, %n6 : index
    %b8 = arith.andi %b7, %b7 : i1 %f8 = arith.addf %f7, %f7 : f32 %n8 = arith.addi %n7, %n7 : index
    %b9 = arith.andi %b8, %b8 : i1 %f9 = arith.addf %f8, %f8 : f32 %n9 = arith.addi %n8, %n8 : index
    %b10 = arith.andi %b9, %b9 : i1 %f10 = arith.addf %f9, %f9 : f32 %n10 = arith.addi %n9, %n9 : index
    %b11 = arith.andi %b10, %b10 : i1 %f11 = arith.addf %f10, %f10 : f32 %n11 = arith.addi %n10, %n10 : index
    %b12 = arith.andi %b11, %b11 : i1 %f12 = arith.addf %f11, %f11 : f32 %n12 = arith.addi %n11, %n11 : index
    %b13 = arith.andi %b12, %b12 : i1 %f13 = arith.addf %f12, %f12 : f32 %n13 = arith.addi %n12, %n12 : index
    %b14 = arith.andi %b13, %b13 : i1 %f14 = arith.addf %f13, %f13 : f32 %n14 = arith.addi %n13, %n13 : index
    %b15 = arith.andi %b14, %b14 : i1 %f15 = arith.addf %f14, %f14 : f32 %n15 = arith.addi %n14, %n14 : index
    %b16 = arith.andi %b15, %b15 : i1 %f16 = arith.addf %f15, %f15 : f32 %n16 = arith.addi %n15, %n15 : index
    %b17 = arith.andi %b16, %b16 : i1 %f17 = arith.addf %f16, %f16 : f32 %n17 = arith.addi %n16, %n16 : index
    %b18 = arith.andi %b17, %b17 : i1 %f18 = arith.addf %f17, %f17 : f32 %n18 = arith.addi %n17, %n17 : index
    %b19 = arith.andi %b18, %b18 : i1 %f19 = arith.addf %f18, %f18 : f32 %n19 = arith.addi %n18, %n18 : index
    %b20 = arith.andi %b19, %b19 : i1 %f20 = arith.addf %f19, %f19 : f32 %n20 = arith.addi %n19, %n19 : index
    %b21 = arith.andi %b20, %b20 : i1 %f21 = arith.addf %f20, %f20 : f32 %n21 = arith.addi %n20, %n20 : index
    %b22 = arith.andi %b21, %b21 : i1 %f22 = arith.addf %f21, %f21 : f32 %n22 = arith.addi %n21, %n21 : index
    %b23 = arith.andi %b22, %b22 : i1 %f23 = arith.addf %f22, %f22 : f32 %n23 = arith.addi %n22, %n22 : index
    %b24 = arith.andi %b23, %b23 : i1 %f24 = arith.addf %f23, %f23 : f32 %n24 = arith.addi %n23, %n23 : index
    %b25 = arith.andi %b24, %b24 : i1 %f25 = arith.addf %f24, %f24 : f32 %n25 = arith.addi %n24, %n24 : index
    %b26 = arith.andi %b25, %b25 : i1 %f26 = arith.addf %f25, %f25 : f32 %n26 = arith.addi %n25, %n25 : index
    VISIBLE
    %added = arith.addf %x, BIAS : f32
    %z = arith.select %c, %added, %hidden : f32
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
