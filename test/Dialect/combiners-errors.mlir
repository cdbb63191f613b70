// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @OnOther(%a: f32) -> f32 {
  // expected-error @+1 {{'tilewright.associative' belongs on a linalg.generic or linalg.reduce}}
  %r = arith.addf %a, %a {tilewright.associative} : f32
  return %r : f32
}

// -----

func.func @NoConstants(%x: tensor<4xf32>, %a: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'tilewright.associative' must be an array of constants, the identity of each result, or unit}}
  %r = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<4xf32>) outs(%a : tensor<f32>)
      attrs = {tilewright.associative = ["zero"]} {
  ^bb0(%p: f32, %s: f32):
    %t = arith.addf %p, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @TooMany(%x: tensor<4xf32>, %a: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'tilewright.associative' has 2 constants for 1 results}}
  %r = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<4xf32>) outs(%a : tensor<f32>)
      attrs = {tilewright.associative = [0.0 : f32, 0.0 : f32]} {
  ^bb0(%p: f32, %s: f32):
    %t = arith.addf %p, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
