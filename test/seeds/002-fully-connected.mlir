// A product, a bias that is broadcast and an activation are one kernel, which writes the result once; a chain of three such layers is
// three; operands in blocks (MB x NB x KB) are multiplied as they lie.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80,vulkan,cpu,cpu-reference -o %t.tw --explain 2>&1 | FileCheck %s
// RUN: tilewright-run %t.tw --device=cpu --function=chain --check=oracle --input=37x48xf32=int:-2:2 --input=48x64xf32=int:-1:1 --input=64x32xf32=int:-1:1 --input=32x40xf32=int:-1:1 --input=64xf32=int:-2:2 --input=32xf32=int:-2:2 --input=40xf32=int:-2:2 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=cpu --function=blocked --check=oracle --input=3x4x8x16xf32=int:-2:2 --input=5x4x16x8xf32=int:-2:2 --input=5x8xf32=int:-2:2 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=ptxsim --function=chain --check=oracle --input=37x48xf32=int:-2:2 --input=48x64xf32=int:-1:1 --input=64x32xf32=int:-1:1 --input=32x40xf32=int:-1:1 --input=64xf32=int:-2:2 --input=32xf32=int:-2:2 --input=40xf32=int:-2:2 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=ptxsim --function=blocked --check=oracle --input=3x4x8x16xf32=int:-2:2 --input=5x4x16x8xf32=int:-2:2 --input=5x8xf32=int:-2:2 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=vulkan --function=chain --check=oracle --input=37x48xf32=int:-2:2 --input=48x64xf32=int:-1:1 --input=64x32xf32=int:-1:1 --input=32x40xf32=int:-1:1 --input=64xf32=int:-2:2 --input=32xf32=int:-2:2 --input=40xf32=int:-2:2 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=vulkan --function=blocked --check=oracle --input=3x4x8x16xf32=int:-2:2 --input=5x4x16x8xf32=int:-2:2 --input=5x8xf32=int:-2:2 | FileCheck %s --check-prefix=RIGHT

// CHECK-DAG: @chain({{.*}}): 3 kernels
// CHECK-DAG: @blocked({{.*}}): 1 kernel
// RIGHT: ok

#id = affine_map<(m, n) -> (m, n)>
#bias = affine_map<(m, n) -> (n)>
func.func private @layer64(%x: tensor<37x48xf32>, %w: tensor<48x64xf32>, %b: tensor<64xf32>) -> tensor<37x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37x64xf32>) -> tensor<37x64xf32>
  %p = linalg.matmul ins(%x, %w : tensor<37x48xf32>, tensor<48x64xf32>) outs(%f : tensor<37x64xf32>) -> tensor<37x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<37x64xf32>, tensor<64xf32>) outs(%e : tensor<37x64xf32>) {
  ^bb0(%v: f32, %c: f32, %out: f32):
    %s = arith.addf %v, %c : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  } -> tensor<37x64xf32>
  return %r : tensor<37x64xf32>
}
func.func @chain(%x: tensor<37x48xf32>, %w0: tensor<48x64xf32>, %w1: tensor<64x32xf32>, %w2: tensor<32x40xf32>, %b0: tensor<64xf32>, %b1: tensor<32xf32>, %b2: tensor<40xf32>) -> tensor<37x40xf32> {
  %zero = arith.constant 0.0 : f32
  %y = call @layer64(%x, %w0, %b0) : (tensor<37x48xf32>, tensor<48x64xf32>, tensor<64xf32>) -> tensor<37x64xf32>
  %e1 = tensor.empty() : tensor<37x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<37x32xf32>) -> tensor<37x32xf32>
  %p1 = linalg.matmul ins(%y, %w1 : tensor<37x64xf32>, tensor<64x32xf32>) outs(%f1 : tensor<37x32xf32>) -> tensor<37x32xf32>
  %r1 = linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel"]} ins(%p1, %b1 : tensor<37x32xf32>, tensor<32xf32>) outs(%e1 : tensor<37x32xf32>) {
  ^bb0(%v: f32, %c: f32, %out: f32):
    %s = arith.addf %v, %c : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  } -> tensor<37x32xf32>
  %e2 = tensor.empty() : tensor<37x40xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<37x40xf32>) -> tensor<37x40xf32>
  %p2 = linalg.matmul ins(%r1, %w2 : tensor<37x32xf32>, tensor<32x40xf32>) outs(%f2 : tensor<37x40xf32>) -> tensor<37x40xf32>
  %r2 = linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel"]} ins(%p2, %b2 : tensor<37x40xf32>, tensor<40xf32>) outs(%e2 : tensor<37x40xf32>) {
  ^bb0(%v: f32, %c: f32, %out: f32):
    %s = arith.addf %v, %c : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  } -> tensor<37x40xf32>
  return %r2 : tensor<37x40xf32>
}

// Blocks of 8 x 16 of the rows' operand, of 16 x 8 of the columns', of 8 x 8 of the result.
func.func @blocked(%a: tensor<3x4x8x16xf32>, %b: tensor<5x4x16x8xf32>, %bias: tensor<5x8xf32>) -> tensor<3x5x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5x8x8xf32>) -> tensor<3x5x8x8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(mb, nb, kb, m, n, k) -> (mb, kb, m, k)>, affine_map<(mb, nb, kb, m, n, k) -> (nb, kb, k, n)>, affine_map<(mb, nb, kb, m, n, k) -> (mb, nb, m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x4x8x16xf32>, tensor<5x4x16x8xf32>) outs(%f : tensor<3x5x8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x5x8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(mb, nb, m, n) -> (mb, nb, m, n)>, affine_map<(mb, nb, m, n) -> (nb, n)>, affine_map<(mb, nb, m, n) -> (mb, nb, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p, %bias : tensor<3x5x8x8xf32>, tensor<5x8xf32>) outs(%e : tensor<3x5x8x8xf32>) {
  ^bb0(%v: f32, %c: f32, %out: f32):
    %s = arith.addf %v, %c : f32
    linalg.yield %s : f32
  } -> tensor<3x5x8x8xf32>
  return %r : tensor<3x5x8x8xf32>
}
