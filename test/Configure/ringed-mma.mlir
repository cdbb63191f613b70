// Rings that warps' instructions read are candidates where there are copy engines, and
// behind matrix_unit's; sm_100a says what it does not use.
//
// RUN: tilewright-compile %s --target=cuda:sm_90 --list-configs 2>&1 | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_80 --list-configs 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: tilewright-compile %s --target=cuda:sm_100a --stop-after=configure -o - | FileCheck %s --check-prefix=SM100

// CHECK: strategy = matrix_unit
// CHECK: strategy = warp_specialized{{.*}}mma = "mma.m16n8k16.f16.f32"
// NONE-NOT: warp_specialized
// SM100: multiplied by mma.sync; tcgen05 of cuda:sm_100a is not used yet
// SM100: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit

func.func @large(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>)
                     outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
