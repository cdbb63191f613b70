// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -tilewright-configure

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @rows(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: warps of attention lie along the rows of a block, [w, 1] or [w, 1, 1], so that what is reduced along the keys stays in a warp}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [2, 2]>} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @large(%q: tensor<2x64x256xf32>, %out: tensor<2x64x256xf32>) -> tensor<2x64x256xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: needs 196096 bytes of shared memory; the target has 166912}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x256xf32>, tensor<2x64x256xf32>, tensor<2x64x256xf32>)
        outs(%out : tensor<2x64x256xf32>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 128], warps = [4, 1], promote = [0, 1]>} -> tensor<2x64x256xf32>
    return %o : tensor<2x64x256xf32>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @field(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'persistent' is for attention by warpgroups ('mma' is a wgmma.…); leave it out}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], persistent = true>} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @shared(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: strategy attention does not carry out 'stream_k' on GPUs; warp_specialized does: leave it out}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], stream_k = 4>} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @whole(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'splits' is 4 but the kernel takes the keys whole; parts are made in front of kernels, by a config on the op}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], splits = 4>} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(p, i, j, d, e) -> (i, d)>
#k = affine_map<(p, i, j, d, e) -> (j, d)>
#v = affine_map<(p, i, j, d, e) -> (j, e)>
#o = affine_map<(p, i, j, d, e) -> (p, i, e)>
#l = affine_map<(p, i, j, d, e) -> (p, i)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @long_blocks(%q: tensor<16x64xf16>, %k: tensor<4096x64xf16>, %out: tensor<4x16x64xf32>, %lse: tensor<4x16xf32>) -> (tensor<4x16x64xf32>, tensor<4x16xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: parts of the keys are multiples of 128 long, which is none of the block's 256 keys}}
    %o:2 = tilewright.attention ins(%q, %k, %k : tensor<16x64xf16>, tensor<4096x64xf16>, tensor<4096x64xf16>)
        outs(%out, %lse : tensor<4x16x64xf32>, tensor<4x16xf32>) {indexing_maps = [#q, #k, #v, #o, #l], key_parts = 128 : i64,
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [16, 256], warps = [1, 1], splits = 4>} -> tensor<4x16x64xf32>, tensor<4x16xf32>
    return %o#0, %o#1 : tensor<4x16x64xf32>, tensor<4x16xf32>
  }
}

// -----

#q = affine_map<(p, i, j, d, e) -> (i, d)>
#k = affine_map<(p, i, j, d, e) -> (j, d)>
#v = affine_map<(p, i, j, d, e) -> (j, e)>
#o = affine_map<(p, i, j, d, e) -> (p, i, e)>
#l = affine_map<(p, i, j, d, e) -> (p, i)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @more_parts_than_keys(%q: tensor<16x64xf16>, %k: tensor<300x64xf16>, %out: tensor<4x16x64xf32>, %lse: tensor<4x16xf32>) -> (tensor<4x16x64xf32>, tensor<4x16xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'splits' is 4, but the 300 keys are 3 times 128, of which a partition has one at least}}
    %o:2 = tilewright.attention ins(%q, %k, %k : tensor<16x64xf16>, tensor<300x64xf16>, tensor<300x64xf16>)
        outs(%out, %lse : tensor<4x16x64xf32>, tensor<4x16xf32>) {indexing_maps = [#q, #k, #v, #o, #l], key_parts = 128 : i64,
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [16, 64], warps = [1, 1], splits = 4>} -> tensor<4x16x64xf32>, tensor<4x16xf32>
    return %o#0, %o#1 : tensor<4x16x64xf32>, tensor<4x16xf32>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4", "cpu", {max_threads = 1 : i64, registers = 32 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 64 : i64}>} {
  func.func private @panels_of_three(%q: tensor<16x1024x128xf32>, %k: tensor<16x1024x128xf32>, %o: tensor<16x1024x128xf32>) -> tensor<16x1024x128xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'thread' of attention is a panel of queries and the rows of a register tile, [32, 8], powers of two}}
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x1024x128xf32>, tensor<16x1024x128xf32>, tensor<16x1024x128xf32>)
        outs(%o : tensor<16x1024x128xf32>) {indexing_maps = [#q, #k, #v, #o], tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], thread = [24, 8]>} -> tensor<16x1024x128xf32>
    return %r : tensor<16x1024x128xf32>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4", "cpu", {max_threads = 1 : i64, registers = 32 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 64 : i64}>} {
  func.func private @panels_of_more_than_blocks(%q: tensor<16x1024x128xf32>, %k: tensor<16x1024x128xf32>, %o: tensor<16x1024x128xf32>) -> tensor<16x1024x128xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'block' of attention is no multiple of its 'thread', or its keys no power of two}}
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x1024x128xf32>, tensor<16x1024x128xf32>, tensor<16x1024x128xf32>)
        outs(%o : tensor<16x1024x128xf32>) {indexing_maps = [#q, #k, #v, #o], tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [16, 64], thread = [32, 8]>} -> tensor<16x1024x128xf32>
    return %r : tensor<16x1024x128xf32>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4", "cpu", {max_threads = 1 : i64, registers = 32 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 64 : i64}>} {
  func.func private @panels_of_much(%q: tensor<16x1024x128xf32>, %k: tensor<16x1024x128xf32>, %o: tensor<16x1024x128xf32>) -> tensor<16x1024x128xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: needs 1384448 bytes of a thread's memory, of which there are 1048576}}
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x1024x128xf32>, tensor<16x1024x128xf32>, tensor<16x1024x128xf32>)
        outs(%o : tensor<16x1024x128xf32>) {indexing_maps = [#q, #k, #v, #o], tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [1024, 256], thread = [64, 8]>} -> tensor<16x1024x128xf32>
    return %r : tensor<16x1024x128xf32>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4+amx-bf16", "cpu", {max_threads = 1 : i64, registers = 32 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 64 : i64, panel_mma = ["amx.m16n16k32.bf16.f32", "dot.m1n16k2.bf16.f32"]}>} {
  func.func private @tiles_of_halves(%q: tensor<16x1024x64xf16>, %k: tensor<16x1024x64xf16>, %o: tensor<16x1024x64xf16>) -> tensor<16x1024x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: amx.m16n16k32.bf16.f32 is no instruction of the target that multiplies tiles of these types}}
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x1024x64xf16>, tensor<16x1024x64xf16>, tensor<16x1024x64xf16>)
        outs(%o : tensor<16x1024x64xf16>) {indexing_maps = [#q, #k, #v, #o], tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], thread = [32, 32], mma = "amx.m16n16k32.bf16.f32">} -> tensor<16x1024x64xf16>
    return %r : tensor<16x1024x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4+amx-bf16", "cpu", {max_threads = 1 : i64, registers = 32 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 64 : i64, panel_mma = ["amx.m16n16k32.bf16.f32", "dot.m1n16k2.bf16.f32"]}>} {
  func.func private @five_tiles(%q: tensor<16x1024x64xbf16>, %k: tensor<16x1024x64xbf16>, %o: tensor<16x1024x64xbf16>) -> tensor<16x1024x64xbf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'thread' is at most four tiles of amx.m16n16k32.bf16.f32, and the keys of 'block' whole steps of it}}
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x1024x64xbf16>, tensor<16x1024x64xbf16>, tensor<16x1024x64xbf16>)
        outs(%o : tensor<16x1024x64xbf16>) {indexing_maps = [#q, #k, #v, #o], tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [128, 64], thread = [128, 32], mma = "amx.m16n16k32.bf16.f32">} -> tensor<16x1024x64xbf16>
    return %r : tensor<16x1024x64xbf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4+amx-bf16", "cpu", {max_threads = 1 : i64, registers = 32 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 64 : i64, panel_mma = ["amx.m16n16k32.bf16.f32", "dot.m1n16k2.bf16.f32"]}>} {
  func.func private @short_tiles(%q: tensor<16x1024x32xbf16>, %k: tensor<16x1024x32xbf16>, %o: tensor<16x1024x32xbf16>) -> tensor<16x1024x32xbf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: the sums of amx.m16n16k32.bf16.f32 are no longer than a step of it}}
    %r = tilewright.attention ins(%q, %k, %k : tensor<16x1024x32xbf16>, tensor<16x1024x32xbf16>, tensor<16x1024x32xbf16>)
        outs(%o : tensor<16x1024x32xbf16>) {indexing_maps = [#q, #k, #v, #o], tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], thread = [32, 32], mma = "amx.m16n16k32.bf16.f32">} -> tensor<16x1024x32xbf16>
    return %r : tensor<16x1024x32xbf16>
  }
}

// -----

#q = affine_map<(h, g, i, j, d, e) -> (i, h, g, d)>
#k = affine_map<(h, g, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, g, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, g, i, j, d, e) -> (i, h, g, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @three_heads(%q: tensor<3x8x4x64xf16>, %k: tensor<8x512x64xf16>, %out: tensor<3x8x4x64xf16>) -> tensor<3x8x4x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'block' has 3 heads; heads and their queries are powers of two}}
    %o = tilewright.attention ins(%q, %k, %k : tensor<3x8x4x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>)
        outs(%out : tensor<3x8x4x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [3, 4, 64]>} -> tensor<3x8x4x64xf16>
    return %o : tensor<3x8x4x64xf16>
  }
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @heads_of_none(%q: tensor<8x64x64xf16>, %out: tensor<8x64x64xf16>) -> tensor<8x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'block' has 4 heads but none share keys and values}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<8x64x64xf16>, tensor<8x64x64xf16>, tensor<8x64x64xf16>)
        outs(%out : tensor<8x64x64xf16>) {indexing_maps = [affine_map<(h, i, j, d, e) -> (h, i, d)>, affine_map<(h, i, j, d, e) -> (h, j, d)>,
          affine_map<(h, i, j, d, e) -> (h, j, e)>, affine_map<(h, i, j, d, e) -> (h, i, e)>],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [4, 4, 64]>} -> tensor<8x64x64xf16>
    return %o : tensor<8x64x64xf16>
  }
}

// -----

#q = affine_map<(i, j, d, e) -> (i, d)>
#k = affine_map<(i, j, d, e) -> (j, d)>
#v = affine_map<(i, j, d, e) -> (j, e)>
#o = affine_map<(i, j, d, e) -> (i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @raster(%q: tensor<64x64xf16>, %out: tensor<64x64xf16>) -> tensor<64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'raster' is for heads side by side; there is one, leave it out}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>)
        outs(%out : tensor<64x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], promote = [0, 1], mma = "mma.m16n8k16.f16.f32", raster = 2>} -> tensor<64x64xf16>
    return %o : tensor<64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @one_operand_of_fma(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'promote' has [1]; attention has [0, 1], queries, keys and values in shared memory}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [32, 32], warps = [4, 1], promote = [1]>} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @twice(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'promote' has [1, 1]; attention has [0, 1], queries, keys and values in shared memory, or [1], queries in registers}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], promote = [1, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @stages_of_fma(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'stages' is 2, but attention by FMA loads keys and values when it needs them; leave it out}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [32, 32], warps = [4, 1], stages = 2, promote = [0, 1]>} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @stages_without_copies(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'stages' is 3, but without asynchronous copies, which cuda:sm_80 does not have, there are at most 2}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 32], warps = [4, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @registers_of_fma(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: needs 346 registers per thread; the target has 255}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [1, 1], promote = [0, 1]>} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @tiles_of_warps(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'block' has 32 queries and 64 keys, which is no multiple of the instruction's 16 x 8 x 16 on each of 4 warps}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [32, 64], warps = [4, 1], promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}

// -----

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4", "cpu", {max_threads = 1 : i64, registers = 32 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 64 : i64}>} {
  func.func private @code_of_cpu(%q: tensor<2x64x64xf32>, %out: tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: 'block' has 1048576 queries and 1048576 keys, a register tile of more than 1024 vectors; with 'thread' a block has several tiles}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf32>, tensor<2x64x64xf32>, tensor<2x64x64xf32>)
        outs(%out : tensor<2x64x64xf32>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [1048576, 1048576]>} -> tensor<2x64x64xf32>
    return %o : tensor<2x64x64xf32>
  }
}
