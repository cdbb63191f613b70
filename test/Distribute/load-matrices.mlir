// RUN: tilewright-opt %s -tilewright-load-fragments -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

// A has rows along k, B columns: four matrices at a time, B's transposed. No
// single loads from shared memory.
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, access_bytes = 16, load_matrices}>} {
  // CHECK-LABEL: func.func private @product
  // CHECK-NOT: memref.load {{.*}}#tilewright.shared
  // CHECK: tilewright.load_matrices %{{.*}}[%{{.*}}] : memref<{{[0-9]+}}xf16, #tilewright.shared> -> f16, f16, f16, f16, f16, f16, f16, f16
  // CHECK: tilewright.load_matrices transposed %{{.*}}[%{{.*}}] : memref<{{[0-9]+}}xf16, #tilewright.shared> -> f16, f16, f16, f16, f16, f16, f16, f16
  // CHECK-COUNT-2: tilewright.mma_fragment "mma.m16n8k16.f16.f32"
  func.func private @product(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"],
        tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %sa = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
    %sb = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
    %va = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x16xf16>, vector<16x16xf16>
    %vb = vector.transfer_read %b[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x16xf16>, vector<16x16xf16>
    vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf16>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
    vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf16>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
    gpu.barrier
    %r = tilewright.mma %sa, %sb, %zero
        {instruction = "mma.m16n8k16.f16.f32",
         maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
        : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, vector<16x16xf32>
    vector.transfer_write %r, %c[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    return
  }

  // Bytes by pairs, of both operands as they lie; never transposed.
  // CHECK-LABEL: func.func private @bytes
  // CHECK-NOT: memref.load {{.*}}#tilewright.shared
  // CHECK-NOT: transposed
  // CHECK-COUNT-2: tilewright.load_matrices %{{.*}}[%{{.*}}] : memref<{{[0-9]+}}xi8, #tilewright.shared> -> i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8
  // CHECK-COUNT-2: tilewright.mma_fragment "mma.m16n8k32.s8.s32"
  func.func private @bytes(%a: memref<16x32xi8>, %b: memref<16x32xi8>, %c: memref<16x16xi32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"],
        tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0 : i8
    %zero = arith.constant dense<0> : vector<16x16xi32>
    %sa = memref.alloc() : memref<16x32xi8, #tilewright.shared<swizzle = [1, 4, 3]>>
    %sb = memref.alloc() : memref<16x32xi8, #tilewright.shared<swizzle = [1, 4, 3]>>
    %va = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x32xi8>, vector<16x32xi8>
    %vb = vector.transfer_read %b[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x32xi8>, vector<16x32xi8>
    vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xi8>, memref<16x32xi8, #tilewright.shared<swizzle = [1, 4, 3]>>
    vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xi8>, memref<16x32xi8, #tilewright.shared<swizzle = [1, 4, 3]>>
    gpu.barrier
    %r = tilewright.mma %sa, %sb, %zero
        {instruction = "mma.m16n8k32.s8.s32", signedness = ["signed", "signed"],
         maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]}
        : memref<16x32xi8, #tilewright.shared<swizzle = [1, 4, 3]>>, memref<16x32xi8, #tilewright.shared<swizzle = [1, 4, 3]>>, vector<16x16xi32>
    vector.transfer_write %r, %c[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xi32>, memref<16x16xi32>
    return
  }
}
