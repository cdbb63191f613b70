// An op that is refused, in a program around it.
// REQUIRES: tilewright-reduce
// RUN: tilewright-reduce %s --fails='indexed by' --target=cpu -o %t.mlir 2>&1 | FileCheck %s --check-prefix=PROGRESS
// RUN: FileCheck %s --implicit-check-not=@other --implicit-check-not=linalg.matmul --implicit-check-not=math <%t.mlir
// RUN: tilewright-reduce %s --fails='indexed by' --target=cpu -o %t.again.mlir
// RUN: cmp %t.mlir %t.again.mlir
// RUN: not tilewright-compile %t.mlir --target=cpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=STILL
// RUN: not tilewright-reduce %s --fails='no such words' --target=cpu -o %t.none 2>&1 | FileCheck %s --check-prefix=BORING
// RUN: not ls %t.none
// RUN: not tilewright-reduce %s -o %t.none 2>&1 | FileCheck %s --check-prefix=QUESTION
// RUN: not tilewright-reduce %s --fails=x --crashes 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not tilewright-reduce %t.missing --crashes 2>&1 | FileCheck %s --check-prefix=MISSING

// PROGRESS: reduce: a function went; {{[0-9]+}} ops left
// PROGRESS: reduce: {{.*}}; {{[1-4]}} ops left
// CHECK: func.func
// CHECK: linalg.generic
// STILL: error: {{.*}}indexed by
// BORING: error: '{{.*}}' is not interesting as it is: the compiler says:
// QUESTION: error: what is interesting? one of --fails, --crashes, --hangs, --check, --script
// BOTH: error: --fails excludes --crashes
// MISSING: error: cannot read '{{.*}}.missing'

#half = affine_map<(i, j, k) -> (i floordiv 2, j, k)>
#all = affine_map<(i, j, k) -> (i, j)>

func.func @other(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = math.exp %a : tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %v: tensor<32x64x4xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = math.exp %p : tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#half, #all, #all], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%v, %q : tensor<32x64x4xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %m, %o : f32
    linalg.yield %n : f32
  } -> tensor<64x64xf32>
  %s = arith.addf %r, %p : tensor<64x64xf32>
  return %s, %q : tensor<64x64xf32>, tensor<64x64xf32>
}
