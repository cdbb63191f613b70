// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(tilewright-pack-panels))'

#config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 32, 8], thread = [2, 16, 4], promote = [0, 1]>
func.func private @not_tiled(%a: vector<2x4xf32>, %b: vector<4x16xf32>, %c: vector<2x16xf32>) -> vector<2x16xf32>
    attributes {tilewright.kernel, tilewright.lowering_config = #config} {
  // expected-error @+1 {{of a kernel without 'tilewright.panels'; run tilewright-tile}}
  %n = tilewright.mma %a, %b, %c {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
     : vector<2x4xf32>, vector<4x16xf32>, vector<2x16xf32>
  return %n : vector<2x16xf32>
}

// -----

#config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 32, 8], thread = [2, 16, 4], promote = [0, 1]>
func.func private @no_loop(%a: vector<2x4xf32>, %b: vector<4x16xf32>, %c: vector<2x16xf32>) -> vector<2x16xf32>
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.panels = array<i64: 1, 1, 1>} {
  // expected-error @+1 {{cannot be packed: its loop carries something else than its accumulator; leave 'promote' out of the config}}
  %n = tilewright.mma %a, %b, %c {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
     : vector<2x4xf32>, vector<4x16xf32>, vector<2x16xf32>
  return %n : vector<2x16xf32>
}

// -----

#config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 32, 8], thread = [2, 16, 3], promote = [0, 1]>
func.func private @odd(%a: vector<2x3xbf16>, %b: vector<3x16xbf16>, %c: vector<2x16xf32>, %n: index) -> vector<2x16xf32>
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.panels = array<i64: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %k = %c0 to %n step %c3 iter_args(%acc = %c) -> (vector<2x16xf32>) {
    // expected-error @+1 {{operand 0 of 'vector<2x3xbf16>' is no matrix of whole words of 'dot.m1n16k2.bf16.f32'}}
    %m = tilewright.mma %a, %b, %acc {instruction = "dot.m1n16k2.bf16.f32",
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
     : vector<2x3xbf16>, vector<3x16xbf16>, vector<2x16xf32>
    scf.yield %m : vector<2x16xf32>
  }
  return %r : vector<2x16xf32>
}
