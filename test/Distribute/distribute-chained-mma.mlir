// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -lower-affine -canonicalize -cse | FileCheck %s

// Two products by matrix instruction, the second on the first one's result, as
// in attention: the intermediate goes from accumulator fragments to operand
// fragments in registers. No shuffle, no shared memory.
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {chip = "sm_80", subgroup = 32, access_bytes = 16}>} {
  // CHECK-LABEL: func.func private @chained
  // CHECK: tilewright.mma_fragment "mma.m16n8k16.f16.f32"
  // CHECK-NOT: {{gpu.shuffle|gpu.barrier|#tilewright.shared}}
  // CHECK: arith.maximumf
  // CHECK-NOT: {{gpu.shuffle|gpu.barrier|#tilewright.shared}}
  // CHECK: arith.truncf
  // CHECK-NOT: {{gpu.shuffle|gpu.barrier|#tilewright.shared}}
  // CHECK: tilewright.mma_fragment "mma.m16n8k16.f16.f32"
  // CHECK-NOT: {{gpu.shuffle|gpu.barrier|#tilewright.shared}}
  // CHECK: return
  func.func private @chained(%q: memref<64x32xf16>, %k: memref<32x32xf16>, %v: memref<32x16xf16>, %out: memref<64x16xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, warps = [4, 1, 1], block = [64, 32, 32]>,
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f16
    %zs = arith.constant dense<0.0> : vector<64x32xf32>
    %zo = arith.constant dense<0.0> : vector<64x16xf32>
    %vq = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x32xf16>, vector<64x32xf16>
    %vk = vector.transfer_read %k[%c0, %c0], %pad {in_bounds = [true, true]} : memref<32x32xf16>, vector<32x32xf16>
    %vv = vector.transfer_read %v[%c0, %c0], %pad {in_bounds = [true, true]} : memref<32x16xf16>, vector<32x16xf16>
    %s = tilewright.mma %vq, %vk, %zs {instruction = "mma.m16n8k16.f16.f32",
        maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
      : vector<64x32xf16>, vector<32x32xf16>, vector<64x32xf32>
    %r = arith.maximumf %s, %zs : vector<64x32xf32>
    %p = arith.truncf %r : vector<64x32xf32> to vector<64x32xf16>
    %o = tilewright.mma %p, %vv, %zo {instruction = "mma.m16n8k16.f16.f32",
        maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
      : vector<64x32xf16>, vector<32x16xf16>, vector<64x16xf32>
    vector.transfer_write %o, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x16xf32>, memref<64x16xf32>
    return
  }
}
