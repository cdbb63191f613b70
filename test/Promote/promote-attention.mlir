// RUN: tilewright-opt %s -tilewright-promote | FileCheck %s

// What does not change in the loop is written once, in front of it; what the softmax
// makes of the first product stays in registers.
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func private @k
  // CHECK: vector.transfer_write %{{.*}}, %[[SQ:[a-z_0-9]+]][%{{.*}}, %{{.*}}] {{.*}} memref<64x16xf16, #tilewright.shared{{.*}}>
  // CHECK: scf.for
  // CHECK: vector.transfer_write %{{.*}}, %[[SK:[a-z_0-9]+]][
  // CHECK: tilewright.mma %[[SQ]], %[[SK]]
  // CHECK: %[[P:.*]] = arith.truncf
  // CHECK: vector.transfer_write %{{.*}}, %[[SV:[a-z_0-9]+]][
  // CHECK: tilewright.mma %[[P]], %[[SV]]
  func.func private @k(%q: memref<64x16xf16>, %k: memref<64x16xf16>, %v: memref<64x16xf16>, %out: memref<64x16xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 32], warps = [4, 1], promote = [0, 1], mma = "mma.m16n8k16.f16.f32">,
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f16
    %zs = arith.constant dense<0.0> : vector<64x32xf32>
    %zo = arith.constant dense<0.0> : vector<64x16xf32>
    %vq = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x16xf16>, vector<64x16xf16>
    %o = scf.for %j = %c0 to %c64 step %c32 iter_args(%acc = %zo) -> vector<64x16xf32> {
      %vk = vector.transfer_read %k[%j, %c0], %pad {in_bounds = [true, true]} : memref<64x16xf16>, vector<32x16xf16>
      %s = tilewright.mma %vq, %vk, %zs {instruction = "mma.m16n8k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]}
        : vector<64x16xf16>, vector<32x16xf16>, vector<64x32xf32>
      %p = arith.truncf %s : vector<64x32xf32> to vector<64x32xf16>
      %vv = vector.transfer_read %v[%j, %c0], %pad {in_bounds = [true, true]} : memref<64x16xf16>, vector<32x16xf16>
      %n = tilewright.mma %p, %vv, %acc {instruction = "mma.m16n8k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
        : vector<64x32xf16>, vector<32x16xf16>, vector<64x16xf32>
      scf.yield %n : vector<64x16xf32>
    }
    vector.transfer_write %o, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x16xf32>, memref<64x16xf32>
    return
  }

  // Queries that stay in registers come there through shared memory, once.
  // CHECK-LABEL: func.func private @queries_in_registers
  // CHECK: vector.transfer_write %{{.*}}, %[[SQ:[a-z_0-9]+]][%{{.*}}, %{{.*}}] {{.*}} memref<64x16xf16, #tilewright.shared{{.*}}>
  // CHECK: %[[Q:.*]] = vector.transfer_read %[[SQ]][%{{.*}}, %{{.*}}], {{.*}} {in_bounds = [true, true]} : memref<64x16xf16, #tilewright.shared{{.*}}>, vector<64x16xf16>
  // CHECK: scf.for
  // CHECK: vector.transfer_write %{{.*}}, %[[SK:[a-z_0-9]+]][
  // CHECK: tilewright.mma %[[Q]], %[[SK]]
  // CHECK: %[[P:.*]] = arith.truncf
  // CHECK: tilewright.mma %[[P]], %{{.*}}
  func.func private @queries_in_registers(%q: memref<64x16xf16>, %k: memref<64x16xf16>, %v: memref<64x16xf16>, %out: memref<64x16xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 32], warps = [4, 1], promote = [1], mma = "mma.m16n8k16.f16.f32">,
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f16
    %zs = arith.constant dense<0.0> : vector<64x32xf32>
    %zo = arith.constant dense<0.0> : vector<64x16xf32>
    %vq = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x16xf16>, vector<64x16xf16>
    %o = scf.for %j = %c0 to %c64 step %c32 iter_args(%acc = %zo) -> vector<64x16xf32> {
      %vk = vector.transfer_read %k[%j, %c0], %pad {in_bounds = [true, true]} : memref<64x16xf16>, vector<32x16xf16>
      %s = tilewright.mma %vq, %vk, %zs {instruction = "mma.m16n8k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]}
        : vector<64x16xf16>, vector<32x16xf16>, vector<64x32xf32>
      %p = arith.truncf %s : vector<64x32xf32> to vector<64x32xf16>
      %vv = vector.transfer_read %v[%j, %c0], %pad {in_bounds = [true, true]} : memref<64x16xf16>, vector<32x16xf16>
      %n = tilewright.mma %p, %vv, %acc {instruction = "mma.m16n8k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
        : vector<64x32xf16>, vector<32x16xf16>, vector<64x16xf32>
      scf.yield %n : vector<64x16xf32>
    }
    vector.transfer_write %o, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x16xf32>, memref<64x16xf32>
    return
  }

  // Rows of two pages: each is written to its rows, and nothing puts them together.
  // CHECK-LABEL: func.func private @pages
  // CHECK: scf.for
  // CHECK: %[[ONE:.*]] = vector.transfer_read %arg1
  // CHECK: %[[OTHER:.*]] = vector.transfer_read %arg2
  // CHECK-NOT: vector.insert_strided_slice
  // CHECK: vector.transfer_write %[[ONE]], %[[SK:[a-z_0-9]+]][%c0{{.*}}, %c0{{.*}}] {{.*}} vector<16x16xf16>, memref<32x16xf16
  // CHECK: vector.transfer_write %[[OTHER]], %[[SK]][%c16{{.*}}, %c0{{.*}}] {{.*}} vector<16x16xf16>, memref<32x16xf16
  // CHECK: tilewright.mma %{{.*}}, %[[SK]]
  func.func private @pages(%q: memref<64x16xf16>, %k: memref<64x16xf16>, %v: memref<64x16xf16>, %out: memref<64x32xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 32], warps = [4, 1], promote = [0, 1], mma = "mma.m16n8k16.f16.f32">,
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f16
    %zs = arith.constant dense<0.0> : vector<64x32xf32>
    %none = arith.constant dense<0.0> : vector<32x16xf16>
    %vq = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x16xf16>, vector<64x16xf16>
    %o = scf.for %j = %c0 to %c64 step %c32 iter_args(%acc = %zs) -> vector<64x32xf32> {
      %one = vector.transfer_read %k[%j, %c0], %pad {in_bounds = [true, true]} : memref<64x16xf16>, vector<16x16xf16>
      %half = vector.insert_strided_slice %one, %none {offsets = [0, 0], strides = [1, 1]} : vector<16x16xf16> into vector<32x16xf16>
      %other = vector.transfer_read %v[%j, %c0], %pad {in_bounds = [true, true]} : memref<64x16xf16>, vector<16x16xf16>
      %both = vector.insert_strided_slice %other, %half {offsets = [16, 0], strides = [1, 1]} : vector<16x16xf16> into vector<32x16xf16>
      %s = tilewright.mma %vq, %both, %acc {instruction = "mma.m16n8k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]}
        : vector<64x16xf16>, vector<32x16xf16>, vector<64x32xf32>
      scf.yield %s : vector<64x32xf32>
    }
    vector.transfer_write %o, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf32>, memref<64x32xf32>
    return
  }
}
