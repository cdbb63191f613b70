// What is done to products while they are in cooperative-matrix fragments; scripts/test runs
// these on cooperative matrices against the oracle, test/Target/SPIRV/
// fragment-epilogues.mlir looks at the code.

#row = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>

// Nothing but a product of whole tiles.
func.func @plain(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}

// A scale, a comparison and a choice, then halves.
func.func @leaky(%a: tensor<64x48xf16>, %b: tensor<48x96xf16>) -> tensor<64x96xf16> {
  %zero = arith.constant 0.0 : f32
  %quarter = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x48xf16>, tensor<48x96xf16>) outs(%z : tensor<64x96xf32>) -> tensor<64x96xf32>
  %h = tensor.empty() : tensor<64x96xf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%p : tensor<64x96xf32>) outs(%h : tensor<64x96xf16>) {
    ^bb0(%v: f32, %out: f16):
      %small = arith.mulf %v, %quarter : f32
      %positive = arith.cmpf ogt, %v, %zero : f32
      %s = arith.select %positive, %v, %small : f32
      %t = arith.truncf %s : f32 to f16
      linalg.yield %t : f16
  } -> tensor<64x96xf16>
  return %r : tensor<64x96xf16>
}

// A residual of the result's shape and a clamp, of any size: rows of multiples of 16
// bytes in fragments, but for clipped tiles.
func.func @residual(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%p, %c : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%v: f32, %w: f32, %out: f32):
      %s = arith.addf %v, %w : f32
      %low = arith.maximumf %s, %zero : f32
      %high = arith.minimumf %low, %six : f32
      linalg.yield %high : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Onto a given C, of any size.
func.func @accumulate(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

// Bytes: sums scaled and rounded as floats.
func.func @rescaled(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %scale = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<64x64xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xi8>, tensor<64x64xi8>) outs(%z : tensor<64x64xi32>) -> tensor<64x64xi32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%p : tensor<64x64xi32>) outs(%e : tensor<64x64xi32>) {
    ^bb0(%v: i32, %out: i32):
      %f = arith.sitofp %v : i32 to f32
      %s = arith.mulf %f, %scale : f32
      %n = math.roundeven %s : f32
      %i = arith.fptosi %n : f32 to i32
      linalg.yield %i : i32
  } -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}

// Sums of halves, unsigned bytes.
func.func @halves(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64x64xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x64xf16>) outs(%z : tensor<64x64xf16>) -> tensor<64x64xf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%p : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) {
    ^bb0(%v: f16, %out: f16):
      %s = arith.maximumf %v, %zero : f16
      linalg.yield %s : f16
  } -> tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}
func.func @unsigned(%a: tensor<32x64xi8>, %b: tensor<64x64xi8>, %c: tensor<32x64xi32>) -> tensor<32x64xi32> {
  %p = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<32x64xi8>, tensor<64x64xi8>)
       outs(%c : tensor<32x64xi32>) -> tensor<32x64xi32>
  return %p : tensor<32x64xi32>
}

// A bias of columns has coordinates: through shared memory.
func.func @bias(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %bias: tensor<64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%p, %bias : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%v: f32, %w: f32, %out: f32):
      %s = arith.addf %v, %w : f32
      linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Scalars are the same for all elements, and a residual may be scaled on its way.
func.func @uniform(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %s: tensor<f32>, %beta: f32, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#all, #none, #all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%p, %s, %c : tensor<64x64xf32>, tensor<f32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%v: f32, %w: f32, %u: f32, %out: f32):
      %t = arith.mulf %v, %w : f32
      %x = arith.mulf %u, %beta : f32
      %y = arith.addf %t, %x : f32
      linalg.yield %y : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// A function of the sum: any arithmetic on scalars.
func.func @smooth(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%p : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%v: f32, %out: f32):
      %n = arith.negf %v : f32
      %x = math.exp %n : f32
      %d = arith.addf %one, %x : f32
      %q = arith.divf %v, %d : f32
      linalg.yield %q : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Sums of bytes that end as floats.
func.func @dequant(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : i32
  %scale = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<64x64xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xi8>, tensor<64x64xi8>) outs(%z : tensor<64x64xi32>) -> tensor<64x64xi32>
  %h = tensor.empty() : tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%p : tensor<64x64xi32>) outs(%h : tensor<64x64xf32>) {
    ^bb0(%v: i32, %out: f32):
      %f = arith.sitofp %v : i32 to f32
      %s = arith.mulf %f, %scale : f32
      linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Columns of matrices are rows of the result.
func.func @conv(%x: tensor<2x16x18x18xf16>, %w: tensor<32x16x3x3xf16>, %o: tensor<2x32x16x16xf32>) -> tensor<2x32x16x16xf32> {
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x16x18x18xf16>, tensor<32x16x3x3xf16>) outs(%o : tensor<2x32x16x16xf32>) -> tensor<2x32x16x16xf32>
  return %r : tensor<2x32x16x16xf32>
}
