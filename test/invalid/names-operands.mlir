// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// Errors call ops and values what the program calls them, whatever became of them.
// CHECK: error: 'arith.trunci' op %left has elements of type 'i3'; accepted are
// CHECK: error: 'arith.addi' op %left has elements of type 'i3'
// CHECK: error: 'arith.extui' op %sum has elements of type 'i3'
func.func @f(%x: tensor<4xi8>, %out: tensor<4xi8>) -> tensor<4xi8> {
  %left = arith.trunci %x : tensor<4xi8> to tensor<4xi3>
  %sum = arith.addi %left, %left : tensor<4xi3>
  %wide = arith.extui %sum : tensor<4xi3> to tensor<4xi8>
  return %wide : tensor<4xi8>
}
