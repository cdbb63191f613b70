// RUN: tilewright-compile %s --target=cuda:sm_80 --emit=ptx -o - | FileCheck %s

// Fragments of keys are read at a lane's place, which is known before the loop, in a stage, of which there is a multiplication
// by bytes, not of elements that are scaled: an addition each.
// CHECK: $L__BB0_1:
// CHECK: cp.async.commit_group;
// CHECK: mul.wide.s32 %[[BYTES:rd[0-9]+]], %{{r[0-9]+}}, 8192;
// CHECK-NEXT: add.s64 %[[A:rd[0-9]+]], %{{rd[0-9]+}}, %[[BYTES]];
// CHECK-NEXT: ldmatrix{{.*}} [%[[A]]{{.*}}];
// CHECK-NEXT: ldmatrix{{.*}} [%[[A]]+{{[0-9]+}}];
// CHECK-NEXT: ldmatrix{{.*}} [%[[A]]+{{[0-9]+}}];
// CHECK-NEXT: ldmatrix{{.*}} [%[[A]]+{{[0-9]+}}];
// CHECK: add.s64 %[[B:rd[0-9]+]], %{{rd[0-9]+}}, %[[BYTES]];
// CHECK-NEXT: ldmatrix{{.*}} [%[[B]]{{.*}}];
func.func @attention(%q: tensor<8x4096x64xf16>, %k: tensor<8x4096x64xf16>, %v: tensor<8x4096x64xf16>) -> tensor<8x4096x64xf16> {
  %e = tensor.empty() : tensor<8x4096x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x4096x64xf16>, tensor<8x4096x64xf16>, tensor<8x4096x64xf16>) outs(%e : tensor<8x4096x64xf16>) {
    indexing_maps = [affine_map<(h, i, j, d, e) -> (h, i, d)>, affine_map<(h, i, j, d, e) -> (h, j, d)>,
                     affine_map<(h, i, j, d, e) -> (h, j, e)>, affine_map<(h, i, j, d, e) -> (h, i, e)>],
    tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1],
                                                            stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">
  } -> tensor<8x4096x64xf16>
  return %r : tensor<8x4096x64xf16>
}
