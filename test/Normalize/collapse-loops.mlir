// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-collapse-loops))' -split-input-file | FileCheck %s

#x = affine_map<(n, h, w, o, c) -> (n, h, w, c)>
#f = affine_map<(n, h, w, o, c) -> (c, o)>
#r = affine_map<(n, h, w, o, c) -> (n, h, w, o)>
#all = affine_map<(n, h, w, o) -> (n, h, w, o)>
#o = affine_map<(n, h, w, o) -> (o)>

// A convolution by 1 x 1 and what follows it: a product of n * h * w rows.
// CHECK-LABEL: func.func @OneRowLoop
// CHECK-SAME: %[[X:.+]]: tensor<?x7x7x64xf16>, %[[F:.+]]: tensor<64x96xf16>, %[[B:.+]]: tensor<96xf32>, %[[RES:.+]]: tensor<?x7x7x96xf32>
// CHECK-DAG: %[[X1:.+]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1, 2], [3]] : tensor<?x7x7x64xf16> into tensor<?x64xf16>
// CHECK-DAG: %[[ROWS:.+]] = arith.muli %{{.+}}, %c49
// CHECK: %[[E:.+]] = tensor.empty(%[[ROWS]]) : tensor<?x96xf32>
// CHECK: %[[Z:.+]] = linalg.fill ins(%{{.+}}) outs(%[[E]] : tensor<?x96xf32>)
// CHECK: %[[P:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X1]], %[[F]] : {{.*}}) outs(%[[Z]]
// CHECK: %[[RES1:.+]] = tensor.collapse_shape %[[RES]] {{\[}}[0, 1, 2], [3]]
// CHECK: %[[S:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%{{.+}}, %[[B]], %[[RES1]]
// CHECK: tensor.expand_shape {{.*}} {{\[}}[0, 1, 2], [3]]
// CHECK-NOT: tilewright.collapsed
func.func @OneRowLoop(%x: tensor<?x7x7x64xf16>, %f: tensor<64x96xf16>, %b: tensor<96xf32>, %res: tensor<?x7x7x96xf32>) -> tensor<?x7x7x96xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x7x7x64xf16>
  %e = tensor.empty(%n) : tensor<?x7x7x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x7x7x96xf32>) -> tensor<?x7x7x96xf32>
  %p = linalg.generic {indexing_maps = [#x, #f, #r], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %f : tensor<?x7x7x64xf16>, tensor<64x96xf16>) outs(%z : tensor<?x7x7x96xf32>) {
    ^bb0(%v: f16, %w: f16, %acc: f32):
      %v1 = arith.extf %v : f16 to f32
      %w1 = arith.extf %w : f16 to f32
      %m = arith.mulf %v1, %w1 : f32
      %a = arith.addf %acc, %m : f32
      linalg.yield %a : f32
  } -> tensor<?x7x7x96xf32>
  %r = linalg.generic {indexing_maps = [#all, #o, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%p, %b, %res : tensor<?x7x7x96xf32>, tensor<96xf32>, tensor<?x7x7x96xf32>) outs(%e : tensor<?x7x7x96xf32>) {
    ^bb0(%v: f32, %w: f32, %u: f32, %out: f32):
      %s = arith.addf %v, %w : f32
      %t = arith.addf %s, %u : f32
      linalg.yield %t : f32
  } -> tensor<?x7x7x96xf32>
  return %r : tensor<?x7x7x96xf32>
}

// -----

#a = affine_map<(b, s, n, k) -> (b, s, k)>
#w = affine_map<(b, s, n, k) -> (k, n)>
#c = affine_map<(b, s, n, k) -> (b, s, n)>
#t = affine_map<(b, s, n) -> (s, b, n)>
#i = affine_map<(b, s, n) -> (b, s, n)>

// A reader that has the rows in another order: nothing is collapsed, since the
// two would no longer be one kernel.
// CHECK-LABEL: func.func @ReaderTurns
// CHECK-NOT: collapse_shape
func.func @ReaderTurns(%x: tensor<4x8x64xf32>, %f: tensor<64x96xf32>, %o: tensor<4x8x96xf32>, %u: tensor<8x4x96xf32>) -> tensor<4x8x96xf32> {
  %p = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %f : tensor<4x8x64xf32>, tensor<64x96xf32>) outs(%o : tensor<4x8x96xf32>) {
    ^bb0(%v: f32, %y: f32, %acc: f32):
      %m = arith.mulf %v, %y : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<4x8x96xf32>
  %r = linalg.generic {indexing_maps = [#i, #t, #i], iterator_types = ["parallel", "parallel", "parallel"]}
       ins(%p, %u : tensor<4x8x96xf32>, tensor<8x4x96xf32>) outs(%o : tensor<4x8x96xf32>) {
    ^bb0(%v: f32, %y: f32, %out: f32):
      %s = arith.addf %v, %y : f32
      linalg.yield %s : f32
  } -> tensor<4x8x96xf32>
  return %r : tensor<4x8x96xf32>
}

// -----

#a = affine_map<(b, s, n, k) -> (b, s, k)>
#w = affine_map<(b, s, n, k) -> (k, n)>
#c = affine_map<(b, s, n, k) -> (b, s, n)>

// A window is no dense tensor, and a pinned config speaks of all loops.
// CHECK-LABEL: func.func @WindowAndPinned
// CHECK-NOT: collapse_shape
func.func @WindowAndPinned(%d: tensor<9x9x64xf32>, %x: tensor<4x8x64xf32>, %f: tensor<64x96xf32>, %o: tensor<4x8x96xf32>) -> (tensor<4x8x96xf32>, tensor<4x8x96xf32>) {
  %win = tensor.extract_slice %d[1, 1, 0] [4, 8, 64] [1, 1, 1] : tensor<9x9x64xf32> to tensor<4x8x64xf32>
  %p = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%win, %f : tensor<4x8x64xf32>, tensor<64x96xf32>) outs(%o : tensor<4x8x96xf32>) {
    ^bb0(%v: f32, %y: f32, %acc: f32):
      %m = arith.mulf %v, %y : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<4x8x96xf32>
  %q = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %f : tensor<4x8x64xf32>, tensor<64x96xf32>) outs(%o : tensor<4x8x96xf32>)
       attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [1, 8, 32, 16], warps = [1, 1, 1, 1], thread = [1, 2, 4, 1], promote = [0, 1]>} {
    ^bb0(%v: f32, %y: f32, %acc: f32):
      %m = arith.mulf %v, %y : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<4x8x96xf32>
  return %p, %q : tensor<4x8x96xf32>, tensor<4x8x96xf32>
}

// -----

// A sum of squares of differences is no contraction, though it multiplies, has two inputs and adds: what else reads the
// tensor keeps its dims, and shares a kernel with it.
// CHECK-LABEL: func.func @SumOfSquares
// CHECK-NOT: collapse_shape
func.func @SumOfSquares(%x: tensor<4x8x64xf32>, %mean: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, p) -> (n, c, p)>, affine_map<(n, c, p) -> (n)>, affine_map<(n, c, p) -> (n)>],
                       iterator_types = ["parallel", "reduction", "reduction"]}
       ins(%x, %mean : tensor<4x8x64xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb0(%v: f32, %m: f32, %acc: f32):
      %d = arith.subf %v, %m : f32
      %q = arith.mulf %d, %d : f32
      %s = arith.addf %acc, %q : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// What a contraction computes is dense in memory, elementwise ops behind it included, and a
// padded reader sees it under its own dims: both products have rows of 8 x 9 elements.
// CHECK-LABEL: func.func @Chain
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<32x72xf32>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<32x72xf32>) outs({{.*}} : tensor<32x72xf32>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<32x72xf32>, tensor<64x32xf32>) outs({{.*}} : tensor<64x72xf32>)
// CHECK: tensor.pad
#in = affine_map<(f, y, x, c) -> (c, y, x)>
#wt = affine_map<(f, y, x, c) -> (f, c)>
#out = affine_map<(f, y, x, c) -> (f, y, x)>
#id = affine_map<(f, y, x) -> (f, y, x)>
func.func @Chain(%x: tensor<16x8x9xf32>, %f: tensor<32x16xf32>, %g: tensor<64x32xf32>, %o: tensor<32x8x9xf32>, %p: tensor<64x8x9xf32>) -> tensor<64x10x11xf32> {
  %zero = arith.constant 0.0 : f32
  %a = linalg.generic {indexing_maps = [#in, #wt, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %f : tensor<16x8x9xf32>, tensor<32x16xf32>) outs(%o : tensor<32x8x9xf32>) {
    ^bb0(%v: f32, %w: f32, %acc: f32):
      %m = arith.mulf %v, %w : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<32x8x9xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
       ins(%a : tensor<32x8x9xf32>) outs(%o : tensor<32x8x9xf32>) {
    ^bb0(%v: f32, %old: f32):
      %m = arith.maximumf %v, %zero : f32
      linalg.yield %m : f32
  } -> tensor<32x8x9xf32>
  %b = linalg.generic {indexing_maps = [#in, #wt, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%r, %g : tensor<32x8x9xf32>, tensor<64x32xf32>) outs(%p : tensor<64x8x9xf32>) {
    ^bb0(%v: f32, %w: f32, %acc: f32):
      %m = arith.mulf %v, %w : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<64x8x9xf32>
  %padded = tensor.pad %b low[0, 1, 1] high[0, 1, 1] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %zero : f32
  } : tensor<64x8x9xf32> to tensor<64x10x11xf32>
  return %padded : tensor<64x10x11xf32>
}

// What is pooled from windows is dense, and a reader of windows sees the result under its own
// dims: rows of 4 x 5 elements.
// CHECK-LABEL: func.func @BehindPooling
// CHECK: tensor.collapse_shape {{.*}} : tensor<16x4x5xf32> into tensor<16x20xf32>
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<32x20xf32>)
// CHECK: tensor.expand_shape
// CHECK: tilewright.im2col
func.func @BehindPooling(%x: tensor<16x8x10xf32>, %f: tensor<32x16xf32>, %s: tensor<16x4x5xf32>, %p: tensor<32x4x5xf32>) -> tensor<32x2x3xf32> {
  %k = tensor.empty() : tensor<2x2xf32>
  %w = tilewright.im2col %x[] {map = affine_map<(c, y, i, x, j) -> (c, y * 2 + i, x * 2 + j)>} : tensor<16x8x10xf32> to tensor<16x4x2x5x2xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(c, y, x, i, j) -> (c, y, i, x, j)>, affine_map<(c, y, x, i, j) -> (i, j)>, affine_map<(c, y, x, i, j) -> (c, y, x)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
       ins(%w, %k : tensor<16x4x2x5x2xf32>, tensor<2x2xf32>) outs(%s : tensor<16x4x5xf32>) {
    ^bb0(%v: f32, %unused: f32, %acc: f32):
      %m = arith.maximumf %v, %acc : f32
      linalg.yield %m : f32
  } -> tensor<16x4x5xf32>
  %b = linalg.generic {indexing_maps = [#in, #wt, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%a, %f : tensor<16x4x5xf32>, tensor<32x16xf32>) outs(%p : tensor<32x4x5xf32>) {
    ^bb0(%v: f32, %u: f32, %acc: f32):
      %m = arith.mulf %v, %u : f32
      %t = arith.addf %acc, %m : f32
      linalg.yield %t : f32
  } -> tensor<32x4x5xf32>
  %strided = tilewright.im2col %b[] {map = affine_map<(c, y, x) -> (c, y * 2, x * 2)>} : tensor<32x4x5xf32> to tensor<32x2x3xf32>
  %e = tensor.empty() : tensor<32x2x3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
       ins(%strided : tensor<32x2x3xf32>) outs(%e : tensor<32x2x3xf32>) {
    ^bb0(%v: f32, %old: f32):
      %n = arith.negf %v : f32
      linalg.yield %n : f32
  } -> tensor<32x2x3xf32>
  return %r : tensor<32x2x3xf32>
}

// -----

// Of a batch of unknown size: whoever asks for the size of a result does not read it, so that the sum stays with its
// product's only reader.
// CHECK-LABEL: func.func @Batch
// CHECK: %[[P:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<?x32xf32>)
// CHECK: %[[W:.*]] = tensor.expand_shape %[[P]]
// CHECK-NOT: tensor.dim %[[W]]
// CHECK: tensor.collapse_shape %[[W]]
// CHECK-NOT: tensor.dim %[[W]]
// CHECK: return
#left = affine_map<(b, m, n, k) -> (b, m, k)>
#right = affine_map<(b, m, n, k) -> (k, n)>
#result = affine_map<(b, m, n, k) -> (b, m, n)>
#whole = affine_map<(b, m, n) -> (b, m, n)>
#last = affine_map<(b, m, n) -> (n)>
func.func @Batch(%x: tensor<?x8x16xf32>, %w: tensor<16x32xf32>, %bias: tensor<32xf32>) -> tensor<?x8x32xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8x16xf32>
  %e = tensor.empty(%n) : tensor<?x8x32xf32>
  %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %w : tensor<?x8x16xf32>, tensor<16x32xf32>) outs(%e : tensor<?x8x32xf32>) {
    ^bb0(%v: f32, %u: f32, %acc: f32):
      %m = arith.mulf %v, %u : f32
      %t = arith.addf %acc, %m : f32
      linalg.yield %t : f32
  } -> tensor<?x8x32xf32>
  %r = linalg.generic {indexing_maps = [#whole, #last, #whole], iterator_types = ["parallel", "parallel", "parallel"]}
       ins(%p, %bias : tensor<?x8x32xf32>, tensor<32xf32>) outs(%e : tensor<?x8x32xf32>) {
    ^bb0(%v: f32, %u: f32, %old: f32):
      %t = arith.addf %v, %u : f32
      linalg.yield %t : f32
  } -> tensor<?x8x32xf32>
  return %r : tensor<?x8x32xf32>
}

// -----

// Sums of products of rows are reductions, whose loops stay: what reads them reads a product, too, whose loops cannot be one.
// CHECK-LABEL: func.func @SumsOfRows
// CHECK-NOT: tensor.collapse_shape
// CHECK: return
func.func @SumsOfRows(%a: tensor<16x64x128xf32>, %b: tensor<16x64x128xf32>, %c: tensor<16x32x128xf32>) -> tensor<16x64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x64xf32>) -> tensor<16x64xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(h, i, k) -> (h, i, k)>, affine_map<(h, i, k) -> (h, i, k)>, affine_map<(h, i, k) -> (h, i)>],
                          iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%a, %b : tensor<16x64x128xf32>, tensor<16x64x128xf32>) outs(%z : tensor<16x64xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<16x64xf32>
  %e1 = tensor.empty() : tensor<16x64x32xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16x64x32xf32>) -> tensor<16x64x32xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(h, i, j, k) -> (h, i, k)>, affine_map<(h, i, j, k) -> (h, j, k)>, affine_map<(h, i, j, k) -> (h, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%a, %c : tensor<16x64x128xf32>, tensor<16x32x128xf32>) outs(%z1 : tensor<16x64x32xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<16x64x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>, affine_map<(h, i, j) -> (h, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
       ins(%p, %rows : tensor<16x64x32xf32>, tensor<16x64xf32>) outs(%e1 : tensor<16x64x32xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %d = arith.subf %x, %y : f32
      linalg.yield %d : f32
  } -> tensor<16x64x32xf32>
  return %r : tensor<16x64x32xf32>
}
