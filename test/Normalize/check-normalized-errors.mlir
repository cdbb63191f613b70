// RUN: tilewright-opt %s -tilewright-check-normalized -split-input-file -verify-diagnostics

func.func @Convolution(%x: tensor<16xf32>, %k: tensor<3xf32>, %o: tensor<14xf32>) -> tensor<14xf32> {
  // expected-error @below {{has no linalg.generic form; write it as one}}
  %r = linalg.conv_1d ins(%x, %k : tensor<16xf32>, tensor<3xf32>) outs(%o : tensor<14xf32>) -> tensor<14xf32>
  return %r : tensor<14xf32>
}

// -----

func.func @Diagonal(%x: tensor<8x8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{operand 0 is indexed by affine_map<(d0) -> (d0, d0)>, which is not a projected permutation of the loops}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x : tensor<8x8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @Memref(%x: memref<8xf32>, %z: f32) {
  // expected-error @below {{works on memrefs here; only ops on tensors are compiled}}
  linalg.fill ins(%z : f32) outs(%x : memref<8xf32>)
  return
}

// -----

func.func @Complex(%z: complex<f32>, %o: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  // expected-error @below {{operand 0 has elements of type 'complex<f32>'; accepted are f64}}
  %r = linalg.fill ins(%z : complex<f32>) outs(%o : tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return %r : tensor<8xcomplex<f32>>
}

// -----

func.func @Rank(%x: tensor<f32>, %o: tensor<2x2x2x2x2x2x2x2x2x2x2xf32>) -> tensor<2x2x2x2x2x2x2x2x2x2x2xf32> {
  // expected-error @below {{operand 1 has rank 11; the largest is 10}}
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e, f, g, h, i, j, k) -> ()>, affine_map<(a, b, c, d, e, f, g, h, i, j, k) -> (a, b, c, d, e, f, g, h, i, j, k)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x : tensor<f32>) outs(%o : tensor<2x2x2x2x2x2x2x2x2x2x2xf32>) {
  ^bb0(%u: f32, %v: f32):
    linalg.yield %u : f32
  } -> tensor<2x2x2x2x2x2x2x2x2x2x2xf32>
  return %r : tensor<2x2x2x2x2x2x2x2x2x2x2xf32>
}

// -----

func.func @RankInBody(%t: tensor<8xf32>, %i: tensor<8xi32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has 'tensor.rank' in its body; accepted are scalar arith and math ops, tensor.extract, linalg.index, scf.if and scf.for of constant bounds and few iterations}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%i : tensor<8xi32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: i32, %b: f32):
    // expected-note @below {{the op is here}}
    %p = tensor.rank %t : tensor<8xf32>
    %v = tensor.extract %t[%p] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @IndicesInBody(%t: tensor<8xindex>, %o: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{reads elements of 'tensor<8xindex>' in its body; accepted are dense tensors of f64, f32}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%o : tensor<8xf32>) {
  ^bb0(%b: f32):
    %p = linalg.index 0 : index
    %v = tensor.extract %t[%p] : tensor<8xindex>
    %w = arith.index_cast %v : index to i32
    %f = arith.sitofp %w : i32 to f32
    linalg.yield %f : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @ParallelLoopWithoutResult(%x: tensor<8x4xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{loop 1 is parallel but no result has a dim for it}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<8x4xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @Float8Sum(%x: tensor<8xf8E5M2>, %o: tensor<f8E5M2>) -> tensor<f8E5M2> {
  // expected-error @below {{has 'arith.addf' on floats of 8 bits in its body, which are only stored and converted; extend them to f32, compute, and truncate the result}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
    ins(%x : tensor<8xf8E5M2>) outs(%o : tensor<f8E5M2>) {
  ^bb0(%a: f8E5M2, %b: f8E5M2):
    // expected-note @below {{the op is here}}
    %s = arith.addf %a, %b : f8E5M2
    linalg.yield %s : f8E5M2
  } -> tensor<f8E5M2>
  return %r : tensor<f8E5M2>
}
