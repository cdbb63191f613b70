// RUN: tilewright-opt %s -split-input-file -tilewright-configure | FileCheck %s

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
// CHECK: tilewright.explain = ["strategy attention: one kernel for both contractions and the softmax between them; no scores in memory"
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], stages = 2, promote = [1], mma = "mma.m16n8k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @k(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
// Beside a deeper result no registers are left for the queries.
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 32], warps = [4, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @k(%q: tensor<2x96x256xf16>, %out: tensor<2x96x256xf16>) -> tensor<2x96x256xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x96x256xf16>, tensor<2x96x256xf16>, tensor<2x96x256xf16>)
        outs(%out : tensor<2x96x256xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x96x256xf16>
    return %o : tensor<2x96x256xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>

// Cooperative matrices: as many rows in a warp as the instruction has, and no rings
// where there are no asynchronous copies; fewer warps where shared memory is small.
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], promote = [0, 1], mma = "coopmat.m16n16k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"vulkan:1.3", "spirv", {max_threads = 1024 : i64, mma = ["coopmat.m16n16k16.f16.f16", "coopmat.m16n16k16.f16.f32"], shared_memory = 49152 : i64, subgroup = 32 : i64}>} {
  func.func private @k(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [16, 16], warps = [1, 1], promote = [0, 1], mma = "coopmat.m16n16k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"vulkan:1.3", "spirv", {max_threads = 1024 : i64, mma = ["coopmat.m16n16k16.f16.f16", "coopmat.m16n16k16.f16.f32"], shared_memory = 32768 : i64, subgroup = 32 : i64}>} {
  func.func private @k(%q: tensor<2x64x256xf16>, %out: tensor<2x64x256xf16>) -> tensor<2x64x256xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x256xf16>, tensor<2x64x256xf16>, tensor<2x64x256xf16>)
        outs(%out : tensor<2x64x256xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x64x256xf16>
    return %o : tensor<2x64x256xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
// Of a CPU: blocks as large as leave tasks for its threads; few queries as vectors along
// the keys.
// CHECK-LABEL: func.func private @panels(
// CHECK: tilewright.lowering_config<strategy = attention, block = [256, 64], thread = [32, 8]>
// CHECK-LABEL: func.func private @few_tasks(
// CHECK: tilewright.lowering_config<strategy = attention, block = [64, 64], thread = [32, 8]>
// CHECK-LABEL: func.func private @few_queries(
// CHECK: tilewright.lowering_config<strategy = attention, block = [4, 32]>
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4", "cpu", {max_threads = 1 : i64, registers = 32 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 64 : i64}>} {
  func.func private @panels(%q: tensor<16x1024x128xf32>, %k: tensor<16x1024x128xf32>, %o: tensor<16x1024x128xf32>) -> tensor<16x1024x128xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x1024x128xf32>, tensor<16x1024x128xf32>, tensor<16x1024x128xf32>)
        outs(%o : tensor<16x1024x128xf32>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<16x1024x128xf32>
    return %r : tensor<16x1024x128xf32>
  }
  func.func private @few_tasks(%q: tensor<16x256x128xf16>, %k: tensor<16x1024x128xf16>, %o: tensor<16x256x128xf16>) -> tensor<16x256x128xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x256x128xf16>, tensor<16x1024x128xf16>, tensor<16x1024x128xf16>)
        outs(%o : tensor<16x256x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<16x256x128xf16>
    return %r : tensor<16x256x128xf16>
  }
  func.func private @few_queries(%q: tensor<16x8x128xf16>, %k: tensor<16x64x128xf16>, %o: tensor<16x8x128xf16>) -> tensor<16x8x128xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x8x128xf16>, tensor<16x64x128xf16>, tensor<16x64x128xf16>)
        outs(%o : tensor<16x8x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<16x8x128xf16>
    return %r : tensor<16x8x128xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
// Tile registers multiply bf16, sums of more than one step of theirs.
// CHECK-LABEL: func.func private @tiles(
// CHECK-SAME: "multiplied by 'amx.m16n16k32.bf16.f32': subnormal operands count as zero, subnormal sums become zero"
// CHECK: tilewright.lowering_config<strategy = attention, block = [256, 64], thread = [32, 32], mma = "amx.m16n16k32.bf16.f32">
// CHECK-LABEL: func.func private @halves(
// CHECK: tilewright.lowering_config<strategy = attention, block = [256, 64], thread = [32, 8]>
// CHECK-LABEL: func.func private @short_sums(
// CHECK: tilewright.lowering_config<strategy = attention, block = [256, 64], thread = [32, 8]>
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4+amx-bf16", "cpu", {max_threads = 1 : i64, registers = 32 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 64 : i64, panel_mma = ["amx.m16n16k32.bf16.f32", "dot.m1n16k2.bf16.f32"]}>} {
  func.func private @tiles(%q: tensor<16x1024x128xbf16>, %k: tensor<16x1024x128xbf16>, %o: tensor<16x1024x128xbf16>) -> tensor<16x1024x128xbf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x1024x128xbf16>, tensor<16x1024x128xbf16>, tensor<16x1024x128xbf16>)
        outs(%o : tensor<16x1024x128xbf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<16x1024x128xbf16>
    return %r : tensor<16x1024x128xbf16>
  }
  func.func private @halves(%q: tensor<16x1024x128xf16>, %k: tensor<16x1024x128xf16>, %o: tensor<16x1024x128xf16>) -> tensor<16x1024x128xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x1024x128xf16>, tensor<16x1024x128xf16>, tensor<16x1024x128xf16>)
        outs(%o : tensor<16x1024x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<16x1024x128xf16>
    return %r : tensor<16x1024x128xf16>
  }
  func.func private @short_sums(%q: tensor<16x1024x32xbf16>, %k: tensor<16x1024x32xbf16>, %o: tensor<16x1024x32xbf16>) -> tensor<16x1024x32xbf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x1024x32xbf16>, tensor<16x1024x32xbf16>, tensor<16x1024x32xbf16>)
        outs(%o : tensor<16x1024x32xbf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<16x1024x32xbf16>
    return %r : tensor<16x1024x32xbf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>

// All of 77 keys in one step, without a ring.
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 128], warps = [4, 1], promote = [1], mma = "mma.m16n8k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @k(%q: tensor<2x64x64xf16>, %k: tensor<2x77x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %k : tensor<2x64x64xf16>, tensor<2x77x64xf16>, tensor<2x77x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#m = affine_map<(h, i, j, d, e) -> (i, j)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>

// Beside a mask, too.
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 128], warps = [4, 1], promote = [1], mma = "mma.m16n8k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @k(%q: tensor<2x64x64xf16>, %k: tensor<2x77x64xf16>, %m: tensor<64x77xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %k : tensor<2x64x64xf16>, tensor<2x77x64xf16>, tensor<2x77x64xf16>)
        mask(%m : tensor<64x77xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #m, #o]} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>

// Keys and values wait in registers: fewer of them in a step, which is copied beside the one before.
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 32], warps = [4, 1], stages = 2, promote = [1], mma = "mma.m16n8k8.f16.f32">
module attributes {tilewright.target = #tilewright.target<"cuda:sm_75", "nvvm", {access_bytes = 16 : i64, chip = "sm_75", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k8.f16.f32"], registers = 255 : i64, shared_memory = 65536 : i64, subgroup = 32 : i64}>} {
  func.func private @k(%q: tensor<2x64x128xf16>, %k: tensor<2x577x128xf16>, %out: tensor<2x64x128xf16>) -> tensor<2x64x128xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %k : tensor<2x64x128xf16>, tensor<2x577x128xf16>, tensor<2x577x128xf16>)
        outs(%out : tensor<2x64x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x64x128xf16>
    return %o : tensor<2x64x128xf16>
  }
}
