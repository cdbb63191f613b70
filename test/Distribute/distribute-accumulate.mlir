// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

// Sums begin with what is in memory and go back there: where that is, is computed behind the loop once more, from a lane that
// no pass finds equal to the first one.
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, access_bytes = 16}>} {
  // CHECK-LABEL: func.func private @accumulate
  // CHECK: %[[LANE:.*]] = gpu.lane_id
  // CHECK: vector.load %[[OUT:.*]][%{{.*}}] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  // CHECK: scf.for
  // CHECK: math.fma
  // CHECK: scf.yield
  // CHECK: gpu.shuffle idx
  // CHECK: %[[AGAIN:.*]] = arith.index_castui %shuffleResult
  // CHECK: arith.{{divui|remui}} %[[AGAIN]]
  // CHECK-NOT: %[[LANE]]
  // CHECK: vector.store %{{.*}}, %[[OUT]]
  func.func private @accumulate(%a: memref<64x512xf32>, %w: memref<512x64xf32>, %out: memref<64x64xf32>)
      attributes {tilewright.kernel,
        tilewright.access = ["read", "read", "readwrite"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 16], warps = [2, 2, 1], promote = [0, 1]>,
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1, 1)>>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c512 = arith.constant 512 : index
    %pad = arith.constant 0.0 : f32
    %sa = memref.alloc() : memref<16x64xf32, strided<[68, 1]>, #tilewright.shared>
    %sb = memref.alloc() : memref<16x64xf32, #tilewright.shared>
    %init = vector.transfer_read %out[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xf32>, vector<64x64xf32>
    %acc = scf.for %k = %c0 to %c512 step %c16 iter_args(%c = %init) -> vector<64x64xf32> {
      %va = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [true, true]} : memref<64x512xf32>, vector<64x16xf32>
      %vb = vector.transfer_read %w[%k, %c0], %pad {in_bounds = [true, true]} : memref<512x64xf32>, vector<16x64xf32>
      vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<64x16xf32>, memref<16x64xf32, strided<[68, 1]>, #tilewright.shared>
      vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<16x64xf32>, memref<16x64xf32, #tilewright.shared>
      gpu.barrier
      %n = tilewright.mma %sa, %sb, %c {maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
         : memref<16x64xf32, strided<[68, 1]>, #tilewright.shared>, memref<16x64xf32, #tilewright.shared>, vector<64x64xf32>
      gpu.barrier
      scf.yield %n : vector<64x64xf32>
    }
    vector.transfer_write %acc, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
    return
  }
}
