// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu:x86-64-v4+amx-int8 --explain -o /dev/null 2>&1 | FileCheck %s
// RUN: tilewright-compile %s --target=cpu:x86-64-v4+amx-int8 --emit=manifest -o - | FileCheck %s --check-prefix=REQUIRED

// Instructions on tiles come with the tiles.
// CHECK: mma = "amx.m16n16k64.s8.s32"
// REQUIRED: "feature:amx-tile": 1
func.func @main(%a: tensor<256x256xi8>, %b: tensor<256x256xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<256x256xi8>, tensor<256x256xi8>) outs(%c : tensor<256x256xi32>) -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}
