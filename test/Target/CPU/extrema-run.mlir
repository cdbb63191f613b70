// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cpu,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=64x256xf32=int:-1:200:3 --print | FileCheck %s

// Roots of -1, which some rows have, are NaN and pass through maxima and minima; halves are rounded to even bytes.
// CHECK: result[0]: 64xf32=nan 14.{{.*}}nan
// CHECK-COUNT-4: ok: {{.*}}, all elements equal
#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<64x256xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xi8>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %high = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<64xf32>
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %h = linalg.fill ins(%high : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %a = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<64x256xf32>) outs(%z : tensor<64xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = math.sqrt %in : f32
      %p = math.absf %s : f32
      %m = arith.maximumf %acc, %p : f32
      linalg.yield %m : f32
  } -> tensor<64xf32>
  %b = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<64x256xf32>) outs(%l : tensor<64xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = math.sqrt %in : f32
      %m = arith.maximumf %s, %acc : f32
      linalg.yield %m : f32
  } -> tensor<64xf32>
  %c = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<64x256xf32>) outs(%h : tensor<64xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = math.sqrt %in : f32
      %m = arith.minimumf %acc, %s : f32
      linalg.yield %m : f32
  } -> tensor<64xf32>
  %o = tensor.empty() : tensor<64x256xi8>
  %q = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x : tensor<64x256xf32>) outs(%o : tensor<64x256xi8>) {
    ^bb0(%in: f32, %out: i8):
      %half = arith.constant 0.5 : f32
      %m = arith.mulf %in, %half : f32
      %s = math.roundeven %m : f32
      %i = arith.fptosi %s : f32 to i8
      linalg.yield %i : i8
  } -> tensor<64x256xi8>
  return %a, %b, %c, %q : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xi8>
}
