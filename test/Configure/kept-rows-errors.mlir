// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics

// Rows that a block cannot keep in shared memory.

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, index_bits = 32}>} {
func.func private @ReadOnce(%x: tensor<4x1000xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>) attributes {tilewright.kernel} {
  // expected-error @+1 {{'promote' names operand 0, which is read once}}
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%s : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], promote = [0]>} {
  ^bb0(%in: f32, %acc: f32):
    %a = arith.addf %in, %acc : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %t : tensor<4xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, index_bits = 32}>} {
func.func private @Whole(%x: tensor<4x1000xf32>, %s: tensor<4xf32>, %o: tensor<4x1000xf32>) -> (tensor<4xf32>, tensor<4x1000xf32>) attributes {tilewright.kernel} {
  // expected-error @+1 {{'promote' names operand 0, of which 'block' has whole rows: they stay in registers}}
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%s : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 1024], warps = [1, 2], promote = [0]>} {
  ^bb0(%in: f32, %acc: f32):
    %a = arith.addf %in, %acc : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<4x1000xf32>, tensor<4xf32>) outs(%o : tensor<4x1000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %a = arith.divf %in, %sum : f32
    linalg.yield %a : f32
  } -> tensor<4x1000xf32>
  return %t, %r : tensor<4xf32>, tensor<4x1000xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, index_bits = 32}>} {
func.func private @Unknown(%x: tensor<4x?xf32>, %s: tensor<4xf32>, %o: tensor<4x?xf32>) -> (tensor<4xf32>, tensor<4x?xf32>) attributes {tilewright.kernel} {
  // expected-error @+1 {{'promote' names operand 0, whose rows have a dynamic extent: how long they are at most must be known}}
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x?xf32>) outs(%s : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], promote = [0]>} {
  ^bb0(%in: f32, %acc: f32):
    %a = arith.addf %in, %acc : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<4x?xf32>, tensor<4xf32>) outs(%o : tensor<4x?xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %a = arith.divf %in, %sum : f32
    linalg.yield %a : f32
  } -> tensor<4x?xf32>
  return %t, %r : tensor<4xf32>, tensor<4x?xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, index_bits = 32}>} {
func.func private @NoInput(%x: tensor<4x1000xf32>, %s: tensor<4xf32>, %o: tensor<4x1000xf32>) -> (tensor<4xf32>, tensor<4x1000xf32>) attributes {tilewright.kernel} {
  // expected-error @+1 {{'promote' names operand 1, and there is 1 input}}
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%s : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], promote = [1]>} {
  ^bb0(%in: f32, %acc: f32):
    %a = arith.addf %in, %acc : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<4x1000xf32>, tensor<4xf32>) outs(%o : tensor<4x1000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %a = arith.divf %in, %sum : f32
    linalg.yield %a : f32
  } -> tensor<4x1000xf32>
  return %t, %r : tensor<4xf32>, tensor<4x1000xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, index_bits = 32}>} {
func.func private @Twice(%x: tensor<4x1000xf32>, %s: tensor<4xf32>, %o: tensor<4x1000xf32>) -> (tensor<4xf32>, tensor<4x1000xf32>) attributes {tilewright.kernel} {
  // expected-error @+1 {{'promote' names operand 0 twice}}
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%s : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], promote = [0, 0]>} {
  ^bb0(%in: f32, %acc: f32):
    %a = arith.addf %in, %acc : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<4x1000xf32>, tensor<4xf32>) outs(%o : tensor<4x1000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %a = arith.divf %in, %sum : f32
    linalg.yield %a : f32
  } -> tensor<4x1000xf32>
  return %t, %r : tensor<4xf32>, tensor<4x1000xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, index_bits = 32}>} {
func.func private @Stages(%x: tensor<4x1000xf32>, %s: tensor<4xf32>, %o: tensor<4x1000xf32>) -> (tensor<4xf32>, tensor<4x1000xf32>) attributes {tilewright.kernel} {
  // expected-error @+1 {{strategy reduction does not carry out 'stages' on GPUs; warp_specialized, matrix_unit, simt_contraction and attention do: leave it out}}
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%s : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], stages = 2, promote = [0]>} {
  ^bb0(%in: f32, %acc: f32):
    %a = arith.addf %in, %acc : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<4x1000xf32>, tensor<4xf32>) outs(%o : tensor<4x1000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %a = arith.divf %in, %sum : f32
    linalg.yield %a : f32
  } -> tensor<4x1000xf32>
  return %t, %r : tensor<4xf32>, tensor<4x1000xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 2048, registers = 255, access_bytes = 16, index_bits = 32}>} {
func.func private @TooLong(%x: tensor<4x1000xf32>, %s: tensor<4xf32>, %o: tensor<4x1000xf32>) -> (tensor<4xf32>, tensor<4x1000xf32>) attributes {tilewright.kernel} {
  // expected-error @+1 {{needs 4016 bytes of shared memory (16 of them to move values between threads) but cuda:sm_80 has 2048}}
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1000xf32>) outs(%s : tensor<4xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], promote = [0]>} {
  ^bb0(%in: f32, %acc: f32):
    %a = arith.addf %in, %acc : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<4x1000xf32>, tensor<4xf32>) outs(%o : tensor<4x1000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %a = arith.divf %in, %sum : f32
    linalg.yield %a : f32
  } -> tensor<4x1000xf32>
  return %t, %r : tensor<4xf32>, tensor<4x1000xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, index_bits = 32}>} {
func.func private @Repeated(%x: tensor<1000x64xf32>, %y: tensor<1000xf32>, %s: tensor<64xf32>, %o: tensor<1000x64xf32>) -> (tensor<64xf32>, tensor<1000x64xf32>) attributes {tilewright.kernel} {
  // expected-error @+1 {{'promote' names operand 1, which lacks a loop of which a block has several elements}}
  %t = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n)>, affine_map<(n, m) -> (m)>], iterator_types = ["reduction", "parallel"]} ins(%x, %y : tensor<1000x64xf32>, tensor<1000xf32>) outs(%s : tensor<64xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [64, 16], warps = [2, 1], promote = [1]>} {
  ^bb0(%in: f32, %row: f32, %acc: f32):
    %a = arith.addf %in, %row : f32
    %b = arith.addf %a, %acc : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n)>, affine_map<(n, m) -> (m)>, affine_map<(n, m) -> (n, m)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y, %t : tensor<1000x64xf32>, tensor<1000xf32>, tensor<64xf32>) outs(%o : tensor<1000x64xf32>) {
  ^bb0(%in: f32, %row: f32, %sum: f32, %out: f32):
    %a = arith.addf %in, %row : f32
    %b = arith.divf %a, %sum : f32
    linalg.yield %b : f32
  } -> tensor<1000x64xf32>
  return %t, %r : tensor<64xf32>, tensor<1000x64xf32>
}
}
