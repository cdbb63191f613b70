// RUN: tilewright-opt %s -tilewright-drop-constant-sums -verify-diagnostics -split-input-file

// The config has an entry for the loop that would be gone.
func.func @pinned(%x: tensor<8x16xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{has 'tilewright.lowering_config', but what it yields does not depend on what it reads}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xi32>) outs(%init : tensor<8xi32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [4, 16]>} {
  ^bb0(%a: i32, %s: i32):
    linalg.yield %zero : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}
