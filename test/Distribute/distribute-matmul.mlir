// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, access_bytes = 16}>} {
  // CHECK-LABEL: func.func private @matmul_bias_relu
  // CHECK-SAME: (%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: index, %{{.*}}: index)
  // CHECK-SAME: tilewright.scalars = [#tilewright.dim<0, 0>, #tilewright.dim<3, 0>]
  // CHECK-DAG: memref.alloc() : memref<1084xf32, #tilewright.shared>
  // CHECK-DAG: memref.alloc() : memref<1024xf32, #tilewright.shared>
  // CHECK: scf.for
  // CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  // CHECK: gpu.barrier
  // CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<{{.*}}xf32, #tilewright.shared>, vector<4xf32>
  // CHECK: math.fma
  // CHECK: arith.maximumf
  // CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  func.func private @matmul_bias_relu(%a: memref<?x512xf32>, %w: memref<512x256xf32>, %bias: memref<256xf32>, %out: memref<?x256xf32>)
      attributes {tilewright.kernel,
        tilewright.access = ["read", "read", "read", "write"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 16], warps = [2, 2, 1], promote = [0, 1]>,
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<()[s0] -> (s0 ceildiv 64, 4)>, dims = [0, 0]>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c512 = arith.constant 512 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %m = memref.dim %a, %c0 : memref<?x512xf32>
    %mt = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%m]
    %ti, %tj = tilewright.tile_id(%mt, %c4) : index, index
    %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%ti]
    %j = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%tj]
    %sa = memref.alloc() : memref<16x64xf32, strided<[68, 1]>, #tilewright.shared>
    %sb = memref.alloc() : memref<16x64xf32, #tilewright.shared>
    %acc = scf.for %k = %c0 to %c512 step %c16 iter_args(%c = %zero) -> vector<64x64xf32> {
      %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [false, true]} : memref<?x512xf32>, vector<64x16xf32>
      %vb = vector.transfer_read %w[%k, %j], %pad {in_bounds = [true, true]} : memref<512x256xf32>, vector<16x64xf32>
      vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<64x16xf32>, memref<16x64xf32, strided<[68, 1]>, #tilewright.shared>
      vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<16x64xf32>, memref<16x64xf32, #tilewright.shared>
      gpu.barrier
      %n = tilewright.mma %sa, %sb, %c {maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
         : memref<16x64xf32, strided<[68, 1]>, #tilewright.shared>, memref<16x64xf32, #tilewright.shared>, vector<64x64xf32>
      gpu.barrier
      scf.yield %n : vector<64x64xf32>
    }
    %bv = vector.transfer_read %bias[%j], %pad {in_bounds = [true, true], permutation_map = affine_map<(d0) -> (0, d0)>} : memref<256xf32>, vector<64x64xf32>
    %s = arith.addf %acc, %bv : vector<64x64xf32>
    %r = arith.maximumf %s, %zero : vector<64x64xf32>
    vector.transfer_write %r, %out[%i, %j] {in_bounds = [false, true]} : vector<64x64xf32>, memref<?x256xf32>
    return
  }
}
