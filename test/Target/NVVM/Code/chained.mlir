// Two products in one kernel by warpgroups: instructions of the first read shared memory, those of the second have their left
// operand in registers, where nothing of it passes through memory; no spills, and no products that ptxas puts one behind the
// other.
//
// REQUIRES: ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/chained.ptx
// RUN: FileCheck %s --input-file %t/chained.ptx
// RUN: %ptxas -arch=sm_90a -v %t/chained.ptx -o %t/chained.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// Four steps of 16 of the ring's 64, then eight of the 128 between the products.
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK-NOT: m64n128k16
// CHECK-NOT: shfl
// CHECK-NOT: st.shared
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// CHECK-NOT: wgmma.mma_async
// CHECK-NOT: shfl
// CHECK-NOT: st.shared
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta

// PTXAS-NOT: warning
// PTXAS-NOT: C7
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

func.func @main(%a: tensor<8192x512xbf16>, %b: tensor<512x128xbf16>, %bias: tensor<128xf32>, %c: tensor<128x256xbf16>) -> tensor<8192x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %ep = tensor.empty() : tensor<8192x128xf32>
  %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<8192x128xf32>) -> tensor<8192x128xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8192x512xbf16>, tensor<512x128xbf16>) outs(%zp : tensor<8192x128xf32>) -> tensor<8192x128xf32>
  %eh = tensor.empty() : tensor<8192x128xbf16>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<8192x128xf32>, tensor<128xf32>) outs(%eh : tensor<8192x128xbf16>) {
  ^bb0(%x: f32, %bb: f32, %out: bf16):
    %s = arith.addf %x, %bb : f32
    %r = arith.maximumf %s, %zero : f32
    %0 = arith.truncf %r : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8192x128xbf16>
  %er = tensor.empty() : tensor<8192x256xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8192x256xf32>) -> tensor<8192x256xf32>
  %r = linalg.matmul ins(%h, %c : tensor<8192x128xbf16>, tensor<128x256xbf16>) outs(%zr : tensor<8192x256xf32>) -> tensor<8192x256xf32>
  %eo = tensor.empty() : tensor<8192x256xbf16>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<8192x256xf32>) outs(%eo : tensor<8192x256xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %0 = arith.truncf %x : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8192x256xbf16>
  return %o : tensor<8192x256xbf16>
}
