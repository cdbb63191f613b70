// A mask that an op computes of coordinates and smaller tensors is computed beside the scores, and no tensor of queries x keys is
// in memory; one that takes more than reading it stays in front of the kernel, and --explain says why.
// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80 --explain -o %t.tw 2>&1 | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: tilewright-compile %s --target=cuda:sm_90a --explain -o %t.tw 2>&1 | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: tilewright-compile %s --target=vulkan --explain -o %t.tw 2>&1 | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: tilewright-compile %s --target=cpu:x86-64-v3 --explain -o %t.tw 2>&1 | FileCheck %s --check-prefixes=CHECK,CPU

#hij = affine_map<(h, i, j) -> (h, i, j)>
#h_of_hij = affine_map<(h, i, j) -> (h)>
#j_of_hij = affine_map<(h, i, j) -> (j)>
#query = affine_map<(h, i, j, d, e) -> (h, i, d)>
#key = affine_map<(h, i, j, d, e) -> (h, j, d)>
#value = affine_map<(h, i, j, d, e) -> (h, j, e)>
#mask = affine_map<(h, i, j, d, e) -> (h, i, j)>
#out = affine_map<(h, i, j, d, e) -> (h, i, e)>

// CHECK: @alibi({{.*}}): 1 kernel{{$}}
// CHECK: @distance({{.*}}): 1 kernel{{$}}
// CHECK: @curves({{.*}}): 2 kernels{{$}}
// CHECK: @lengths({{.*}}): 1 kernel{{$}}
// CHECK: @pages.at_load(): 1 kernel{{$}}
// CHECK: @pages({{.*}}): 1 kernel{{$}}
// GPU: @padding({{.*}}): 1 kernel{{$}}
// CPU: @padding({{.*}}): 2 kernels{{$}}

// CHECK: alibi_attention_0: 2 ops in one kernel
// CHECK: the mask is computed beside the scores, and never written: 1 block
func.func @alibi(%q: tensor<4x96x64xf16>, %k: tensor<4x80x64xf16>, %v: tensor<4x80x64xf16>, %slopes: tensor<4xf32>) -> tensor<4x96x64xf16> {
  %me = tensor.empty() : tensor<4x96x80xf32>
  %m = linalg.generic {indexing_maps = [#h_of_hij, #hij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%slopes : tensor<4xf32>) outs(%me : tensor<4x96x80xf32>) {
  ^bb0(%s: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i32
    %f = arith.sitofp %n : i32 to f32
    %b = arith.mulf %s, %f : f32
    linalg.yield %b : f32
  } -> tensor<4x96x80xf32>
  %e = tensor.empty() : tensor<4x96x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<4x96x64xf16>, tensor<4x80x64xf16>, tensor<4x80x64xf16>) mask(%m : tensor<4x96x80xf32>)
      outs(%e : tensor<4x96x64xf16>) {indexing_maps = [#query, #key, #value, #mask, #out], causal = "top_left"} -> tensor<4x96x64xf16>
  return %r : tensor<4x96x64xf16>
}

// Of any length; keys of a tensor of their own, and those near enough.
func.func @distance(%q: tensor<4x?x64xf16>, %k: tensor<4x?x64xf16>, %v: tensor<4x?x64xf16>, %there: tensor<?xi1>) -> tensor<4x?x64xf16> {
  %c1 = arith.constant 1 : index
  %queries = tensor.dim %q, %c1 : tensor<4x?x64xf16>
  %keys = tensor.dim %k, %c1 : tensor<4x?x64xf16>
  %me = tensor.empty(%queries, %keys) : tensor<4x?x?xi1>
  %m = linalg.generic {indexing_maps = [#j_of_hij, #hij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%there : tensor<?xi1>) outs(%me : tensor<4x?x?xi1>) {
  ^bb0(%t: i1, %o: i1):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i32
    %a = math.absi %n : i32
    %far = arith.constant 20 : i32
    %near = arith.cmpi sle, %a, %far : i32
    %b = arith.andi %near, %t : i1
    linalg.yield %b : i1
  } -> tensor<4x?x?xi1>
  %e = tensor.empty(%queries) : tensor<4x?x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<4x?x64xf16>, tensor<4x?x64xf16>, tensor<4x?x64xf16>) mask(%m : tensor<4x?x?xi1>)
      outs(%e : tensor<4x?x64xf16>) {indexing_maps = [#query, #key, #value, #mask, #out]} -> tensor<4x?x64xf16>
  return %r : tensor<4x?x64xf16>
}

// CHECK: curves_attention_0: 1 op
// CHECK: the mask is not computed beside the scores: 1 block computes each of its elements
func.func @curves(%q: tensor<4x96x64xf16>, %k: tensor<4x80x64xf16>, %v: tensor<4x80x64xf16>, %slopes: tensor<4xf32>) -> tensor<4x96x64xf16> {
  %me = tensor.empty() : tensor<4x96x80xf32>
  %m = linalg.generic {indexing_maps = [#h_of_hij, #hij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%slopes : tensor<4xf32>) outs(%me : tensor<4x96x80xf32>) {
  ^bb0(%s: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i32
    %f = arith.sitofp %n : i32 to f32
    %fs = arith.mulf %f, %s : f32
    %s0 = math.sin %fs : f32
    %s1 = math.cos %s0 : f32
    %s2 = math.sin %s1 : f32
    %s3 = math.cos %s2 : f32
    linalg.yield %s3 : f32
  } -> tensor<4x96x80xf32>
  %e = tensor.empty() : tensor<4x96x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<4x96x64xf16>, tensor<4x80x64xf16>, tensor<4x80x64xf16>) mask(%m : tensor<4x96x80xf32>)
      outs(%e : tensor<4x96x64xf16>) {indexing_maps = [#query, #key, #value, #mask, #out]} -> tensor<4x96x64xf16>
  return %r : tensor<4x96x64xf16>
}

// CHECK: lengths_attention_0: 2 ops in one kernel
// CHECK: the mask is computed beside the scores, and never written: 1 block
func.func @lengths(%q: tensor<4x96x64xf16>, %k: tensor<4x80x64xf16>, %v: tensor<4x80x64xf16>, %n: tensor<4xi32>) -> tensor<4x96x64xf16> {
  %me = tensor.empty() : tensor<4x96x80xf32>
  %m = linalg.generic {indexing_maps = [#hij], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%me : tensor<4x96x80xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = arith.subi %j, %i : index
    %c = arith.index_cast %d : index to i32
    %f = arith.sitofp %c : i32 to f32
    linalg.yield %f : f32
  } -> tensor<4x96x80xf32>
  %e = tensor.empty() : tensor<4x96x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<4x96x64xf16>, tensor<4x80x64xf16>, tensor<4x80x64xf16>) mask(%m : tensor<4x96x80xf32>)
      lengths(%n : tensor<4xi32>) outs(%e : tensor<4x96x64xf16>)
      {indexing_maps = [#query, #key, #value, #mask, affine_map<(h, i, j, d, e) -> (h)>, #out]} -> tensor<4x96x64xf16>
  return %r : tensor<4x96x64xf16>
}

// CHECK: pages_attention_0: 1 op
// CHECK: the mask is not computed beside the scores: keys lie in pages
func.func @pages(%q: tensor<4x96x64xf16>, %k: tensor<?x16x64xf16>, %v: tensor<?x16x64xf16>, %t: tensor<4x5xi32>, %n: tensor<4xi32>) -> tensor<4x96x64xf16> {
  %me = tensor.empty() : tensor<4x96x80xf32>
  %m = linalg.generic {indexing_maps = [#hij], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%me : tensor<4x96x80xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = arith.subi %j, %i : index
    %c = arith.index_cast %d : index to i32
    %f = arith.sitofp %c : i32 to f32
    linalg.yield %f : f32
  } -> tensor<4x96x80xf32>
  %e = tensor.empty() : tensor<4x96x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<4x96x64xf16>, tensor<?x16x64xf16>, tensor<?x16x64xf16>) mask(%m : tensor<4x96x80xf32>)
      table(%t : tensor<4x5xi32>) lengths(%n : tensor<4xi32>) outs(%e : tensor<4x96x64xf16>)
      {indexing_maps = [#query, affine_map<(h, i, j, d, e) -> (j floordiv 16, j mod 16, d)>, affine_map<(h, i, j, d, e) -> (j floordiv 16, j mod 16, e)>, #mask,
       affine_map<(h, i, j, d, e) -> (h, j floordiv 16)>, affine_map<(h, i, j, d, e) -> (h)>, #out]} -> tensor<4x96x64xf16>
  return %r : tensor<4x96x64xf16>
}

// A mask of keys costs a launch, or all blocks of queries a few operations.
// CHECK: padding_attention_0:
// GPU: the mask is computed beside the scores, and never written: it is one for all queries, whose blocks compute it in about 0.0 us; a kernel of its own takes 3.0
// CPU: the mask is not computed beside the scores: it is one for all queries, and on CPUs a launch costs little
func.func @padding(%q: tensor<4x96x64xf16>, %k: tensor<4x80x64xf16>, %v: tensor<4x80x64xf16>, %there: tensor<80xf32>) -> tensor<4x96x64xf16> {
  %me = tensor.empty() : tensor<80xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      ins(%there : tensor<80xf32>) outs(%me : tensor<80xf32>) {
  ^bb0(%t: f32, %o: f32):
    %low = arith.constant -10000.0 : f32
    %one = arith.constant 1.0 : f32
    %s = arith.subf %one, %t : f32
    %b = arith.mulf %s, %low : f32
    linalg.yield %b : f32
  } -> tensor<80xf32>
  %e = tensor.empty() : tensor<4x96x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<4x96x64xf16>, tensor<4x80x64xf16>, tensor<4x80x64xf16>) mask(%m : tensor<80xf32>)
      outs(%e : tensor<4x96x64xf16>) {indexing_maps = [#query, #key, #value, affine_map<(h, i, j, d, e) -> (j)>, #out]} -> tensor<4x96x64xf16>
  return %r : tensor<4x96x64xf16>
}
