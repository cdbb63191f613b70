// RUN: tilewright-opt %s -tilewright-configure -verify-diagnostics -split-input-file

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target,
    tilewright.pins = {Scatter = #tilewright.lowering_config<strategy = irregular, block = [1048576, 1048576], warps = [4, 1]>}} {
func.func private @Scatter(%u: tensor<?x4xf32>, %i: tensor<?x1xi32>, %t: tensor<7x4xf32>) -> tensor<7x4xf32>
    attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'block' has more than 16777216 elements}}
  %r = tilewright.scatter ins(%u, %i : tensor<?x4xf32>, tensor<?x1xi32>) outs(%t : tensor<7x4xf32>) {dims = array<i64: 0>, unique} -> tensor<7x4xf32>
  return %r : tensor<7x4xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target,
    tilewright.pins = {Sort = #tilewright.lowering_config<strategy = irregular, block = [2, 64], warps = [4, 1]>}} {
func.func private @Sort(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
    attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'block' of a scan or sort is [outer, chunks, inner]}}
  %r = tilewright.sort ins(%x : tensor<4x?x1xf32>) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, runs} -> tensor<4x?x1xf32>
  return %r : tensor<4x?x1xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target,
    tilewright.pins = {Parts = #tilewright.lowering_config<strategy = irregular, block = [2, 64, 1], splits = 2>}} {
func.func private @Parts(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
    attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'splits' are the ranges of a scatter in order}}
  %r = tilewright.sort ins(%x : tensor<4x?x1xf32>) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, runs} -> tensor<4x?x1xf32>
  return %r : tensor<4x?x1xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target,
    tilewright.pins = {Runs = #tilewright.lowering_config<strategy = irregular, block = [16, 8, 1], warps = [4, 1, 1]>}} {
func.func private @Runs(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>, %s: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
    attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'block' has whole runs: its second number is a multiple of 16}}
  %r:2 = tilewright.sort ins(%x : tensor<4x?x1xf32>) outs(%e, %s : tensor<4x?x1xf32>, tensor<4x?x1xf32>) {dim = 1 : i64, runs} -> tensor<4x?x1xf32>, tensor<4x?x1xf32>
  return %r#0 : tensor<4x?x1xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target,
    tilewright.pins = {Stages = #tilewright.lowering_config<strategy = irregular, block = [2, 64, 1], warps = [4, 1, 1], stages = 3>}} {
func.func private @Stages(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
    attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy irregular does not carry out 'stages' on GPUs; warp_specialized, matrix_unit, simt_contraction and attention do: leave it out}}
  %r = tilewright.sort ins(%x : tensor<4x?x1xf32>) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, runs} -> tensor<4x?x1xf32>
  return %r : tensor<4x?x1xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target,
    tilewright.pins = {Rows = #tilewright.lowering_config<strategy = irregular, block = [2, 64, 1], warps = [4, 1, 1], raster = 4>}} {
func.func private @Rows(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
    attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy irregular does not carry out 'raster' on GPUs; warp_specialized, matrix_unit, skinny_contraction, simt_contraction, reduction, streaming and attention do: leave it out}}
  %r = tilewright.sort ins(%x : tensor<4x?x1xf32>) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, runs} -> tensor<4x?x1xf32>
  return %r : tensor<4x?x1xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target,
    tilewright.pins = {Tiles = #tilewright.lowering_config<strategy = irregular, block = [1, 4096, 1], warps = [1, 1, 1]>}} {
func.func private @Tiles(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>, %s: tensor<?xi32>, %v: tensor<?xf32>) -> (tensor<4x?x1xf32>, tensor<?xi32>, tensor<?xf32>)
    attributes {tilewright.kernel} {
  %n = arith.constant 4096 : index
  // expected-error @+1 {{the pinned lowering config does not fit: a tile of 4096 elements is not that of 32 threads, of which two warps look back}}
  %r:3 = tilewright.scan ins(%x : tensor<4x?x1xf32>) chunk(%n) outs(%e : tensor<4x?x1xf32>) scratch(%s, %v : tensor<?xi32>, tensor<?xf32>) {dim = 1 : i64, look_back} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<4x?x1xf32>, tensor<?xi32>, tensor<?xf32>
  return %r#0, %r#1, %r#2 : tensor<4x?x1xf32>, tensor<?xi32>, tensor<?xf32>
}
}

// -----

// 2^65 threads are not none.
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target,
    tilewright.pins = {Warps = #tilewright.lowering_config<strategy = irregular, block = [1, 1, 32], warps = [1048576, 1, 1]>}} {
func.func private @Warps(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
    attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: needs 33554432 threads}}
  %r = tilewright.sort ins(%x : tensor<4x?x1xf32>) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, runs} -> tensor<4x?x1xf32>
  return %r : tensor<4x?x1xf32>
}
}

// -----

// A pin on the op is honoured or refused, too.
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target} {
func.func private @OnOp(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
    attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy streaming does not serve it; irregular does}}
  %r = tilewright.sort ins(%x : tensor<4x?x1xf32>) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, runs, tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [7, 7, 7], warps = [1, 1, 1]>} -> tensor<4x?x1xf32>
  return %r : tensor<4x?x1xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target,
    tilewright.pins = {Spread = #tilewright.lowering_config<strategy = irregular, block = [2, 64, 1], warps = [1, 4, 1]>}} {
func.func private @Spread(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
    attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'warps' of scatters, scans and sorts are a number of warps, which lie over the block as it lies in memory; write it as the first entry, and 1 for the others}}
  %r = tilewright.sort ins(%x : tensor<4x?x1xf32>) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, runs} -> tensor<4x?x1xf32>
  return %r : tensor<4x?x1xf32>
}
}

// -----

// Threads beside each other would all add the one element.
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target,
    tilewright.pins = {Elements = #tilewright.lowering_config<strategy = irregular, block = [1, 64], warps = [4, 1], splits = 16>}} {
func.func private @Elements(%u: tensor<40xf32>, %i: tensor<40x1xi32>, %t: tensor<16xf32>) -> tensor<16xf32>
    attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: an update of the scatter is one element, so the second number of 'block' is 1, not 64}}
  %r = tilewright.scatter ins(%u, %i : tensor<40xf32>, tensor<40x1xi32>) outs(%t : tensor<16xf32>) {dims = array<i64: 0>} combine {
  ^bb0(%n: f32, %o: f32):
    %s = arith.addf %o, %n : f32
    tilewright.combined %s : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}
}
