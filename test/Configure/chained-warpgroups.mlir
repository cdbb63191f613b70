// Two products in one kernel, by warpgroups where the rows fill the device, and where a pinned config says so; elsewhere, and
// where the first has short rows, by mma.sync as before.
//
// RUN: tilewright-compile %s --target=cuda:sm_90a --stop-after=configure -o - | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_90 --stop-after=configure -o - | FileCheck %s --check-prefix=PLAIN

#id = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func private @long_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [{{[0-9]+}}, 256, 128], warps = [{{[0-9]}}, 1, 1], stages = {{[0-9]}}, promote = [1], mma = "wgmma.m64n256k16.f16.f32", {{.*}}persistent = true, {{.*}}tma_store = true>}
// PLAIN: func.func private @long_matmul_0
// PLAIN: func.func private @long_matmul_1
// PLAIN-SAME: the product of a product cannot be computed in the kernel of the latter: a block would read rows of 1024 elements again for each tile of them, which pays up to 256; cuda:sm_90 has no warpgroups that keep all of a result
func.func @long(%a: tensor<8192x1024xf16>, %b: tensor<1024x128xf16>, %bias: tensor<128xf32>, %c: tensor<128x256xf16>) -> tensor<8192x256xf32> {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<8192x128xf32>
  %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<8192x128xf32>) -> tensor<8192x128xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8192x1024xf16>, tensor<1024x128xf16>) outs(%zp : tensor<8192x128xf32>) -> tensor<8192x128xf32>
  %eh = tensor.empty() : tensor<8192x128xf16>
  %h = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<8192x128xf32>, tensor<128xf32>) outs(%eh : tensor<8192x128xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<8192x128xf16>
  %er = tensor.empty() : tensor<8192x256xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8192x256xf32>) -> tensor<8192x256xf32>
  %r = linalg.matmul ins(%h, %c : tensor<8192x128xf16>, tensor<128x256xf16>) outs(%zr : tensor<8192x256xf32>) -> tensor<8192x256xf32>
  return %r : tensor<8192x256xf32>
}

// Both products begin with one fill.
// CHECK-LABEL: func.func private @square_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [{{[0-9]+}}, 128, 128]
func.func @square(%a: tensor<8192x128xbf16>, %b: tensor<128x128xbf16>, %bias: tensor<128xf32>, %c: tensor<128x128xbf16>) -> tensor<8192x128xf32> {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<8192x128xf32>
  %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<8192x128xf32>) -> tensor<8192x128xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8192x128xbf16>, tensor<128x128xbf16>) outs(%zp : tensor<8192x128xf32>) -> tensor<8192x128xf32>
  %eh = tensor.empty() : tensor<8192x128xbf16>
  %h = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<8192x128xf32>, tensor<128xf32>) outs(%eh : tensor<8192x128xbf16>) {
  ^bb0(%x: f32, %y: f32, %out: bf16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<8192x128xbf16>
  %er = tensor.empty() : tensor<8192x128xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8192x128xf32>) -> tensor<8192x128xf32>
  %r = linalg.matmul ins(%h, %c : tensor<8192x128xbf16>, tensor<128x128xbf16>) outs(%zr : tensor<8192x128xf32>) -> tensor<8192x128xf32>
  return %r : tensor<8192x128xf32>
}

// CHECK-LABEL: func.func private @rows_any_matmul_0(
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [{{[0-9]+}}, 64, 256]
func.func @rows_any(%a: tensor<?x512xf16>, %b: tensor<512x200xf16>, %bias: tensor<200xf32>, %c: tensor<200x64xf16>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x512xf16>
  %ep = tensor.empty(%m) : tensor<?x200xf32>
  %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<?x200xf32>) -> tensor<?x200xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x512xf16>, tensor<512x200xf16>) outs(%zp : tensor<?x200xf32>) -> tensor<?x200xf32>
  %eh = tensor.empty(%m) : tensor<?x200xf16>
  %h = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<?x200xf32>, tensor<200xf32>) outs(%eh : tensor<?x200xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<?x200xf16>
  %er = tensor.empty(%m) : tensor<?x64xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul ins(%h, %c : tensor<?x200xf16>, tensor<200x64xf16>) outs(%zr : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// CHECK-LABEL: func.func private @few_matmul_1
// CHECK-SAME: its 512 rows are 8 blocks of warpgroups, for 132 multiprocessors
func.func @few(%a: tensor<512x512xf16>, %b: tensor<512x128xf16>, %bias: tensor<128xf32>, %c: tensor<128x64xf16>) -> tensor<512x64xf32> {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<512x128xf32>
  %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x128xf32>) -> tensor<512x128xf32>
  %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x128xf16>) outs(%zp : tensor<512x128xf32>) -> tensor<512x128xf32>
  %eh = tensor.empty() : tensor<512x128xf16>
  %h = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<512x128xf32>, tensor<128xf32>) outs(%eh : tensor<512x128xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<512x128xf16>
  %er = tensor.empty() : tensor<512x64xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x64xf32>) -> tensor<512x64xf32>
  %r = linalg.matmul ins(%h, %c : tensor<512x128xf16>, tensor<128x64xf16>) outs(%zr : tensor<512x64xf32>) -> tensor<512x64xf32>
  return %r : tensor<512x64xf32>
}

// CHECK-LABEL: func.func private @wide_matmul_1
// CHECK-SAME: it has 512 columns, of which registers of warpgroups have room for 256
func.func @wide(%a: tensor<8192x512xf16>, %b: tensor<512x512xf16>, %bias: tensor<512xf32>, %c: tensor<512x64xf16>) -> tensor<8192x64xf32> {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<8192x512xf32>
  %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8192x512xf16>, tensor<512x512xf16>) outs(%zp : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  %eh = tensor.empty() : tensor<8192x512xf16>
  %h = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<8192x512xf32>, tensor<512xf32>) outs(%eh : tensor<8192x512xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<8192x512xf16>
  %er = tensor.empty() : tensor<8192x64xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  %r = linalg.matmul ins(%h, %c : tensor<8192x512xf16>, tensor<512x64xf16>) outs(%zr : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  return %r : tensor<8192x64xf32>
}

// CHECK-LABEL: func.func private @unaligned_matmul_1
// CHECK-SAME: rows of an operand are no multiples of 16 bytes, which copy engines for warpgroups want
func.func @unaligned(%a: tensor<8192x500xf16>, %b: tensor<500x64xf16>, %bias: tensor<64xf32>, %c: tensor<64x64xf16>) -> tensor<8192x64xf32> {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<8192x64xf32>
  %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8192x500xf16>, tensor<500x64xf16>) outs(%zp : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  %eh = tensor.empty() : tensor<8192x64xf16>
  %h = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<8192x64xf32>, tensor<64xf32>) outs(%eh : tensor<8192x64xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<8192x64xf16>
  %er = tensor.empty() : tensor<8192x64xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  %r = linalg.matmul ins(%h, %c : tensor<8192x64xf16>, tensor<64x64xf16>) outs(%zr : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  return %r : tensor<8192x64xf32>
}

// CHECK-LABEL: func.func private @large_matmul_1
// CHECK-SAME: the second product's right operand takes 131072 bytes of shared memory, beside which rows of up to 512 pay
func.func @large(%a: tensor<8192x1024xf16>, %b: tensor<1024x256xf16>, %bias: tensor<256xf32>, %c: tensor<256x256xf16>) -> tensor<8192x256xf32> {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<8192x256xf32>
  %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<8192x256xf32>) -> tensor<8192x256xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8192x1024xf16>, tensor<1024x256xf16>) outs(%zp : tensor<8192x256xf32>) -> tensor<8192x256xf32>
  %eh = tensor.empty() : tensor<8192x256xf16>
  %h = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<8192x256xf32>, tensor<256xf32>) outs(%eh : tensor<8192x256xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<8192x256xf16>
  %er = tensor.empty() : tensor<8192x256xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8192x256xf32>) -> tensor<8192x256xf32>
  %r = linalg.matmul ins(%h, %c : tensor<8192x256xf16>, tensor<256x256xf16>) outs(%zr : tensor<8192x256xf32>) -> tensor<8192x256xf32>
  return %r : tensor<8192x256xf32>
}

// CHECK-LABEL: func.func private @pinned_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64]
// CHECK-NOT: @pinned_matmul_1
func.func @pinned(%a: tensor<512x512xf16>, %b: tensor<512x64xf16>, %bias: tensor<64xf32>, %c: tensor<64x64xf16>) -> tensor<512x64xf32> {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<512x64xf32>
  %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<512x64xf32>) -> tensor<512x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x64xf16>) outs(%zp : tensor<512x64xf32>) -> tensor<512x64xf32>
  %eh = tensor.empty() : tensor<512x64xf16>
  %h = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<512x64xf32>, tensor<64xf32>) outs(%eh : tensor<512x64xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<512x64xf16>
  %er = tensor.empty() : tensor<512x64xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<512x64xf32>) -> tensor<512x64xf32>
  %r = linalg.matmul {tilewright.lowering_config = {"cuda:sm_90a" = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1],
      stages = 3, promote = [1], mma = "wgmma.m64n64k16.f16.f32">}}
      ins(%h, %c : tensor<512x64xf16>, tensor<64x64xf16>) outs(%zr : tensor<512x64xf32>) -> tensor<512x64xf32>
  return %r : tensor<512x64xf32>
}
