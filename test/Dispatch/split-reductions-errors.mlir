// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-split-reductions))" -split-input-file -verify-diagnostics

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func @NoCombination(%x: tensor<?xf32>, %init: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{the pinned lowering config asks for 4 'splits' but partial results cannot be combined: a result is not updated by one add, mul, min, max, and, or, xor}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf32>) outs(%init : tensor<f32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, splits = 4>} {
  ^bb0(%0: f32, %1: f32):
    %h = arith.mulf %1, %1 : f32
    %s = arith.addf %0, %h : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func @NothingReduced(%x: tensor<?xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{the pinned lowering config asks for 2 'splits' but it reduces nothing}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%init : tensor<?xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, splits = 2>} {
  ^bb0(%0: f32, %1: f32):
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
}

// -----

// What stands in front of the op is no reason to say nothing.
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func @BehindAnother(%x: tensor<?xf32>, %e: tensor<?xf32>, %init: tensor<f32>) -> tensor<f32> {
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %0 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  // expected-error @below {{the pinned lowering config asks for 4 'splits' but partial results cannot be combined: a result is not updated by one add, mul, min, max, and, or, xor}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%y : tensor<?xf32>) outs(%init : tensor<f32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, splits = 4>} {
  ^bb0(%0: f32, %1: f32):
    %h = arith.mulf %1, %1 : f32
    %s = arith.addf %0, %h : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
}
