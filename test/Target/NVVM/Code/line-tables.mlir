// RUN: rm -rf %t && tilewright-compile %s -o %t --target=cuda:sm_80 --emit=ptx -g
// RUN: FileCheck %s --input-file=%t
// RUN: rm -rf %t && tilewright-compile %s -o %t --target=cuda:sm_80 --emit=ptx
// RUN: FileCheck %s --input-file=%t --check-prefix=WITHOUT

// With -g an instruction leads back to the line of the op that it comes from.
// CHECK: .loc	1 [[# @LINE + 5]]
// CHECK: add.rn.f32
// CHECK: .file	1 "{{.*}}line-tables.mlir"
// WITHOUT-NOT: {{^[[:space:]]*\.(loc|file)}}
func.func @f(%a: tensor<4096xf32>, %o: tensor<4096xf32>) -> tensor<4096xf32> {
  %r = linalg.add ins(%a, %a : tensor<4096xf32>, tensor<4096xf32>) outs(%o : tensor<4096xf32>) -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}
