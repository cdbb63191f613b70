// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80,vulkan,cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// A sum that is kept in so few bits; elementwise arithmetic on them is done in f32.
// CHECK: error: {{.*}}'linalg.reduce' op has 'arith.addf' on floats of 8 bits
func.func @f(%a: tensor<4xf8E4M3FN>, %b: tensor<f8E4M3FN>) -> tensor<f8E4M3FN> {
  %r = linalg.reduce ins(%a : tensor<4xf8E4M3FN>) outs(%b : tensor<f8E4M3FN>) dimensions = [0]
    (%x: f8E4M3FN, %acc: f8E4M3FN) {
      %s = arith.addf %x, %acc : f8E4M3FN
      linalg.yield %s : f8E4M3FN
    }
  return %r : tensor<f8E4M3FN>
}
