// RUN: tilewright-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tilewright-unpack-sub-bytes,canonicalize,tilewright-pack-int4-products,canonicalize))' | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, mma = ["mma.m16n8k64.s4.u4.s32"]}>} {
// Sums run along the rows of both: bytes stay whole.
// CHECK-LABEL: func.func @packed
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x32xi8>, tensor<48x32xi8>)
// CHECK: ^bb0(%[[X:.*]]: i8, %[[Y:.*]]: i8, %[[C:.*]]: i32)
// CHECK-DAG: %[[L:.*]] = arith.shli %[[X]], %c4
// CHECK-DAG: arith.shrsi %[[L]], %c4
// CHECK-DAG: arith.andi %[[Y]], %c15
// CHECK-DAG: arith.shrsi %[[X]], %c4
// CHECK-DAG: arith.shrui %[[Y]], %c4
// CHECK-NOT: tensor.collapse_shape
func.func @packed(%a: tensor<64x64xi4>, %b: tensor<48x64xi4>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  %r = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xi4>, tensor<48x64xi4>) outs(%c : tensor<64x48xi32>) {
  ^bb0(%x: i4, %y: i4, %sum: i32):
    %v = arith.extsi %x : i4 to i32
    %w = arith.extui %y : i4 to i32
    %p = arith.muli %v, %w : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  } -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}

// Two columns share a byte of B.
// CHECK-LABEL: func.func @columns
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x64xi8>, tensor<64x48xi8>) {{.*}} attrs = {tilewright.unpacked = "two elements that share a byte of operand 1 belong to different sums; let its innermost dim be the one that is summed (transpose the weights)"}
func.func @columns(%a: tensor<64x64xi4>, %b: tensor<64x48xi4>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xi4>, tensor<64x48xi4>) outs(%c : tensor<64x48xi32>) {
  ^bb0(%x: i4, %y: i4, %sum: i32):
    %v = arith.extsi %x : i4 to i32
    %w = arith.extui %y : i4 to i32
    %p = arith.muli %v, %w : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  } -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, mma = ["mma.m16n8k32.s8.s32"], mma_emulated = ["mma.m16n8k64.s4.s32"]}>} {
// Not chosen, but there for who asks: 64 numbers are 32 bytes.
// CHECK-LABEL: func.func @pinned
// CHECK: linalg.generic {{.*}} tensor<64x32xi8>, tensor<48x32xi8>) {{.*}} block = [32, 16, 32]
// CHECK-LABEL: func.func @free
// CHECK: tilewright.unpacked = "test has no units for i4, and ptxas would make its instructions of those for bytes; a pinned 'mma' asks for them"
func.func @pinned(%a: tensor<64x64xi4>, %b: tensor<48x64xi4>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  %r = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"],
      tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [32, 16, 64], warps = [1, 1, 1], thread = [1, 1, 1], promote = [0, 1], mma = "mma.m16n8k64.s4.s32">}
      ins(%a, %b : tensor<64x64xi4>, tensor<48x64xi4>) outs(%c : tensor<64x48xi32>) {
  ^bb0(%x: i4, %y: i4, %sum: i32):
    %v = arith.extsi %x : i4 to i32
    %w = arith.extsi %y : i4 to i32
    %p = arith.muli %v, %w : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  } -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}
func.func @free(%a: tensor<64x64xi4>, %b: tensor<48x64xi4>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  %r = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xi4>, tensor<48x64xi4>) outs(%c : tensor<64x48xi32>) {
  ^bb0(%x: i4, %y: i4, %sum: i32):
    %v = arith.extsi %x : i4 to i32
    %w = arith.extsi %y : i4 to i32
    %p = arith.muli %v, %w : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  } -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}
}
