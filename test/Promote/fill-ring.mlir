// Rings that the warps fill that multiply, and rings that threads fill instead of copy engines.

// RUN: tilewright-opt %s -split-input-file -tilewright-promote | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], stages = 3, promote = [0, 1],
    mma = "wgmma.m64n128k16.bf16.f32", warps = [8, 1, 1], producer = false>

// Without a producer: one warp fills two of three stages in front of the loop, which nobody has used, and in each step, behind
// the release of the stage before, the stage two steps ahead.
// CHECK-LABEL: @alone
// CHECK-SAME: filled by one of the warps that multiply, through tensor maps, multiplied by 2 warpgroups
// CHECK: %[[RING:.*]] = tilewright.ring : <3,
// CHECK-NOT: tilewright.warps
// CHECK: tilewright.warps[0, 8] {
// CHECK-NOT: set_registers
// CHECK: %[[STEPS:.*]] = arith.constant 8 : index
// CHECK: tilewright.warps[0, 1] {
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[FIRST:.*]] = arith.minsi %[[STEPS]], %[[TWO]]
// CHECK: scf.for %[[P:[^ ]*]] = %{{.*}} to %[[FIRST]] step
// CHECK: tilewright.acquire %[[RING]][%[[P]]] {known_empty} :
// CHECK-COUNT-2: tilewright.tile_copy {{.*}}{map =
// CHECK: tilewright.fill %[[RING]][%[[P]]]
// CHECK: %[[SUM:.*]] = scf.for %[[P:[^ ]*]] = %{{.*}} to %[[STEPS]] step
// CHECK-NEXT: %[[FULL:.*]]:2 = tilewright.wait %[[RING]][%[[P]]]
// CHECK-NEXT: tilewright.mma %[[FULL]]#0, %[[FULL]]#1
// CHECK-NEXT: tilewright.mma_wait 1
// CHECK: tilewright.release %[[RING]]
// CHECK: tilewright.warps[0, 1] {
// CHECK: %[[NEXT:.*]] = arith.addi %[[P]], %{{.*}}
// CHECK-NEXT: %[[IS_STEP:.*]] = arith.cmpi slt, %[[NEXT]], %[[STEPS]]
// CHECK-NEXT: scf.if %[[IS_STEP]] {
// CHECK: tilewright.acquire %[[RING]][%[[NEXT]]] :
// CHECK-COUNT-2: tilewright.tile_copy
// CHECK: tilewright.fill %[[RING]][%[[NEXT]]]
// CHECK: scf.yield
// CHECK: tilewright.mma_wait 0(%[[SUM]] :
func.func private @alone(%a: memref<1024x512xbf16>, %b: memref<512x1024xbf16>, %c: memref<1024x1024xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (8, 8)>>} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %t:2 = tilewright.tile_id(%c8, %c8) : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %r = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (vector<128x128xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<1024x512xbf16>, vector<128x64xbf16>
    %vb = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, true]} : memref<512x1024xbf16>, vector<64x128xbf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #kn, #mn]}
        : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32>
    scf.yield %n : vector<128x128xf32>
  }
  vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<128x128xf32>, memref<1024x1024xf32>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], stages = 3, promote = [0, 1],
    mma = "wgmma.m64n128k16.bf16.f32", warps = [8, 1, 1], registers = [40, 232], tma_copy = false>

// Threads that copy: all warps of the producer.
// CHECK-LABEL: @by_threads
// CHECK-SAME: filled by a warpgroup's threads, 16 bytes at a time, multiplied by 2 warpgroups
// CHECK: tilewright.warps[8, 4] {
// CHECK-NEXT: tilewright.set_registers 40
// CHECK-NOT: tilewright.warps
// CHECK: tilewright.acquire
// CHECK-COUNT-2: tilewright.tile_copy {{.*}}{by_threads, map =
// CHECK: tilewright.fill
// CHECK: tilewright.warps[0, 8] {
func.func private @by_threads(%a: memref<1024x512xbf16>, %b: memref<512x1024xbf16>, %c: memref<1024x1024xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 384, subgroup = 32, tiles = affine_map<() -> (8, 8)>>} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %t:2 = tilewright.tile_id(%c8, %c8) : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %r = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (vector<128x128xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<1024x512xbf16>, vector<128x64xbf16>
    %vb = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, true]} : memref<512x1024xbf16>, vector<64x128xbf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #kn, #mn]}
        : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32>
    scf.yield %n : vector<128x128xf32>
  }
  vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<128x128xf32>, memref<1024x1024xf32>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], stages = 3, promote = [0, 1],
    mma = "wgmma.m64n128k16.bf16.f32", warps = [8, 1, 1], producer = false, tma_copy = false>

// Neither: all warps copy, and multiply.
// CHECK-LABEL: @alone_by_threads
// CHECK-SAME: filled by all threads that multiply, 16 bytes at a time, multiplied by 2 warpgroups
// CHECK: tilewright.warps[0, 8] {
// CHECK-NOT: tilewright.warps
// CHECK: tilewright.acquire
// CHECK-COUNT-2: tilewright.tile_copy {{.*}}{by_threads, map =
// CHECK: scf.for {{.*}} iter_args
// CHECK: tilewright.release
// CHECK-NOT: tilewright.warps
// CHECK: scf.if
// CHECK: tilewright.acquire
// CHECK-COUNT-2: tilewright.tile_copy {{.*}}{by_threads, map =
// CHECK: tilewright.mma_wait 0
func.func private @alone_by_threads(%a: memref<1024x512xbf16>, %b: memref<512x1024xbf16>, %c: memref<1024x1024xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (8, 8)>>} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %t:2 = tilewright.tile_id(%c8, %c8) : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %r = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (vector<128x128xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<1024x512xbf16>, vector<128x64xbf16>
    %vb = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, true]} : memref<512x1024xbf16>, vector<64x128xbf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #kn, #mn]}
        : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32>
    scf.yield %n : vector<128x128xf32>
  }
  vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<128x128xf32>, memref<1024x1024xf32>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], stages = 3, promote = [0, 1],
    mma = "wgmma.m64n128k16.bf16.f32", warps = [4, 1, 1], producer = false>

// One warpgroup's wait for its products says that a stage is empty: none is released.
// CHECK-LABEL: @one_warpgroup
// CHECK: tilewright.warps[0, 4] {
// CHECK: tilewright.acquire %{{.*}} {known_empty} :
// CHECK: scf.for {{.*}} iter_args
// CHECK: tilewright.mma_wait 1
// CHECK-NOT: tilewright.release
// CHECK: tilewright.acquire %{{.*}} {known_empty} :
// CHECK: tilewright.mma_wait 0
// CHECK-NOT: tilewright.release
// CHECK: return
func.func private @one_warpgroup(%a: memref<1024x512xbf16>, %b: memref<512x1024xbf16>, %c: memref<1024x1024xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (16, 8)>>} {
  %zero = arith.constant dense<0.0> : vector<64x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %t:2 = tilewright.tile_id(%c16, %c8) : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %r = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (vector<64x128xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<1024x512xbf16>, vector<64x64xbf16>
    %vb = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, true]} : memref<512x1024xbf16>, vector<64x128xbf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #kn, #mn]}
        : vector<64x64xbf16>, vector<64x128xbf16>, vector<64x128xf32>
    scf.yield %n : vector<64x128xf32>
  }
  vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<64x128xf32>, memref<1024x1024xf32>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], stages = 3, promote = [0, 1],
    mma = "mma.m16n8k16.bf16.f32", warps = [2, 2, 1], producer = false>

// An instruction of a warp has read a stage when its step ends; the next step fills it.
// CHECK-LABEL: @warps
// CHECK: tilewright.warps[0, 4] {
// CHECK: tilewright.warps[0, 1] {
// CHECK: tilewright.fill
// CHECK: %{{.*}}:3 = scf.for %[[P:[^ ]*]] =
// CHECK-NEXT: tilewright.warps[0, 1] {
// CHECK: %[[NEXT:.*]] = arith.addi %[[P]]
// CHECK: scf.if
// CHECK: tilewright.acquire %{{.*}}[%[[NEXT]]]
// CHECK: tilewright.fill %{{.*}}[%[[NEXT]]]
// CHECK: tilewright.wait %{{.*}}[%[[P]]]
// CHECK: tilewright.release %{{.*}}[%[[P]]]
func.func private @warps(%a: memref<1024x512xbf16>, %b: memref<512x1024xbf16>, %c: memref<1024x1024xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (8, 8)>>} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %t:2 = tilewright.tile_id(%c8, %c8) : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %r = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (vector<128x128xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<1024x512xbf16>, vector<128x64xbf16>
    %vb = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, true]} : memref<512x1024xbf16>, vector<64x128xbf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "mma.m16n8k16.bf16.f32", maps = [#mk, #kn, #mn]}
        : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32>
    scf.yield %n : vector<128x128xf32>
  }
  vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<128x128xf32>, memref<1024x1024xf32>
  return
}
