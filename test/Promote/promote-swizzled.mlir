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

// Bytes lie with the sum along the rows, as they are loaded; B's rows are transposed.
// CHECK-LABEL: @bytes
// CHECK-SAME: "operand 0 in shared memory: 64x64xi8, swizzle [2, 4, 3]; 0 bank conflicts by calculation in what fills and reads it"
// CHECK-SAME: "operand 1 in shared memory: 128x64xi8, swizzle [3, 4, 3, {{.*}}], transposed while staging: {{.*}}; 0 bank conflicts
// CHECK-DAG: memref.alloc() : memref<64x64xi8, #tilewright.shared<swizzle = [2, 4, 3]>>
// CHECK-DAG: memref.alloc() : memref<128x64xi8, #tilewright.shared<swizzle = [3, 4, 3, {{.*}}]>>
func.func private @bytes(%a: memref<64x64xi8>, %b: memref<64x128xi8>, %c: vector<64x128xi32>) -> vector<64x128xi32>
    attributes {tilewright.kernel, tilewright.explain = [],
                tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>,
                tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, promote = [0, 1], mma = "mma.m16n8k32.s8.s32">} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i8
  %va = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : memref<64x64xi8>, vector<64x64xi8>
  %vb = vector.transfer_read %b[%c0, %c0], %z {in_bounds = [true, true]} : memref<64x128xi8>, vector<64x128xi8>
  %n = tilewright.mma %va, %vb, %c {instruction = "mma.m16n8k32.s8.s32", maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
     : vector<64x64xi8>, vector<64x128xi8>, vector<64x128xi32>
  return %n : vector<64x128xi32>
}
}
