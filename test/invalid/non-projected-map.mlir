// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80,vulkan,cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// The sum of every row, twice: no other operand has the loop of the sum.
// CHECK: non-projected-map.mlir:[[@LINE+2]]:{{[0-9]+}}: error: {{.*}}map
func.func @f(%a: tensor<5x8xf32>, %c: tensor<10xf32>) -> tensor<10xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i floordiv 2, k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<5x8xf32>) outs(%c : tensor<10xf32>) {
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<10xf32>
  return %r : tensor<10xf32>
}
