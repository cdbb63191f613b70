// REQUIRES: tilewright-compile
// RUN: rm -rf %t && tilewright-compile %s --target=cpu:aarch64+sve=256 --emit=asm -o %t
// RUN: FileCheck %s --input-file=%t/cpu_aarch64_sve_256/main_elementwise_0.s

// Rows of 31 halves are stored under a predicate: LLVM cannot select the code of a store
// of 31 from SVE registers.
// CHECK-LABEL: main_elementwise_0.body:
// CHECK: fcvt z{{[0-9]+}}.h, p{{[0-9]+}}/m, z{{[0-9]+}}.s
// CHECK: st1h { z{{[0-9]+}}.h }, p
func.func @main(%x: tensor<42x31xf32>) -> tensor<42x31xf16> {
  %e = tensor.empty() : tensor<42x31xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<42x31xf32>) outs(%e : tensor<42x31xf16>) {
  ^bb0(%a: f32, %o: f16):
    %m = arith.mulf %a, %a : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<42x31xf16>
  return %r : tensor<42x31xf16>
}
