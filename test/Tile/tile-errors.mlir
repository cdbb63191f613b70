// RUN: tilewright-opt %s -tilewright-tile -verify-diagnostics -split-input-file

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @NotConfigured(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{has no 'tilewright.lowering_config'; run tilewright-configure or pin one}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%0: f32, %1: f32):
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @TooManyElements(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the lowering config does not fit: needs 20488 registers per thread but test has 255}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [262144], warps = [1]>} {
  ^bb0(%0: f32, %1: f32):
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
}
