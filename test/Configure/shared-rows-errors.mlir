// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics

// Rows that the blocks of a cluster cannot share.

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32}>} {
func.func private @NoClusters(%x: tensor<4x1000xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{'cluster': cuda:sm_80 has no clusters whose blocks see each other's shared memory; cuda:sm_90 and sm_100 have}}
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%o : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], cluster = [1, 4]>} {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, multicast}>} {
func.func private @AlongRows(%x: tensor<4x1000xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{'cluster' has 2 blocks along loop 0, which is not reduced: blocks share nothing of it}}
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%o : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], cluster = [2, 1]>} {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, multicast}>} {
func.func private @AlongBoth(%x: tensor<4x1000xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{'cluster' has 2 blocks along loop 0, and others along another loop; a row is shared along one}}
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%o : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], cluster = [2, 4]>} {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, multicast}>} {
func.func private @TooMany(%x: tensor<4x1000xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{'cluster' has 16 blocks along loop 1; there are at most 8}}
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%o : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 64], warps = [1, 2], cluster = [1, 16]>} {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, multicast}>} {
func.func private @TooFew(%x: tensor<4x1000xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{'cluster' has 2 blocks along loop 1 and 'block' 256 of its 1000 elements, which is a part for each of 4 blocks}}
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%o : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], cluster = [1, 2]>} {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, multicast}>} {
func.func private @PartsOfNothing(%x: tensor<4x1000xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{'cluster' has 8 blocks along loop 1 and 'block' 256 of its 1000 elements, which is a part for each of 4 blocks}}
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%o : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], cluster = [1, 8]>} {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, multicast}>} {
func.func private @Dynamic(%x: tensor<4x?xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{'cluster' has 4 blocks along loop 1, whose extent is dynamic: how long a part is must be known}}
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x?xf32>) outs(%o : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], cluster = [1, 4]>} {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, multicast}>} {
func.func private @TermByTerm(%x: tensor<4x1000xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{'cluster' has 4 blocks along loop 1, which is reduced by a body of its own, term by term}}
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%o : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], cluster = [1, 4]>} {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.divf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64}>} {
func.func private @OnCpu(%x: tensor<4x1000xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{strategy reduction does not carry out 'cluster' on CPUs; on GPUs warp_specialized and reduction do: leave it out}}
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%o : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 1], cluster = [1, 4]>} {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
}
