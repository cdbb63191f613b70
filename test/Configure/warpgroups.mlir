// Products that copy engines and warpgroups can take are theirs on sm_90a; on other
// chips, and where rows are not whole multiples of 16 bytes, mma.sync's.
//
// RUN: tilewright-compile %s --target=cuda:sm_90a --stop-after=configure -o - | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_90 --stop-after=configure -o - | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized

// CHECK-LABEL: func.func private @large_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", raster = 8, registers = [40, 232], persistent = true, cluster = [2, 1, 1], tma_store = true>}
func.func @large(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                     outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Few rows are one warpgroup's, which needs no registers of others.
// CHECK-LABEL: func.func private @narrow_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, {{[0-9]+}}, 64], warps = [4, 1, 1], stages = {{[0-9]}}, promote = [0, 1], mma = "wgmma.m64n{{[0-9]+}}k16.f16.f32", splits = {{[0-9]+}}, persistent = true, {{.*}}tma_store = true>
func.func @narrow(%a: tensor<64x8192xf16>, %b: tensor<8192x4096xf16>, %c: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x8192xf16>, tensor<8192x4096xf16>)
                     outs(%c : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %r : tensor<64x4096xf32>
}

// CHECK-LABEL: func.func private @odd_matmul_0
// CHECK-SAME: operand 1 (%b) has rows of 2046 bytes; a tensor map needs multiples of 16
// CHECK: strategy = matrix_unit
func.func @odd(%a: tensor<1024x1024xf16>, %b: tensor<1024x1023xf16>, %c: tensor<1024x1023xf32>) -> tensor<1024x1023xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf16>, tensor<1024x1023xf16>)
                     outs(%c : tensor<1024x1023xf32>) -> tensor<1024x1023xf32>
  return %r : tensor<1024x1023xf32>
}

// Bytes whose sums lie across the rows of memory go through registers: one operand can.
// CHECK-LABEL: func.func private @across_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [{{[0-9]+}}, {{[0-9]+}}, 128], warps = [1, {{[0-9]+}}, 1], stages = {{[0-9]}}, promote = [0], mma = "wgmma.m64n{{[0-9]+}}k32.s8.s32"
func.func @across(%a: tensor<1024x1024xi8>, %b: tensor<1024x1024xi8>, %c: tensor<1024x1024xi32>) -> tensor<1024x1024xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xi8>, tensor<1024x1024xi8>)
                     outs(%c : tensor<1024x1024xi32>) -> tensor<1024x1024xi32>
  return %r : tensor<1024x1024xi32>
}

// Of two such operands a kernel in front transposes one.
// CHECK-LABEL: func.func private @both_across_matmul_1
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [{{[0-9]+}}, {{[0-9]+}}, 128], warps = [{{.*}}], stages = {{[0-9]}}, promote = [{{[01]}}], mma = "wgmma.m64n{{[0-9]+}}k32.s8.s32"
func.func @both_across(%a: tensor<1024x1024xi8>, %b: tensor<1024x1024xi8>, %c: tensor<1024x1024xi32>) -> tensor<1024x1024xi32> {
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<1024x1024xi8>, tensor<1024x1024xi8>) outs(%c : tensor<1024x1024xi32>) -> tensor<1024x1024xi32>
  return %r : tensor<1024x1024xi32>
}
// Of few results, none: that takes longer.
// CHECK-LABEL: func.func private @few_across_matmul_0
// CHECK-SAME: operand 1 (%b) has its sums across the rows of memory, where only 16-bit types are read as matrices; one such operand is taken out of registers, if 'promote' leaves it out
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit
func.func @few_across(%a: tensor<128x128xi8>, %b: tensor<128x128xi8>, %c: tensor<128x128xi32>) -> tensor<128x128xi32> {
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<128x128xi8>, tensor<128x128xi8>) outs(%c : tensor<128x128xi32>) -> tensor<128x128xi32>
  return %r : tensor<128x128xi32>
}

// So do weights of four bits, which are dequantised there, by groups of rows as long as a
// step or longer.
// CHECK-LABEL: func.func private @weights_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, {{[0-9]+}}, 1, 64], warps = [1, {{[0-9]+}}, 1, 1], stages = {{[0-9]}}, promote = [0], mma = "wgmma.m64n64k16.f16.f32"
func.func @weights(%x: tensor<64x32x128xf16>, %w: tensor<32x128x4096xi4>, %s: tensor<32x4096xf16>, %c: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %e = tensor.empty() : tensor<32x128x4096xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(g, k, n) -> (g, k, n)>, affine_map<(g, k, n) -> (g, n)>, affine_map<(g, k, n) -> (g, k, n)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %s : tensor<32x128x4096xi4>, tensor<32x4096xf16>) outs(%e : tensor<32x128x4096xf16>) {
  ^bb0(%q: i4, %scale: f16, %out: f16):
    %0 = arith.sitofp %q : i4 to f16
    %1 = arith.mulf %0, %scale : f16
    linalg.yield %1 : f16
  } -> tensor<32x128x4096xf16>
  %r = linalg.contract indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (g, k, n)>, affine_map<(m, n, g, k) -> (m, n)>]
      ins(%x, %d : tensor<64x32x128xf16>, tensor<32x128x4096xf16>) outs(%c : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %r : tensor<64x4096xf32>
}

// The windows of an image overlap in memory; pixels of the result are rows of one product,
// gathered by a tensor map of images, in the variant whose rows are promised to be aligned.
// CHECK-LABEL: func.func private @image_matmul_0_im2col
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [
// CHECK-LABEL: func.func private @image_matmul_0(
// CHECK-SAME: operand 0 is a window of a larger tensor, which may begin anywhere
// CHECK: strategy = matrix_unit
func.func @image(%x: tensor<1x30x66x64xf16>, %w: tensor<3x3x64x128xf16>, %c: tensor<1x28x64x128xf32>) -> tensor<1x28x64x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x30x66x64xf16>, tensor<3x3x64x128xf16>) outs(%c : tensor<1x28x64x128xf32>) -> tensor<1x28x64x128xf32>
  return %r : tensor<1x28x64x128xf32>
}

// CHECK-LABEL: func.func private @images_matmul_0_im2col
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [
func.func @images(%x: tensor<4x30x66x64xf16>, %w: tensor<3x3x64x128xf16>, %c: tensor<4x28x64x128xf32>) -> tensor<4x28x64x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<4x30x66x64xf16>, tensor<3x3x64x128xf16>) outs(%c : tensor<4x28x64x128xf32>) -> tensor<4x28x64x128xf32>
  return %r : tensor<4x28x64x128xf32>
}

// A residual of 16 bits comes by copy engines, too, through the memory that the result leaves through: no stage less.
// CHECK-LABEL: func.func private @residual_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.bf16.f32", raster = 8, registers = [40, 232], persistent = true, cluster = [2, 1, 1], tma_store = true>}
func.func @residual(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %r: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%z : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %o = tensor.empty() : tensor<4096x4096xbf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%p, %r : tensor<4096x4096xf32>, tensor<4096x4096xbf16>) outs(%o : tensor<4096x4096xbf16>) {
  ^bb0(%x: f32, %y: bf16, %out: bf16):
    %0 = arith.extf %y : bf16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<4096x4096xbf16>
  return %s : tensor<4096x4096xbf16>
}
