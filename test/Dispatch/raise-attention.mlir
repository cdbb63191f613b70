// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

// Spellings of attention: each @f is one op; what is none says why.

#ij = affine_map<(h, i, j) -> (h, i, j)>
#i = affine_map<(h, i, j) -> (h, i)>
#pij = affine_map<(h, i, j) -> (i, j)>
#sq = affine_map<(h, i, j, d) -> (h, i, d)>
#sk = affine_map<(h, i, j, d) -> (h, j, d)>
#ss = affine_map<(h, i, j, d) -> (h, i, j)>
#ow = affine_map<(h, i, e, j) -> (h, i, j)>
#ov = affine_map<(h, i, e, j) -> (h, j, e)>
#oo = affine_map<(h, i, e, j) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func @scaled(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention {{.*}}scale = 2.500000e-01 : f64
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @scaled(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw : tensor<2x32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %out: f32):
      %f = arith.constant 0.25 : f32
      %r = arith.mulf %s, %f : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @divided(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention {{.*}}scale = 2.500000e-01 : f64
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @divided(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw : tensor<2x32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %out: f32):
      %f = arith.constant 4.0 : f32
      %r = arith.divf %s, %f : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @fused_exponential(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention {{.*}}scale = 2.500000e-01 : f64
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @fused_exponential(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw : tensor<2x32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %out: f32):
      %f = arith.constant 0.25 : f32
      %r = arith.mulf %s, %f : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%s: f32, %y: f32, %acc: f32):
      %0 = arith.subf %s, %y : f32
      %1 = math.exp %0 : f32
      %2 = arith.addf %acc, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m, %l : tensor<2x32x48xf32>, tensor<2x32xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%s: f32, %n: f32, %y: f32, %o: f16):
      %d = arith.subf %s, %n : f32
      %x = math.exp %d : f32
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @reciprocal(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention {{.*}}scale = 2.500000e-01 : f64
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @reciprocal(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw : tensor<2x32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %out: f32):
      %f = arith.constant 0.25 : f32
      %r = arith.mulf %s, %f : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %one = arith.constant 1.0 : f32
      %r = arith.divf %one, %y : f32
      %w0 = arith.mulf %x, %r : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @causal_select(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention {{.*}}causal = "top_left"
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @causal_select(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw : tensor<2x32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %out: f32):
      %f = arith.constant 0.25 : f32
      %never = arith.constant -1.0e30 : f32
      %sc = arith.mulf %f, %s : f32
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %c = arith.cmpi ule, %j, %i : index
      %r = arith.select %c, %sc, %never : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @causal_inverted(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention {{.*}}causal = "top_left"
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @causal_inverted(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw : tensor<2x32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %out: f32):
      %f = arith.constant 0.25 : f32
      %never = arith.constant -1.0e30 : f32
      %sc = arith.mulf %f, %s : f32
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %c = arith.cmpi slt, %i, %j : index
      %r = arith.select %c, %never, %sc : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @causal_added(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention {{.*}}causal = "top_left"
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @causal_added(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw : tensor<2x32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %out: f32):
      %f = arith.constant 0.25 : f32
      %never = arith.constant -1.0e30 : f32
      %sc = arith.mulf %f, %s : f32
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %n = arith.constant 0.0 : f32
      %c = arith.cmpi sge, %i, %j : index
      %b = arith.select %c, %n, %never : f32
      %r = arith.addf %sc, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @mask_added(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention {{.*}}mask(%{{.*}} : tensor<32x48xf32>)
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @mask_added(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>, %mask: tensor<32x48xf32>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #pij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw, %mask : tensor<2x32x48xf32>, tensor<32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %b: f32, %out: f32):
      %f = arith.constant 0.25 : f32
      %sc = arith.mulf %s, %f : f32
      %r = arith.addf %sc, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @mask_narrow(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention {{.*}}mask(%{{.*}} : tensor<32x48xf16>)
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @mask_narrow(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>, %mask: tensor<32x48xf16>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #pij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw, %mask : tensor<2x32x48xf32>, tensor<32x48xf16>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %b: f16, %out: f32):
      %f = arith.constant 0.25 : f32
      %sc = arith.mulf %s, %f : f32
      %e = arith.extf %b : f16 to f32
      %r = arith.addf %e, %sc : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @mask_boolean(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention {{.*}}mask(%{{.*}} : tensor<32x48xi1>)
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @mask_boolean(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>, %mask: tensor<32x48xi1>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #pij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw, %mask : tensor<2x32x48xf32>, tensor<32x48xi1>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %b: i1, %out: f32):
      %f = arith.constant 0.25 : f32
      %n = arith.constant 0xFF800000 : f32
      %sc = arith.mulf %s, %f : f32
      %r = arith.select %b, %sc, %n : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @softcap(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention {{.*}}scale = 2.500000e-01 : f64, softcap = 3.000000e+01 : f64
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @softcap(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw : tensor<2x32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %out: f32):
      %f = arith.constant 0.25 : f32
      %cap = arith.constant 30.0 : f32
      %a = arith.mulf %s, %f : f32
      %b = arith.divf %a, %cap : f32
      %c = math.tanh %b : f32
      %r = arith.mulf %c, %cap : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // The first query sees no key: the number that is finite makes its result the average of all values.
  // CHECK-LABEL: func.func @not_causal(
  // CHECK: %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
  // CHECK: %[[MASK:.*]] = linalg.generic
  // CHECK: arith.cmpi ult
  // CHECK: arith.select %{{.*}}, %{{.*}}, %[[LOWEST]] : f32
  // CHECK: tilewright.attention {{.*}} mask(%[[MASK]] : tensor<32x48xf32>)
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @not_causal(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw : tensor<2x32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %out: f32):
      %f = arith.constant 0.25 : f32
      %never = arith.constant -1.0e30 : f32
      %sc = arith.mulf %f, %s : f32
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %c = arith.cmpi ult, %j, %i : index
      %r = arith.select %c, %sc, %never : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @finite_mask(
  // CHECK: %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
  // CHECK: %[[MASK:.*]] = linalg.generic
  // CHECK: arith.select %{{.*}}, %{{.*}}, %[[LOWEST]] : f32
  // CHECK: tilewright.attention {{.*}} mask(%[[MASK]] : tensor<32x48xf32>)
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @finite_mask(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>, %mask: tensor<32x48xi1>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #pij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw, %mask : tensor<2x32x48xf32>, tensor<32x48xi1>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %b: i1, %out: f32):
      %n = arith.constant -1.0e30 : f32
      %r = arith.select %b, %s, %n : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
  // CHECK-LABEL: func.func @mask_scaled(
  // CHECK-NOT: tilewright.attention
  // CHECK: tilewright.decomposed = "the scores are no contraction, or computed in a way that is not known"
  func.func @mask_scaled(%q: tensor<2x32x16xf16>, %k: tensor<2x48x16xf16>, %v: tensor<2x48x16xf16>, %mask: tensor<32x48xf32>) -> tensor<2x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #pij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw, %mask : tensor<2x32x48xf32>, tensor<32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %b: f32, %out: f32):
      %f = arith.constant 0.25 : f32
      %a = arith.addf %s, %b : f32
      %r = arith.mulf %a, %f : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
}
