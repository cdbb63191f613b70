// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80,vulkan,cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// The number of elements overflows 64 bits.
// CHECK: error: {{.*}}{{overflow|large|elements|does not fit}}
func.func @f(%a: tensor<4294967296x4294967296xf32>, %b: tensor<4294967296x4294967296xf32>)
    -> tensor<4294967296x4294967296xf32> {
  %e = tensor.empty() : tensor<4294967296x4294967296xf32>
  %r = linalg.add ins(%a, %b : tensor<4294967296x4294967296xf32>, tensor<4294967296x4294967296xf32>)
                  outs(%e : tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  return %r : tensor<4294967296x4294967296xf32>
}
