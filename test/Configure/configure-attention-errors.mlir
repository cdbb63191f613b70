// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -tilewright-configure

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @rows(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    // expected-error @below {{the pinned lowering config does not fit: warps of attention lie along the queries, [w, 1], so that what is reduced along the keys stays in a warp}}
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
    // expected-error @below {{the pinned lowering config does not fit: needs 223744 bytes of shared memory; the target has 166912}}
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x256xf32>, tensor<2x64x256xf32>, tensor<2x64x256xf32>)
        outs(%out : tensor<2x64x256xf32>) {indexing_maps = [#q, #k, #v, #o],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1]>} -> tensor<2x64x256xf32>
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
    // expected-error @below {{the pinned lowering config does not fit: 'persistent' is of other strategies; leave it out}}
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
