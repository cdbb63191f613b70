// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'block' has -1; accepted are 0 to 1048576}}
func.func private @negative_tile() attributes {a = #tilewright.lowering_config<strategy = streaming, block = [-1]>}

// -----

// expected-error @below {{unknown strategy 'fast'}}
func.func private @unknown_strategy() attributes {a = #tilewright.lowering_config<strategy = fast>}

// -----

// expected-error @below {{'stages' is 99; accepted are 1 to 16}}
func.func private @too_many_stages() attributes {a = #tilewright.lowering_config<strategy = streaming, stages = 99>}

// -----

// expected-error @below {{swizzle shift must be at least its number of bits}}
func.func private @overlapping_swizzle() attributes {a = #tilewright.shared<swizzle = [3, 2, 1]>}

// -----

func.func @dispatch_of_nothing(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{kernel @nothing does not exist}}
  %r = tilewright.dispatch @nothing() outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @extents_differ(%a: vector<4x8xf32>, %b: vector<4x4xf32>, %c: vector<4x4xf32>) -> vector<4x4xf32> {
  // expected-error @below {{extents differ: 8 and 4 for the same loop}}
  %r = tilewright.mma %a, %b, %c {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
       : vector<4x8xf32>, vector<4x4xf32>, vector<4x4xf32>
  return %r : vector<4x4xf32>
}
