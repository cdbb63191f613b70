// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-split-marked))" -verify-diagnostics

// Marks that nothing can be made of.
#k = affine_map<(k) -> (k)>
#none = affine_map<(k) -> ()>
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func @NoIdentity(%x: tensor<4096xf32>, %y: tensor<4096xf32>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-remark @+1 {{takes its terms one by one, though it is marked 'tilewright.associative': its identity is not known: the mark has to have it, a constant for each result}}
  %r:2 = linalg.generic {indexing_maps = [#k, #k, #none, #none], iterator_types = ["reduction"]} ins(%x, %y : tensor<4096xf32>, tensor<4096xf32>) outs(%a, %b : tensor<f32>, tensor<f32>)
      attrs = {tilewright.associative} {
  ^bb0(%p: f32, %q: f32, %s: f32, %t: f32):
    %u = arith.mulf %p, %s : f32
    %v = arith.mulf %p, %t : f32
    %w = arith.addf %v, %q : f32
    linalg.yield %u, %w : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

func.func @OfOtherType(%x: tensor<4096xf32>, %y: tensor<4096xf32>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-remark @+1 {{takes its terms one by one, though it is marked 'tilewright.associative': the identity has 2 constants; one of its type is for each of the 2 results}}
  %r:2 = linalg.generic {indexing_maps = [#k, #k, #none, #none], iterator_types = ["reduction"]} ins(%x, %y : tensor<4096xf32>, tensor<4096xf32>) outs(%a, %b : tensor<f32>, tensor<f32>)
      attrs = {tilewright.associative = [1.0 : f32, 0 : i32]} {
  ^bb0(%p: f32, %q: f32, %s: f32, %t: f32):
    %u = arith.mulf %p, %s : f32
    %v = arith.mulf %p, %t : f32
    %w = arith.addf %v, %q : f32
    linalg.yield %u, %w : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

func.func @OneInput(%x: tensor<4096xf32>, %y: tensor<4096xf32>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-remark @+1 {{takes its terms one by one, though it is marked 'tilewright.associative': it has 1 inputs and 2 results; its body has to combine an element for each result with what there is of it}}
  %r:2 = linalg.generic {indexing_maps = [#k, #none, #none], iterator_types = ["reduction"]} ins(%x : tensor<4096xf32>) outs(%a, %b : tensor<f32>, tensor<f32>)
      attrs = {tilewright.associative = [1.0 : f32, 0.0 : f32]} {
  ^bb0(%p: f32, %s: f32, %t: f32):
    %u = arith.mulf %p, %s : f32
    %w = arith.addf %u, %t : f32
    linalg.yield %u, %w : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

func.func @AsksForIndex(%x: tensor<4096xf32>, %y: tensor<4096xf32>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-remark @+1 {{takes its terms one by one, though it is marked 'tilewright.associative': its body asks for the index of a loop; compute it in front, as an input}}
  %r:2 = linalg.generic {indexing_maps = [#k, #k, #none, #none], iterator_types = ["reduction"]} ins(%x, %y : tensor<4096xf32>, tensor<4096xf32>) outs(%a, %b : tensor<f32>, tensor<f32>)
      attrs = {tilewright.associative = [1.0 : f32, 0.0 : f32]} {
  ^bb0(%p: f32, %q: f32, %s: f32, %t: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %u = arith.mulf %p, %s : f32
    %v = arith.mulf %k, %t : f32
    %w = arith.addf %v, %q : f32
    linalg.yield %u, %w : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}
}
