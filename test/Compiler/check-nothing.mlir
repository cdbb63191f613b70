// A check in which values differ and no element has a bound has failed.
// REQUIRES: tilewright-run
// RUN: not tilewright-run %s --device=cpu --check=oracle --input=64xf32=random:1 | FileCheck %s
// RUN: tilewright-run %s --device=cpu --check=oracle --input=64xf32=random:1 --rtol=1e-3 | FileCheck %s --check-prefix=OK
// RUN: not tilewright-run %s --device=cpu --check=oracle --input=64xf32=random:1 --json | FileCheck %s --check-prefix=JSON

// CHECK: result[0]: NOTHING CHECKED: 64xf32, {{.*}}NOT CHECKED: 64 of 64 elements, of which no error bound is known
// CHECK-NEXT: give --atol and --rtol
// OK: result[0]: ok:
// JSON: "verdict":"mismatch"
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = math.exp %a : f32
    %t = math.tan %s : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
