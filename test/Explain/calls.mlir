// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu -o /dev/null --explain 2>&1 | FileCheck %s

// Kernels of called functions are steps of the caller, fed by what it calls them with.
// CHECK: @main(64xf32, 64xf32): 3 kernels
// CHECK-NEXT: operations 192
// CHECK-NEXT: bytes that must move
// CHECK-NEXT: {{^}}    double_elementwise_0(argument 1)
// CHECK-NEXT: {{^}}    double_elementwise_0(double_elementwise_0)
// CHECK-NEXT: {{^}}    main_elementwise_0(argument 0, double_elementwise_0)
func.func private @double(%a: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.add ins(%a, %a : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %s : tensor<64xf32>
}
func.func @main(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  %x = call @double(%b) : (tensor<64xf32>) -> tensor<64xf32>
  %y = call @double(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.mul ins(%a, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %s : tensor<64xf32>
}
