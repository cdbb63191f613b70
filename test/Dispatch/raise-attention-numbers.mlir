// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu --explain -o /dev/null 2>&1 | FileCheck %s

// Two comparisons choose one number, with which the largest score begins, too: one kernel.
// CHECK: @chosen_twice({{.*}}): 1 kernel{{$}}

// -1e9 in place of a score to which memory was added: the mask takes the score's place, of which something would be left in a sum.
// CHECK: @beside_memory({{.*}}): 1 kernel{{$}}
// CHECK: one op computes the mask that the text has in parts; where the text chooses a number, the mask takes the score's place
func.func @chosen_twice(%arg0: tensor<2x40x16xf32>, %arg1: tensor<2x70x16xf32>, %arg2: tensor<2x70x16xf32>, %arg3: tensor<40x70xi1>) -> (tensor<2x40x16xf32>) {
    %v1 = arith.constant 0.0 : f32
    %v2 = tensor.empty() : tensor<2x40x70xf32>
    %v3 = linalg.fill ins(%v1 : f32) outs(%v2 : tensor<2x40x70xf32>) -> tensor<2x40x70xf32>
    %v4 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j, d_d) -> (d_h, d_i, d_d)>, affine_map<(d_h, d_i, d_j, d_d) -> (d_h, d_j, d_d)>, affine_map<(d_h, d_i, d_j, d_d) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<2x40x16xf32>, tensor<2x70x16xf32>) outs(%v3 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: f32, %s2: f32):
        %p = arith.mulf %s0, %s1 : f32
        %t = arith.addf %s2, %p : f32
        linalg.yield %t : f32
    } -> tensor<2x40x70xf32>
    %v5 = tensor.empty() : tensor<2x40x70xf32>
    %v6 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4 : tensor<2x40x70xf32>) outs(%v5 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: f32):
        %q = arith.constant 0.25 : f32
        %r = arith.mulf %s0, %q : f32
        linalg.yield %r : f32
    } -> tensor<2x40x70xf32>
    %v7 = tensor.empty() : tensor<2x40x70xf32>
    %v8 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v6 : tensor<2x40x70xf32>) outs(%v7 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: f32):
        %at_i = linalg.index 1 : index
        %at_j = linalg.index 2 : index
        %c = arith.cmpi ule, %at_j, %at_i : index
        %h = arith.constant -2.38e+38 : f32
        %r = arith.select %c, %s0, %h : f32
        linalg.yield %r : f32
    } -> tensor<2x40x70xf32>
    %v9 = tensor.empty() : tensor<2x40x70xf32>
    %v10 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v8, %arg3 : tensor<2x40x70xf32>, tensor<40x70xi1>) outs(%v9 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: i1, %s2: f32):
        %yes = arith.constant true
        %c = arith.andi %s1, %yes : i1
        %h = arith.constant -2.38e+38 : f32
        %r = arith.select %c, %s0, %h : f32
        linalg.yield %r : f32
    } -> tensor<2x40x70xf32>
    %v11 = arith.constant -238000000000000008620372169119510822912.0 : f32
    %v12 = tensor.empty() : tensor<2x40xf32>
    %v13 = linalg.fill ins(%v11 : f32) outs(%v12 : tensor<2x40xf32>) -> tensor<2x40xf32>
    %v14 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v10 : tensor<2x40x70xf32>) outs(%v13 : tensor<2x40xf32>) {
      ^bb0(%s0: f32, %s1: f32):
        %t = arith.maximumf %s0, %s1 : f32
        linalg.yield %t : f32
    } -> tensor<2x40xf32>
    %v15 = tensor.empty() : tensor<2x40x70xf32>
    %v16 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v10, %v14 : tensor<2x40x70xf32>, tensor<2x40xf32>) outs(%v15 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: f32, %s2: f32):
        %s = arith.subf %s0, %s1 : f32
        %t = math.exp %s : f32
        linalg.yield %t : f32
    } -> tensor<2x40x70xf32>
    %v17 = arith.constant 0.0 : f32
    %v18 = tensor.empty() : tensor<2x40xf32>
    %v19 = linalg.fill ins(%v17 : f32) outs(%v18 : tensor<2x40xf32>) -> tensor<2x40xf32>
    %v20 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v16 : tensor<2x40x70xf32>) outs(%v19 : tensor<2x40xf32>) {
      ^bb0(%s0: f32, %s1: f32):
        %t = arith.addf %s0, %s1 : f32
        linalg.yield %t : f32
    } -> tensor<2x40xf32>
    %v21 = tensor.empty() : tensor<2x40x70xf32>
    %v22 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v16, %v20 : tensor<2x40x70xf32>, tensor<2x40xf32>) outs(%v21 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: f32, %s2: f32):
        %t = arith.divf %s0, %s1 : f32
        linalg.yield %t : f32
    } -> tensor<2x40x70xf32>
    %v23 = arith.constant 0.0 : f32
    %v24 = tensor.empty() : tensor<2x40x16xf32>
    %v25 = linalg.fill ins(%v23 : f32) outs(%v24 : tensor<2x40x16xf32>) -> tensor<2x40x16xf32>
    %v26 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_d, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_d, d_j) -> (d_h, d_j, d_d)>, affine_map<(d_h, d_i, d_d, d_j) -> (d_h, d_i, d_d)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v22, %arg2 : tensor<2x40x70xf32>, tensor<2x70x16xf32>) outs(%v25 : tensor<2x40x16xf32>) {
      ^bb0(%s0: f32, %s1: f32, %s2: f32):
        %p = arith.mulf %s0, %s1 : f32
        %t = arith.addf %s2, %p : f32
        linalg.yield %t : f32
    } -> tensor<2x40x16xf32>
    return %v26 : tensor<2x40x16xf32>
  }
func.func @beside_memory(%arg0: tensor<2x40x16xf32>, %arg1: tensor<2x70x16xf32>, %arg2: tensor<2x70x16xf32>, %arg3: tensor<40x70xf32>, %arg4: tensor<40x70xi1>) -> (tensor<2x40x16xf32>) {
    %v1 = arith.constant 0.0 : f32
    %v2 = tensor.empty() : tensor<2x40x70xf32>
    %v3 = linalg.fill ins(%v1 : f32) outs(%v2 : tensor<2x40x70xf32>) -> tensor<2x40x70xf32>
    %v4 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j, d_d) -> (d_h, d_i, d_d)>, affine_map<(d_h, d_i, d_j, d_d) -> (d_h, d_j, d_d)>, affine_map<(d_h, d_i, d_j, d_d) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<2x40x16xf32>, tensor<2x70x16xf32>) outs(%v3 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: f32, %s2: f32):
        %p = arith.mulf %s0, %s1 : f32
        %t = arith.addf %s2, %p : f32
        linalg.yield %t : f32
    } -> tensor<2x40x70xf32>
    %v5 = tensor.empty() : tensor<2x40x70xf32>
    %v6 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4 : tensor<2x40x70xf32>) outs(%v5 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: f32):
        %q = arith.constant 0.25 : f32
        %r = arith.mulf %s0, %q : f32
        linalg.yield %r : f32
    } -> tensor<2x40x70xf32>
    %v7 = tensor.empty() : tensor<2x40x70xf32>
    %v8 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v6 : tensor<2x40x70xf32>) outs(%v7 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: f32):
        %q2 = arith.constant 400.0 : f32
        %r = arith.mulf %s0, %q2 : f32
        linalg.yield %r : f32
    } -> tensor<2x40x70xf32>
    %v9 = tensor.empty() : tensor<2x40x70xf32>
    %v10 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v8, %arg3 : tensor<2x40x70xf32>, tensor<40x70xf32>) outs(%v9 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: f32, %s2: f32):
        %r = arith.addf %s0, %s1 : f32
        linalg.yield %r : f32
    } -> tensor<2x40x70xf32>
    %v11 = tensor.empty() : tensor<2x40x70xf32>
    %v12 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v10, %arg4 : tensor<2x40x70xf32>, tensor<40x70xi1>) outs(%v11 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: i1, %s2: f32):
        %yes = arith.constant true
        %c = arith.andi %s1, %yes : i1
        %h = arith.constant -1.0e+09 : f32
        %r = arith.select %c, %s0, %h : f32
        linalg.yield %r : f32
    } -> tensor<2x40x70xf32>
    %v13 = arith.constant 0xFF800000 : f32
    %v14 = tensor.empty() : tensor<2x40xf32>
    %v15 = linalg.fill ins(%v13 : f32) outs(%v14 : tensor<2x40xf32>) -> tensor<2x40xf32>
    %v16 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v12 : tensor<2x40x70xf32>) outs(%v15 : tensor<2x40xf32>) {
      ^bb0(%s0: f32, %s1: f32):
        %t = arith.maximumf %s0, %s1 : f32
        linalg.yield %t : f32
    } -> tensor<2x40xf32>
    %v17 = tensor.empty() : tensor<2x40x70xf32>
    %v18 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v12, %v16 : tensor<2x40x70xf32>, tensor<2x40xf32>) outs(%v17 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: f32, %s2: f32):
        %s = arith.subf %s0, %s1 : f32
        %t = math.exp %s : f32
        linalg.yield %t : f32
    } -> tensor<2x40x70xf32>
    %v19 = arith.constant 0.0 : f32
    %v20 = tensor.empty() : tensor<2x40xf32>
    %v21 = linalg.fill ins(%v19 : f32) outs(%v20 : tensor<2x40xf32>) -> tensor<2x40xf32>
    %v22 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v18 : tensor<2x40x70xf32>) outs(%v21 : tensor<2x40xf32>) {
      ^bb0(%s0: f32, %s1: f32):
        %t = arith.addf %s0, %s1 : f32
        linalg.yield %t : f32
    } -> tensor<2x40xf32>
    %v23 = tensor.empty() : tensor<2x40x70xf32>
    %v24 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i)>, affine_map<(d_h, d_i, d_j) -> (d_h, d_i, d_j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v18, %v22 : tensor<2x40x70xf32>, tensor<2x40xf32>) outs(%v23 : tensor<2x40x70xf32>) {
      ^bb0(%s0: f32, %s1: f32, %s2: f32):
        %t = arith.divf %s0, %s1 : f32
        linalg.yield %t : f32
    } -> tensor<2x40x70xf32>
    %v25 = arith.constant 0.0 : f32
    %v26 = tensor.empty() : tensor<2x40x16xf32>
    %v27 = linalg.fill ins(%v25 : f32) outs(%v26 : tensor<2x40x16xf32>) -> tensor<2x40x16xf32>
    %v28 = linalg.generic {indexing_maps = [affine_map<(d_h, d_i, d_d, d_j) -> (d_h, d_i, d_j)>, affine_map<(d_h, d_i, d_d, d_j) -> (d_h, d_j, d_d)>, affine_map<(d_h, d_i, d_d, d_j) -> (d_h, d_i, d_d)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v24, %arg2 : tensor<2x40x70xf32>, tensor<2x70x16xf32>) outs(%v27 : tensor<2x40x16xf32>) {
      ^bb0(%s0: f32, %s1: f32, %s2: f32):
        %p = arith.mulf %s0, %s1 : f32
        %t = arith.addf %s2, %p : f32
        linalg.yield %t : f32
    } -> tensor<2x40x16xf32>
    return %v28 : tensor<2x40x16xf32>
  }
