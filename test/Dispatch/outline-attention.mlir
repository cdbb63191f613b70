// RUN: tilewright-opt %s -tilewright-outline-attention | FileCheck %s

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Q:.*]]: tensor<2x?x64xf16>, %[[K:.*]]: tensor<2x?x64xf16>)
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<2x?x64xf16>
// CHECK: %[[R:.*]] = tilewright.dispatch @main_attention_0(%[[Q]], %[[K]] : tensor<2x?x64xf16>, tensor<2x?x64xf16>) outs(%{{.*}} : tensor<2x?x64xf16>)
// CHECK: return %[[R]]

// CHECK-LABEL: func.func private @main_attention_0(
// CHECK-SAME: %[[A:.*]]: tensor<2x?x64xf16>, %[[B:.*]]: tensor<2x?x64xf16>, %[[O:.*]]: tensor<2x?x64xf16>)
// CHECK-SAME: tilewright.access = ["read", "read", "write"], tilewright.kernel
// CHECK: tilewright.attention ins(%[[A]], %[[B]], %[[B]] : {{.*}}) outs(%[[O]] : {{.*}})
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func @main(%q: tensor<2x?x64xf16>, %k: tensor<2x?x64xf16>) -> tensor<2x?x64xf16> {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %q, %c1 : tensor<2x?x64xf16>
    %e = tensor.empty(%n) : tensor<2x?x64xf16>
    %o = tilewright.attention ins(%q, %k, %k : tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>)
        outs(%e : tensor<2x?x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x?x64xf16>
    return %o : tensor<2x?x64xf16>
  }
}
