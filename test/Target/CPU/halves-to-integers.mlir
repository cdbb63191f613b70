// RUN: tilewright-compile %s --target=cpu:x86-64-v3 --emit=asm -o - | FileCheck %s
// RUN: tilewright-compile %s --target=cpu:x86-64-v4 --emit=asm -o - | FileCheck %s

// Registers at a time, no element.
// CHECK-LABEL: truncated{{.*}}body:
// CHECK-NOT: vcvttss2si
// CHECK: vcvttps2dq
// CHECK-NOT: vcvttss2si
#all = affine_map<(i) -> (i)>
func.func @truncated(%x: tensor<4096xf16>) -> tensor<4096xi8> {
  %e = tensor.empty() : tensor<4096xi8>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
       ins(%x : tensor<4096xf16>) outs(%e : tensor<4096xi8>) {
    ^bb0(%in: f16, %out: i8):
      %i = arith.fptosi %in : f16 to i8
      linalg.yield %i : i8
  } -> tensor<4096xi8>
  return %r : tensor<4096xi8>
}
