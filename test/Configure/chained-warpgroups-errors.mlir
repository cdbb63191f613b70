// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics

// What stands against a pinned config of two products by warpgroups.

#id = affine_map<(i, j) -> (i, j)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 256], warps = [4, 1, 1], stages = 2, promote = [1],
    mma = "wgmma.m64n128k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n256k16.f16.f32"]}>} {
  func.func private @TooWide(%a: tensor<512x512xf16>, %b: tensor<512x300xf16>, %c: tensor<300x128xf16>, %o: tensor<512x128xf32>) -> tensor<512x128xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<512x300xf32>
    %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x300xf32>) -> tensor<512x300xf32>
    %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x300xf16>) outs(%zp : tensor<512x300xf32>) -> tensor<512x300xf32>
    %eh = tensor.empty() : tensor<512x300xf16>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x300xf32>) outs(%eh : tensor<512x300xf16>) {
    ^bb0(%x: f32, %out: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<512x300xf16>
    %er = tensor.empty() : tensor<512x128xf32>
    %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x128xf32>) -> tensor<512x128xf32>
    // expected-error @+1 {{the pinned lowering config does not fit: the first product has 300 columns; registers have room for all of up to 256 of them, beside the second product's}}
    %r = linalg.matmul {tilewright.lowering_config = #config} ins(%h, %c : tensor<512x300xf16>, tensor<300x128xf16>) outs(%zr : tensor<512x128xf32>) -> tensor<512x128xf32>
    return %r : tensor<512x128xf32>
  }
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 2, promote = [1],
    mma = "wgmma.m64n128k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n256k16.f16.f32"]}>} {
  func.func private @NotAllBetween(%a: tensor<512x512xf16>, %b: tensor<512x128xf16>, %c: tensor<128x128xf16>, %o: tensor<512x128xf32>) -> tensor<512x128xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<512x128xf32>
    %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x128xf32>) -> tensor<512x128xf32>
    %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x128xf16>) outs(%zp : tensor<512x128xf32>) -> tensor<512x128xf32>
    %eh = tensor.empty() : tensor<512x128xf16>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x128xf32>) outs(%eh : tensor<512x128xf16>) {
    ^bb0(%x: f32, %out: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<512x128xf16>
    %er = tensor.empty() : tensor<512x128xf32>
    %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x128xf32>) -> tensor<512x128xf32>
    // expected-error @+1 {{the pinned lowering config does not fit: 'block' has 64 of the first product's 128 columns; it must have all, and 16, 32, 64, 128 or 256}}
    %r = linalg.matmul {tilewright.lowering_config = #config} ins(%h, %c : tensor<512x128xf16>, tensor<128x128xf16>) outs(%zr : tensor<512x128xf32>) -> tensor<512x128xf32>
    return %r : tensor<512x128xf32>
  }
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 2, promote = [1],
    mma = "wgmma.m64n128k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n256k16.f16.f32"]}>} {
  func.func private @NotAllColumns(%a: tensor<512x512xf16>, %b: tensor<512x64xf16>, %c: tensor<64x256xf16>, %o: tensor<512x256xf32>) -> tensor<512x256xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<512x64xf32>
    %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x64xf32>) -> tensor<512x64xf32>
    %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x64xf16>) outs(%zp : tensor<512x64xf32>) -> tensor<512x64xf32>
    %eh = tensor.empty() : tensor<512x64xf16>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x64xf32>) outs(%eh : tensor<512x64xf16>) {
    ^bb0(%x: f32, %out: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<512x64xf16>
    %er = tensor.empty() : tensor<512x256xf32>
    %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x256xf32>) -> tensor<512x256xf32>
    // expected-error @+1 {{the pinned lowering config does not fit: the tile has 128 of the result's columns; without all of them the first product would be computed again}}
    %r = linalg.matmul {tilewright.lowering_config = #config} ins(%h, %c : tensor<512x64xf16>, tensor<64x256xf16>) outs(%zr : tensor<512x256xf32>) -> tensor<512x256xf32>
    return %r : tensor<512x256xf32>
  }
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1],
    mma = "wgmma.m64n128k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n256k16.f16.f32"]}>} {
  func.func private @BothThroughMemory(%a: tensor<512x512xf16>, %b: tensor<512x64xf16>, %c: tensor<64x128xf16>, %o: tensor<512x128xf32>) -> tensor<512x128xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<512x64xf32>
    %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x64xf32>) -> tensor<512x64xf32>
    %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x64xf16>) outs(%zp : tensor<512x64xf32>) -> tensor<512x64xf32>
    %eh = tensor.empty() : tensor<512x64xf16>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x64xf32>) outs(%eh : tensor<512x64xf16>) {
    ^bb0(%x: f32, %out: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<512x64xf16>
    %er = tensor.empty() : tensor<512x128xf32>
    %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x128xf32>) -> tensor<512x128xf32>
    // expected-error @+1 {{the pinned lowering config does not fit: 'promote' must be [1]: what the first product becomes is an operand in registers, the other one comes from memory}}
    %r = linalg.matmul {tilewright.lowering_config = #config} ins(%h, %c : tensor<512x64xf16>, tensor<64x128xf16>) outs(%zr : tensor<512x128xf32>) -> tensor<512x128xf32>
    return %r : tensor<512x128xf32>
  }
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 2, promote = [1],
    mma = "wgmma.m64n128k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n256k16.f16.f32"]}>} {
  func.func private @UnalignedRows(%a: tensor<512x500xf16>, %b: tensor<500x64xf16>, %c: tensor<64x128xf16>, %o: tensor<512x128xf32>) -> tensor<512x128xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<512x64xf32>
    %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x64xf32>) -> tensor<512x64xf32>
    %p = linalg.matmul ins(%a, %b : tensor<512x500xf16>, tensor<500x64xf16>) outs(%zp : tensor<512x64xf32>) -> tensor<512x64xf32>
    %eh = tensor.empty() : tensor<512x64xf16>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x64xf32>) outs(%eh : tensor<512x64xf16>) {
    ^bb0(%x: f32, %out: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<512x64xf16>
    %er = tensor.empty() : tensor<512x128xf32>
    %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x128xf32>) -> tensor<512x128xf32>
    // expected-error @+1 {{the pinned lowering config does not fit: operand 0 of the first product has rows of 1000 bytes; a tensor map needs multiples of 16}}
    %r = linalg.matmul {tilewright.lowering_config = #config} ins(%h, %c : tensor<512x64xf16>, tensor<64x128xf16>) outs(%zr : tensor<512x128xf32>) -> tensor<512x128xf32>
    return %r : tensor<512x128xf32>
  }
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [1, 4, 1], stages = 2, promote = [0],
    mma = "wgmma.m64n64k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n256k16.f16.f32"]}>} {
  func.func private @AlongColumns(%a: tensor<512x512xf16>, %b: tensor<512x64xf16>, %c: tensor<64x128xf16>, %o: tensor<512x128xf32>) -> tensor<512x128xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<512x64xf32>
    %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x64xf32>) -> tensor<512x64xf32>
    %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x64xf16>) outs(%zp : tensor<512x64xf32>) -> tensor<512x64xf32>
    %eh = tensor.empty() : tensor<512x64xf16>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x64xf32>) outs(%eh : tensor<512x64xf16>) {
    ^bb0(%x: f32, %out: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<512x64xf16>
    %er = tensor.empty() : tensor<512x128xf32>
    %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x128xf32>) -> tensor<512x128xf32>
    // expected-error @+1 {{the pinned lowering config does not fit: warpgroups lie along the columns, and what the first product becomes is the second's rows}}
    %r = linalg.matmul {tilewright.lowering_config = #config} ins(%h, %c : tensor<512x64xf16>, tensor<64x128xf16>) outs(%zr : tensor<512x128xf32>) -> tensor<512x128xf32>
    return %r : tensor<512x128xf32>
  }
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 2, promote = [1],
    mma = "wgmma.m64n128k16.f16.f32", cluster = [1, 2, 1]>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n256k16.f16.f32"]}>} {
  func.func private @Cluster(%a: tensor<512x512xf16>, %b: tensor<512x64xf16>, %c: tensor<64x128xf16>, %o: tensor<512x128xf32>) -> tensor<512x128xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<512x64xf32>
    %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x64xf32>) -> tensor<512x64xf32>
    %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x64xf16>) outs(%zp : tensor<512x64xf32>) -> tensor<512x64xf32>
    %eh = tensor.empty() : tensor<512x64xf16>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x64xf32>) outs(%eh : tensor<512x64xf16>) {
    ^bb0(%x: f32, %out: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<512x64xf16>
    %er = tensor.empty() : tensor<512x128xf32>
    %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x128xf32>) -> tensor<512x128xf32>
    // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 2 blocks along loop 1, which has one tile}}
    %r = linalg.matmul {tilewright.lowering_config = #config} ins(%h, %c : tensor<512x64xf16>, tensor<64x128xf16>) outs(%zr : tensor<512x128xf32>) -> tensor<512x128xf32>
    return %r : tensor<512x128xf32>
  }
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 2, promote = [1],
    mma = "wgmma.m64n128k16.f16.f32", producer = false>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n256k16.f16.f32"]}>} {
  func.func private @NoProducer(%a: tensor<512x512xf16>, %b: tensor<512x64xf16>, %c: tensor<64x128xf16>, %o: tensor<512x128xf32>) -> tensor<512x128xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<512x64xf32>
    %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x64xf32>) -> tensor<512x64xf32>
    %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x64xf16>) outs(%zp : tensor<512x64xf32>) -> tensor<512x64xf32>
    %eh = tensor.empty() : tensor<512x64xf16>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x64xf32>) outs(%eh : tensor<512x64xf16>) {
    ^bb0(%x: f32, %out: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<512x64xf16>
    %er = tensor.empty() : tensor<512x128xf32>
    %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x128xf32>) -> tensor<512x128xf32>
    // expected-error @+1 {{the pinned lowering config does not fit: 'producer' is for kernels of one product, and this one has two}}
    %r = linalg.matmul {tilewright.lowering_config = #config} ins(%h, %c : tensor<512x64xf16>, tensor<64x128xf16>) outs(%zr : tensor<512x128xf32>) -> tensor<512x128xf32>
    return %r : tensor<512x128xf32>
  }
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 256], warps = [4, 1, 1], stages = 2, promote = [1],
    mma = "wgmma.m64n256k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n256k16.f16.f32"]}>} {
  func.func private @Registers(%a: tensor<512x512xf16>, %b: tensor<512x256xf16>, %c: tensor<256x256xf16>, %o: tensor<512x256xf32>) -> tensor<512x256xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<512x256xf32>
    %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x256xf32>) -> tensor<512x256xf32>
    %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x256xf16>) outs(%zp : tensor<512x256xf32>) -> tensor<512x256xf32>
    %eh = tensor.empty() : tensor<512x256xf16>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x256xf32>) outs(%eh : tensor<512x256xf16>) {
    ^bb0(%x: f32, %out: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<512x256xf16>
    %er = tensor.empty() : tensor<512x256xf32>
    %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x256xf32>) -> tensor<512x256xf32>
    // expected-error @+1 {{the pinned lowering config does not fit: a thread has 384 registers of sums of two products and of an operand and needs 40 registers beside them, but has 255}}
    %r = linalg.matmul {tilewright.lowering_config = #config} ins(%h, %c : tensor<512x256xf16>, tensor<256x256xf16>) outs(%zr : tensor<512x256xf32>) -> tensor<512x256xf32>
    return %r : tensor<512x256xf32>
  }
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 256, 256], warps = [4, 1, 1], stages = 3, promote = [1],
    mma = "wgmma.m64n256k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n256k16.f16.f32"]}>} {
  func.func private @SharedMemory(%a: tensor<512x512xf16>, %b: tensor<512x256xf16>, %c: tensor<256x256xf16>, %o: tensor<512x256xf32>) -> tensor<512x256xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<512x256xf32>
    %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x256xf32>) -> tensor<512x256xf32>
    %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x256xf16>) outs(%zp : tensor<512x256xf32>) -> tensor<512x256xf32>
    %eh = tensor.empty() : tensor<512x256xf16>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x256xf32>) outs(%eh : tensor<512x256xf16>) {
    ^bb0(%x: f32, %out: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<512x256xf16>
    %er = tensor.empty() : tensor<512x256xf32>
    %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x256xf32>) -> tensor<512x256xf32>
    // expected-error @+1 {{the pinned lowering config does not fit: needs 254016 bytes of shared memory but test has 232448}}
    %r = linalg.matmul {tilewright.lowering_config = #config} ins(%h, %c : tensor<512x256xf16>, tensor<256x256xf16>) outs(%zr : tensor<512x256xf32>) -> tensor<512x256xf32>
    return %r : tensor<512x256xf32>
  }
}
