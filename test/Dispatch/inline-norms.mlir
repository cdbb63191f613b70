// A norm in a function of several calls is written where a product reads its result; on GPUs.
// RUN: tilewright-opt %s -tilewright-inline-norms -split-input-file | FileCheck %s

#mk2 = affine_map<(m, k) -> (m, k)>
#m = affine_map<(m, k) -> (m)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// The call that no product reads stays.
// CHECK-LABEL: func.func private @norm
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x16xf32>
// CHECK-SAME: tilewright.explain = ["the norm @norm is written where a product reads it, whose kernel may compute it"]
// CHECK: %[[S:.*]] = linalg.generic {{.*}}"reduction"{{.*}} ins(%[[X]] :
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[S]] :
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[R]], %{{.*}} :
// CHECK: %[[Q:.*]] = call @norm(%[[P]])
// CHECK: return %[[Q]]
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64}>} {
  func.func private @norm(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x16xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %sum: f32):
      %0 = arith.addf %sum, %a : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    %o = tensor.empty() : tensor<8x16xf32>
    %r = linalg.generic {indexing_maps = [#mk2, #m, #mk2], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x16xf32>, tensor<8xf32>) outs(%o : tensor<8x16xf32>) {
    ^bb0(%a: f32, %sum: f32, %out: f32):
      %0 = arith.divf %a, %sum : f32
      linalg.yield %0 : f32
    } -> tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
  func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %n = call @norm(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%n, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%c : tensor<8x16xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<8x16xf32>
    %q = call @norm(%p) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %q : tensor<8x16xf32>
  }
}

// -----

#mk2 = affine_map<(m, k) -> (m, k)>
#m = affine_map<(m, k) -> (m)>

// A CPU's products reduce no rows.
// CHECK-LABEL: func.func @of_cpu
// CHECK-COUNT-2: call @norm
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {}>} {
  func.func private @norm(%x: tensor<8x16xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %s = linalg.generic {indexing_maps = [#mk2, #m], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x16xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %sum: f32):
      %0 = arith.addf %sum, %a : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    return %s : tensor<8xf32>
  }
  func.func @of_cpu(%x: tensor<8x16xf32>, %w: tensor<8x16xf32>, %c: tensor<f32>) -> tensor<f32> {
    %a = call @norm(%x) : (tensor<8x16xf32>) -> tensor<8xf32>
    %b = call @norm(%w) : (tensor<8x16xf32>) -> tensor<8xf32>
    %p = linalg.dot ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%c : tensor<f32>) -> tensor<f32>
    return %p : tensor<f32>
  }
}
