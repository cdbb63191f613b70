// RUN: rm -rf %t && tilewright-compile %s -o %t --target=cuda:sm_80,cuda:sm_90a --emit=ptx --explain 2>&1 | FileCheck %s --check-prefix=CONFIG
// RUN: FileCheck %s < %t/cuda_sm_80/large_matmul_0.ptx
// RUN: FileCheck %s --check-prefix=ALIGNED < %t/cuda_sm_90a/any_matmul_0_aligned.ptx

// Blocks of 128 x 128 have 8 x 8 a thread.
// CONFIG: config (pinned): {{.*}}block = [128, 128, 16], warps = [4, 2, 1], stages = 2

// The loop: the next tiles on their way in 16-byte loads, 16 times 64
// multiply-adds from 16-byte loads of shared memory, one barrier; A is stored
// turned, in pairs and without bank conflicts, B in 16 bytes.
// CHECK-LABEL: .entry large_matmul_0(
// CHECK-NOT: {{ld.local|ld.global.nc.b32|ld.shared.b32}}
// CHECK: $L__BB0_1:
// CHECK-COUNT-4: ld.global.nc.v4.b32
// CHECK-COUNT-64: ld.shared.v4.b32
// CHECK-COUNT-64: fma.rn.f32
// CHECK-NOT: bar.sync
// CHECK-COUNT-4: st.shared.v2.b32
// CHECK-COUNT-2: st.shared.v4.b32
// CHECK: bar.sync
// CHECK: bra
// CHECK-NOT: st.global.b32
// CHECK-COUNT-16: st.global.v4.b32
func.func @large(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %o: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.matmul
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [128, 128, 16], warps = [4, 2, 1], stages = 2, promote = [0, 1]>}
      ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%o : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// ALIGNED-LABEL: .entry any_matmul_0_aligned(
// ALIGNED-NOT: {{ld.local|ld.global.nc.b32|ld.shared.b32|st.global.b32}}
// ALIGNED-COUNT-4: ld.global.nc.v4.b32
// ALIGNED: fma.rn.f32
// ALIGNED-COUNT-16: st.global.v4.b32
func.func @any(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
