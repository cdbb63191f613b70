// PTX for chips that no simulator here is (sm_100a, sm_120) is right as that of sm_90, whose instructions it has: products by
// default, and out of rings that copy engines fill; on sm_100a, in clusters, too.
//
// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_100a,cpu-reference -o %t/sm_100a.tw --explain 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: tilewright-compile %s --target=cuda:sm_120,cpu-reference -o %t/sm_120.tw
// RUN: %python %S/Inputs/as-sm_90.py %t/sm_100a.tw %t/sm_100a.90.tw
// RUN: %python %S/Inputs/as-sm_90.py %t/sm_120.tw %t/sm_120.90.tw
// RUN: sh %S/Inputs/newer-chips.sh %t/sm_100a.90.tw 2>&1 | FileCheck %s
// RUN: sh %S/Inputs/newer-chips.sh %t/sm_120.90.tw 2>&1 | FileCheck %s
//
// SAID: by_default_matmul_0: 1 op
// SAID: strategy matrix_unit
// SAID: multiplied by mma.sync; tcgen05 of cuda:sm_100a is not used yet
// SAID: ring_matmul_0: 1 op
// SAID: strategy warp_specialized
// SAID: cluster = [2, 1, 1]
// SAID: multiplied by mma.sync; tcgen05 of cuda:sm_100a is not used yet
//
// CHECK-NOT: {{warning|ptxsim:}}
// CHECK: ok: 200x264xf32, all elements equal
// CHECK-NEXT: ok: 200x264xf32
// CHECK-NEXT: ok: 328x136xf32, all elements equal
// CHECK-NEXT: ok: 328x136xf32
// CHECK-NOT: {{warning|ptxsim:}}

func.func @by_default(%a: tensor<200x136xf16>, %b: tensor<136x264xf16>, %c: tensor<200x264xf32>) -> tensor<200x264xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<200x136xf16>, tensor<136x264xf16>) outs(%c : tensor<200x264xf32>) -> tensor<200x264xf32>
  return %r : tensor<200x264xf32>
}

func.func @ring(%a: tensor<328x264xf16>, %b: tensor<264x136xf16>, %c: tensor<328x136xf32>) -> tensor<328x136xf32> {
  %r = linalg.matmul {tilewright.lowering_config = {
      "cuda:sm_100a" = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [2, 2, 1], stages = 3,
        promote = [0, 1], mma = "mma.m16n8k16.f16.f32", persistent = true, cluster = [2, 1, 1]>,
      "cuda:sm_120" = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [2, 2, 1], stages = 3,
        promote = [0, 1], mma = "mma.m16n8k16.f16.f32", persistent = true>}}
    ins(%a, %b : tensor<328x264xf16>, tensor<264x136xf16>) outs(%c : tensor<328x136xf32>) -> tensor<328x136xf32>
  return %r : tensor<328x136xf32>
}
