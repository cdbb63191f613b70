// RUN: tilewright-opt %s -tilewright-vectorize -verify-diagnostics -split-input-file

#launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> ()>>
// expected-error @+1 {{is not tiled; run tilewright-tile}}
func.func private @NotTiled(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel} {
  return %o : tensor<8xf32>
}

// -----

#launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> ()>>
func.func private @NoTileSizes(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel, tilewright.launch = #launch} {
  %c = arith.constant 0.0 : f32
  // expected-error @+1 {{has no 'tilewright.tile_sizes' for its loops; run tilewright-tile}}
  %r = linalg.fill ins(%c : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> ()>>
func.func private @UnknownCombination(%x: tensor<8x8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel, tilewright.launch = #launch} {
  // expected-error @+1 {{result 0 is reduced by something else than one of add, mul, min, max, and, or, xor of the accumulator and a new value}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%o : tensor<8xf32>)
      attrs = {tilewright.tile_sizes = array<i64: 8, 8>} {
  ^bb0(%0: f32, %1: f32):
    %s = arith.subf %1, %0 : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> ()>>
func.func private @Branch(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel, tilewright.launch = #launch} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>)
      attrs = {tilewright.tile_sizes = array<i64: 8>} {
  ^bb0(%0: f32, %1: f32):
    %c = arith.cmpf ogt, %0, %0 : f32
    // expected-error @+1 {{in the body of linalg.generic has no vector form; only elementwise arith and math ops, tensor.extract and linalg.index do}}
    %s = scf.if %c -> f32 {
      scf.yield %0 : f32
    } else {
      scf.yield %1 : f32
    }
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
