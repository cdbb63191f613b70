// One query a head and many keys: heads that share keys are rows, keys are taken in parts, which a
// config says, lists, and may be given with other numbers.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80 --explain -o %t.tw 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: tilewright-compile %s --target=cuda:sm_80 --list-configs | FileCheck %s --check-prefix=LIST
// RUN: sed 's/causal =/tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [4, 32], splits = 5>, causal =/' %s > %t.pinned.mlir
// RUN: tilewright-compile %t.pinned.mlir --target=cpu:x86-64-v3,cpu-reference --explain -o %t.pinned.tw 2>&1 | FileCheck %s --check-prefix=PINNED
// RUN: tilewright-run %t.pinned.tw --device=cpu --check=oracle --input=2x4x1x32xf16=random --input=2x1100x32xf16=random --input=2x1100x32xf16=random | FileCheck %s --check-prefix=RIGHT
// An op may ask for parts itself; the oracle has them, too.
// RUN: tilewright-compile %S/Inputs/attention-parts.mlir --target=cpu:x86-64-v3,cpu-reference -o %t.parts.tw
// RUN: tilewright-run %t.parts.tw --device=cpu --check=oracle --input=16x32xf16=random --input=300x32xf16=random --input=300x32xf16=random | FileCheck %s --check-prefix=PARTS

// EXPLAIN: : 2 kernels
// EXPLAIN: one query a head: 4 heads that share keys and values are rows of one block
// EXPLAIN-NEXT: keys in 4 parts, multiples of 128 long, by blocks of their own; a second kernel combines their results by log-sum-exp
// EXPLAIN: config: #tilewright.lowering_config<strategy = attention, block = [16, 64], warps = [1, 1], stages = 2, promote = [1], mma = "mma.m16n8k16.f16.f32", splits = 4>
// EXPLAIN: grid (4 * 2 * 1 * 1, 1, 1)

// LIST: main_attention_0
// LIST: #tilewright.lowering_config<strategy = attention, block = [16, 64], warps = [1, 1], stages = 2, promote = [1], mma = "mma.m16n8k16.f16.f32", splits = 4>
// LIST: #tilewright.lowering_config<strategy = attention, block = [16, 32], warps = [1, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", splits = 4>

// PINNED: keys in 5 parts, multiples of 128 long
// PINNED: config (pinned): #tilewright.lowering_config<strategy = attention, block = [4, 32], splits = 5>

// RIGHT: result[0]: ok
// PARTS: result[0]: ok
// PARTS: result[1]: ok

#q = affine_map<(h, g, i, j, d, e) -> (h, g, i, d)>
#k = affine_map<(h, g, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, g, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, g, i, j, d, e) -> (h, g, i, e)>
func.func @main(%q: tensor<2x4x1x32xf16>, %k: tensor<2x1100x32xf16>, %v: tensor<2x1100x32xf16>) -> tensor<2x4x1x32xf16> {
  %e = tensor.empty() : tensor<2x4x1x32xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x4x1x32xf16>, tensor<2x1100x32xf16>, tensor<2x1100x32xf16>)
    outs(%e : tensor<2x4x1x32xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "bottom_right"} -> tensor<2x4x1x32xf16>
  return %r : tensor<2x4x1x32xf16>
}
