// RUN: clang-22 -shared -fPIC -o %t.so %S/Inputs/external.c
// RUN: tilewright-compile %s --target=cpu -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --input=4xf32="1 2 3 4" --input=f32=3 --external-lib=%t.so --print | FileCheck %s
// RUN: not tilewright-run %t.tw --device=cpu --input=4xf32=1 --input=f32=3 2>&1 | FileCheck %s --check-prefix=MISSING

// A function of the user's beside a kernel: the host program imports what the
// input declares, and printing goes through the runtime.
// CHECK: 1.5
// CHECK: 4xf32=1.5 3 4.5 6
// MISSING: error: {{.*}} calls 'half_of', which no external library defines; name the library (tilewright-run: --external-lib=PATH)
func.func private @half_of(f32) -> f32

func.func @main(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %h = func.call @half_of(%s) : (f32) -> f32
  vector.print %h : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
       ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %p = arith.mulf %v, %h : f32
      linalg.yield %p : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
