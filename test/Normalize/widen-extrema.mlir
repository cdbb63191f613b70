// RUN: tilewright-opt %s -tilewright-widen-extrema | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @Largest(
// CHECK: %[[I:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<8xf8E4M3FN>) outs(%{{.*}} : tensor<8xf32>)
// CHECK: arith.extf
// CHECK: %[[W:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<8x32xf8E4M3FN>) outs(%[[I]] : tensor<8xf32>)
// CHECK: ^bb0(%[[A:.*]]: f8E4M3FN, %[[M:.*]]: f32):
// CHECK: %[[E:.*]] = arith.extf %[[A]] : f8E4M3FN to f32
// CHECK: %[[V:.*]] = arith.maximumf %[[E]], %[[M]] : f32
// CHECK: linalg.yield %[[V]] : f32
// CHECK: linalg.generic {{.*}} ins(%[[W]] : tensor<8xf32>)
// CHECK: arith.truncf
func.func @Largest(%x: tensor<8x32xf8E4M3FN>, %o: tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN> {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x32xf8E4M3FN>) outs(%o : tensor<8xf8E4M3FN>) {
  ^bb0(%a: f8E4M3FN, %m: f8E4M3FN):
    %v = arith.maximumf %a, %m : f8E4M3FN
    linalg.yield %v : f8E4M3FN
  } -> tensor<8xf8E4M3FN>
  return %r : tensor<8xf8E4M3FN>
}

// A sum is rounded in each step.
// CHECK-LABEL: func.func @Sum(
// CHECK: arith.addf %{{.*}}, %{{.*}} : f8E5M2
func.func @Sum(%x: tensor<8x32xf8E5M2>, %o: tensor<8xf8E5M2>) -> tensor<8xf8E5M2> {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x32xf8E5M2>) outs(%o : tensor<8xf8E5M2>) {
  ^bb0(%a: f8E5M2, %m: f8E5M2):
    %v = arith.addf %a, %m : f8E5M2
    linalg.yield %v : f8E5M2
  } -> tensor<8xf8E5M2>
  return %r : tensor<8xf8E5M2>
}
