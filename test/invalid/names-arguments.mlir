// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: error: 'func.func' op argument 1 (%mask) has type 'tensor<4xi3>':
func.func @f(%x: tensor<4xi8>, %mask: tensor<4xi3>) -> tensor<4xi8> {
  return %x : tensor<4xi8>
}
