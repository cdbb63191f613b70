// Arguments in C are called what the text calls them, where C can and nothing else is.
// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu --name=p --emit=header -o %t.h
// RUN: FileCheck %s <%t.h
// RUN: c++ -std=c++17 -Wall -Werror -fsyntax-only -x c++ -I%S/../../gpu-runtime/include %t.h

// CHECK: tilewright_status *p_main_weights(
// CHECK: /* main(weights: f32[4], input1 %int: f32[4], input2: f32[4], input3 %a.b: f32, input4 %stream: i32) -> result0: f32[4]
// CHECK: tilewright_view *weights,
// CHECK-NEXT: tilewright_view *input1,
// CHECK-NEXT: tilewright_view *input2,
// CHECK-NEXT: float input3,
// CHECK-NEXT: int32_t input4,
func.func @main(%weights: tensor<4xf32>, %int: tensor<4xf32>, %0: tensor<4xf32>, %a.b: f32, %stream: i32) -> tensor<4xf32> {
  %1 = arith.addf %weights, %int : tensor<4xf32>
  %2 = arith.addf %1, %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// The function @sum_x would have the name of an argument's.
// CHECK: tilewright_status *p_sum_input0(
func.func @sum(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @sum_x(%y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %y, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
