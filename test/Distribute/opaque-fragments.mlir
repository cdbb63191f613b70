// RUN: tilewright-opt %s -tilewright-load-fragments -tilewright-keep-fragments -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

#launch = #tilewright.launch<threads = 16, subgroup = 8, tiles = affine_map<() -> (1)>>
#config = #tilewright.lowering_config<strategy = matrix_unit, block = [16, 16, 16], warps = [2, 1, 1], promote = [0, 1], mma = "coopmat.m8n8k8.f16.f32">
module attributes {tilewright.target = #tilewright.target<"vulkan:1.3", "spirv", {subgroup = 8, mma = ["coopmat.m8n8k8.f16.f32", "coopmat.m8n8k8.f16.f16"]}>} {

// Two subgroups with 8 rows each: two matrices of the accumulator, one product
// for each step along k. A is read by rows; B lies transposed and is read by
// columns. What needs no coordinates stays on the matrices; they go where the
// result is.
// CHECK-LABEL: func.func private @product
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[COLUMNS:.*]] = arith.constant 16 : index
// CHECK: tilewright.load_fragment "a" %{{.*}} stride %[[ROWS]] : {{.*}} -> vector<8x8xf16>
// CHECK: tilewright.load_fragment "b" transposed %{{.*}} stride %[[ROWS]] : {{.*}} -> vector<8x8xf16>
// CHECK: tilewright.load_fragment "b"
// CHECK: tilewright.load_fragment "a"
// CHECK: tilewright.load_fragment "b"
// CHECK: tilewright.load_fragment "b"
// CHECK: tilewright.mma_fragment "coopmat.m8n8k8.f16.f32"(%{{.*}} : vector<8x8xf16>)
// CHECK: tilewright.mma_fragment
// CHECK: tilewright.mma_fragment
// CHECK: %[[LAST:.*]] = tilewright.mma_fragment
// CHECK: tilewright.map_fragments %{{.*}} : (vector<8x8xf32>) -> vector<8x8xf32> {
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : vector<8x8xf32> to vector<8x8xf16>
// CHECK-NOT: gpu.barrier
// CHECK: tilewright.store_fragment %{{.*}}, %arg0[%{{.*}}] stride %[[COLUMNS]] : vector<8x8xf16>, memref<?xf16>
// CHECK-NEXT: tilewright.store_fragment %{{.*}}, %arg0[%{{.*}}] stride %[[COLUMNS]] : vector<8x8xf16>, memref<?xf16>
// CHECK-NEXT: return
func.func private @product(%out: memref<16x16xf16>)
    attributes {tilewright.kernel, tilewright.access = ["write"], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %i = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %two = arith.constant dense<2.0> : vector<16x16xf32>
  %sa = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
  %sb = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
  %n = tilewright.mma %sa, %sb, %zero {instruction = "coopmat.m8n8k8.f16.f32",
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]}
      : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, vector<16x16xf32>
  %s = arith.mulf %n, %two : vector<16x16xf32>
  %h = arith.truncf %s : vector<16x16xf32> to vector<16x16xf16>
  vector.transfer_write %h, %out[%i, %i] {in_bounds = [true, true]} : vector<16x16xf16>, memref<16x16xf16>
  return
}

// Factors for each row enter by one matrix, which serves both matrices of the row.
// CHECK-LABEL: func.func private @rescaled
// CHECK: scf.for {{.*}} -> (vector<8x8xf32>, vector<8x8xf32>)
// CHECK-NOT: tilewright.load_fragment "acc"
// CHECK: vector.store %{{.*}}, %[[SLOT:.*]][%{{.*}}] {{.*}} : memref<{{.*}}xf32, #tilewright.shared>
// CHECK: %[[F:.*]] = tilewright.load_fragment "acc" %[[SLOT]][{{.*}} : memref<{{.*}}xf32, #tilewright.shared> -> vector<8x8xf32>
// CHECK-NOT: tilewright.load_fragment "acc"
// CHECK: tilewright.map_fragments %{{.*}}, %[[F]] :
// CHECK: tilewright.map_fragments %{{.*}}, %[[F]] :
// CHECK-NOT: tilewright.load_fragment "acc"
// CHECK: scf.yield
func.func private @rescaled(%factors: memref<16xf32>, %out: memref<16x16xf32>, %steps: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %i = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %sa = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
  %sum = scf.for %step = %i to %steps step %one iter_args(%c = %zero) -> (vector<16x16xf32>) {
    %f = vector.transfer_read %factors[%i], %pad {in_bounds = [true]} : memref<16xf32>, vector<16xf32>
    %column = vector.shape_cast %f : vector<16xf32> to vector<16x1xf32>
    %wide = vector.broadcast %column : vector<16x1xf32> to vector<16x16xf32>
    %r = arith.mulf %c, %wide : vector<16x16xf32>
    %n = tilewright.mma %sa, %sa, %r {instruction = "coopmat.m8n8k8.f16.f32", maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
        : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, vector<16x16xf32>
    scf.yield %n : vector<16x16xf32>
  }
  vector.transfer_write %sum, %out[%i, %i] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
  return
}

// A bias has coordinates: the sum is computed on the elements of threads, which
// matrices reach through a scratch tile of shared memory, one after the other, in two tiles
// by turns. The accumulator's first value is read where it is.
// CHECK-LABEL: func.func private @bias
// CHECK-NOT: gpu.barrier
// CHECK: tilewright.load_fragment "acc" %arg1[%{{.*}}] stride %{{.*}} : memref<?xf32> -> vector<8x8xf32>
// CHECK: tilewright.mma_fragment
// CHECK: tilewright.store_fragment %{{.*}}, %[[ONE:alloc[_0-9]*]][{{.*}} : vector<8x8xf32>, memref<{{.*}}xf32, #tilewright.shared>
// CHECK: vector.load %[[ONE]]
// CHECK: tilewright.store_fragment %{{.*}}, %[[OTHER:alloc[_0-9]*]][
// CHECK-NOT: %[[ONE]]
// CHECK: vector.load %[[OTHER]]
// CHECK: arith.addf %{{.*}} : f32
func.func private @bias(%bias: memref<16xf32>, %out: memref<16x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "readwrite"], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %i = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %c = vector.transfer_read %out[%i, %i], %pad {in_bounds = [true, true]} : memref<16x16xf32>, vector<16x16xf32>
  %sa = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
  %sb = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
  %n = tilewright.mma %sa, %sb, %c {instruction = "coopmat.m8n8k8.f16.f32",
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
      : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, vector<16x16xf32>
  %b = vector.transfer_read %bias[%i], %pad {permutation_map = affine_map<(d0) -> (0, d0)>, in_bounds = [true, true]} : memref<16xf32>, vector<16x16xf32>
  %s = arith.addf %n, %b : vector<16x16xf32>
  vector.transfer_write %s, %out[%i, %i] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
  return
}
}
