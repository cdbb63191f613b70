// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-promote))' | FileCheck %s

// Matrices are loaded in either direction: tiles lie as in memory, swizzled so
// that eight rows one below the other are in different banks.
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, load_matrices}>} {
// CHECK-LABEL: @swizzled
// CHECK-SAME: "operand 0 in shared memory: 64x32xf16, swizzle [2, 3, 3]; 0 bank conflicts by calculation in what fills and reads it"
// CHECK-SAME: "operand 1 in shared memory: 32x128xf16, swizzle [3, 3, 4]; 0 bank conflicts by calculation in what fills and reads it"
// CHECK: memref.alloc() : memref<64x32xf16, #tilewright.shared<swizzle = [2, 3, 3]>>
// CHECK: memref.alloc() : memref<32x128xf16, #tilewright.shared<swizzle = [3, 3, 4]>>
func.func private @swizzled(%a: vector<64x32xf16>, %b: vector<32x128xf16>, %c: vector<64x128xf32>) -> vector<64x128xf32>
    attributes {tilewright.kernel, tilewright.explain = [],
                tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>,
                tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} {
  %n = tilewright.mma %a, %b, %c {instruction = "mma.m16n8k16.f16.f32", maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
     : vector<64x32xf16>, vector<32x128xf16>, vector<64x128xf32>
  return %n : vector<64x128xf32>
}
}
