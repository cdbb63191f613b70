// RUN: tilewright-opt %s -tilewright-split-keys | FileCheck %s

#q = affine_map<(h, g, i, j, d, e) -> (h, g, i, d)>
#k = affine_map<(h, g, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, g, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, g, i, j, d, e) -> (h, g, i, e)>
#l = affine_map<(h, g, i, j, d, e) -> (h, g, i)>
// The loops of parts, heads of keys, queries, heads of queries, keys, depth and columns.
// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d3, d2, d5)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d3, d2, d6)>
// CHECK-DAG: #[[PARTIAL:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d0, d1, d2, d3)>
// CHECK-DAG: #[[SUMS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d0, d1, d2)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func @parts(
  // CHECK: %[[P:.*]]:2 = tilewright.attention
  // CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<8x2x4x1x64xf32>, tensor<8x2x4x1xf32>)
  // CHECK-NOT: causal
  // CHECK-SAME: indexing_maps = [#[[Q]], {{.*}}, #[[OUT]], {{.*}}], key_parts = 128 : i64
  // CHECK-SAME: tilewright.explain = ["one query a head: 4 heads that share keys and values are rows of one block"]
  // CHECK: %[[R:.*]]:3 = linalg.generic {indexing_maps = [#[[PARTIAL]], #[[SUMS]],
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
  // CHECK-SAME: ins(%[[P]]#0, %[[P]]#1
  // CHECK: arith.maximumf
  // CHECK: %[[O:.*]] = linalg.generic
  // CHECK-SAME: ins(%[[R]]#1, %[[R]]#2
  // CHECK: arith.divf
  // CHECK: arith.truncf
  // CHECK: return %[[O]]
  func.func @parts(%q: tensor<2x4x1x64xf16>, %k: tensor<2x2048x64xf16>, %v: tensor<2x2048x64xf16>) -> tensor<2x4x1x64xf16> {
    %e = tensor.empty() : tensor<2x4x1x64xf16>
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x4x1x64xf16>, tensor<2x2048x64xf16>, tensor<2x2048x64xf16>)
        outs(%e : tensor<2x4x1x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "bottom_right"} -> tensor<2x4x1x64xf16>
    return %o : tensor<2x4x1x64xf16>
  }

  // CHECK-LABEL: func.func @host_decides(
  // CHECK: %[[N:.*]] = tensor.dim %{{.*}}, %c1 : tensor<2x?x64xf16>
  // CHECK: %[[LONG:.*]] = arith.cmpi sge, %[[N]], %c1024
  // CHECK: scf.if %[[LONG]]
  // CHECK: tilewright.attention {{.*}}key_parts = 128
  // CHECK: } else {
  // CHECK: tilewright.attention
  // CHECK-NOT: key_parts
  // CHECK-SAME: "another kernel takes the keys in 64 parts, where the host finds 1024 or more keys"
  func.func @host_decides(%q: tensor<2x4x1x64xf16>, %k: tensor<2x?x64xf16>, %v: tensor<2x?x64xf16>) -> tensor<2x4x1x64xf16> {
    %e = tensor.empty() : tensor<2x4x1x64xf16>
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x4x1x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>)
        outs(%e : tensor<2x4x1x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x4x1x64xf16>
    return %o : tensor<2x4x1x64xf16>
  }

  // Heads of keys, or sequences, that the host counts.
  // CHECK-LABEL: func.func @host_counts_heads(
  // CHECK: %[[H:.*]] = tensor.dim %{{.*}}, %c0{{.*}} : tensor<?x4x1x64xf16>
  // CHECK: %[[FEW:.*]] = arith.cmpi sle, %[[H]], %c68
  // CHECK: %[[N:.*]] = tensor.dim %{{.*}}, %c1{{.*}} : tensor<?x?x64xf16>
  // CHECK: %[[LONG:.*]] = arith.cmpi sge, %[[N]], %c1024
  // CHECK: %[[BOTH:.*]] = arith.andi %[[FEW]], %[[LONG]]
  // CHECK: scf.if %[[BOTH]]
  // CHECK: tilewright.attention {{.*}}tensor<32x?x4x1x64xf32>{{.*}}key_parts = 128
  // CHECK: } else {
  // CHECK: tilewright.attention
  // CHECK-NOT: key_parts
  // CHECK-SAME: "another kernel takes the keys in 32 parts, where the host finds 68 or fewer batches and 1024 or more keys"
  func.func @host_counts_heads(%q: tensor<?x4x1x64xf16>, %k: tensor<?x?x64xf16>, %v: tensor<?x?x64xf16>, %e: tensor<?x4x1x64xf16>) -> tensor<?x4x1x64xf16> {
    %o = tilewright.attention ins(%q, %k, %v : tensor<?x4x1x64xf16>, tensor<?x?x64xf16>, tensor<?x?x64xf16>)
        outs(%e : tensor<?x4x1x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<?x4x1x64xf16>
    return %o : tensor<?x4x1x64xf16>
  }
  // Keys enough are known: only heads are counted.
  // CHECK-LABEL: func.func @known_keys(
  // CHECK: %[[FEW:.*]] = arith.cmpi sle, %{{.*}}, %c68
  // CHECK-NEXT: scf.if %[[FEW]]
  // CHECK: key_parts = 128
  func.func @known_keys(%q: tensor<?x4x1x64xf16>, %k: tensor<?x2048x64xf16>, %v: tensor<?x2048x64xf16>, %e: tensor<?x4x1x64xf16>) -> tensor<?x4x1x64xf16> {
    %o = tilewright.attention ins(%q, %k, %v : tensor<?x4x1x64xf16>, tensor<?x2048x64xf16>, tensor<?x2048x64xf16>)
        outs(%e : tensor<?x4x1x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<?x4x1x64xf16>
    return %o : tensor<?x4x1x64xf16>
  }
  // Any number of queries has one kernel.
  // CHECK-LABEL: func.func @queries_unknown(
  // CHECK-NOT: key_parts
  // CHECK: return
  func.func @queries_unknown(%q: tensor<2x4x?x64xf16>, %k: tensor<2x2048x64xf16>, %v: tensor<2x2048x64xf16>, %e: tensor<2x4x?x64xf16>) -> tensor<2x4x?x64xf16> {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x4x?x64xf16>, tensor<2x2048x64xf16>, tensor<2x2048x64xf16>)
        outs(%e : tensor<2x4x?x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x4x?x64xf16>
    return %o : tensor<2x4x?x64xf16>
  }

  // A pinned config decides, and goes to the partial results; log-sum-exps are combined, too.
  // CHECK-LABEL: func.func @pinned(
  // CHECK: tilewright.attention {{.*}}tensor<3x2x4x9x64xf32>{{.*}}key_parts = 128{{.*}}splits = 3
  // CHECK: math.log
  // CHECK-LABEL: func.func @whole(
  // CHECK-NOT: key_parts
  // CHECK: return
  func.func @pinned(%q: tensor<2x4x9x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> (tensor<2x4x9x64xf16>, tensor<2x4x9xf32>) {
    %e = tensor.empty() : tensor<2x4x9x64xf16>
    %f = tensor.empty() : tensor<2x4x9xf32>
    %o:2 = tilewright.attention ins(%q, %k, %v : tensor<2x4x9x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>)
        outs(%e, %f : tensor<2x4x9x64xf16>, tensor<2x4x9xf32>) {indexing_maps = [#q, #k, #v, #o, #l],
          tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [16, 64], warps = [1, 1], splits = 3>} -> tensor<2x4x9x64xf16>, tensor<2x4x9xf32>
    return %o#0, %o#1 : tensor<2x4x9x64xf16>, tensor<2x4x9xf32>
  }
  func.func @whole(%q: tensor<2x4x1x64xf16>, %k: tensor<2x2048x64xf16>, %v: tensor<2x2048x64xf16>) -> tensor<2x4x1x64xf16> {
    %e = tensor.empty() : tensor<2x4x1x64xf16>
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x4x1x64xf16>, tensor<2x2048x64xf16>, tensor<2x2048x64xf16>)
        outs(%e : tensor<2x4x1x64xf16>) {indexing_maps = [#q, #k, #v, #o],
          tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [16, 64], warps = [1, 1]>} -> tensor<2x4x1x64xf16>
    return %o : tensor<2x4x1x64xf16>
  }

  // What a query does not see by its place stays with its own loop; blocks of queries that
  // fill the machine, few keys and windows have no parts.
  // CHECK-LABEL: func.func @window(
  // CHECK-NOT: rows of one block
  // CHECK-NOT: key_parts
  // CHECK: return
  func.func @window(%q: tensor<2x4x1x64xf16>, %k: tensor<2x2048x64xf16>, %v: tensor<2x2048x64xf16>) -> tensor<2x4x1x64xf16> {
    %e = tensor.empty() : tensor<2x4x1x64xf16>
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x4x1x64xf16>, tensor<2x2048x64xf16>, tensor<2x2048x64xf16>)
        outs(%e : tensor<2x4x1x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "bottom_right", window = array<i64: 9, 0>} -> tensor<2x4x1x64xf16>
    return %o : tensor<2x4x1x64xf16>
  }
  // CHECK-LABEL: func.func @many(
  // CHECK-NOT: key_parts
  // CHECK: return
  func.func @many(%q: tensor<16x4x64x64xf16>, %k: tensor<16x2048x64xf16>, %v: tensor<16x2048x64xf16>) -> tensor<16x4x64x64xf16> {
    %e = tensor.empty() : tensor<16x4x64x64xf16>
    %o = tilewright.attention ins(%q, %k, %v : tensor<16x4x64x64xf16>, tensor<16x2048x64xf16>, tensor<16x2048x64xf16>)
        outs(%e : tensor<16x4x64x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<16x4x64x64xf16>
    return %o : tensor<16x4x64x64xf16>
  }
}
