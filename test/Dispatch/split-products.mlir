// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-split-reductions))' | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 99000, registers = 255, access_bytes = 16, index_bits = 32, mma = ["mma.m16n8k16.f16.f32"]}>} {
// A sum of any length, few results: the host looks how long it is.
// CHECK-LABEL: func.func @AnySum
// CHECK-SAME: %[[A:.+]]: tensor<64x?xf16>
// CHECK: %[[K:.+]] = tensor.dim %[[A]], %c1
// CHECK: %[[LONG:.+]] = arith.cmpi sge, %[[K]], %c8192
// CHECK: %[[BOTH:.+]] = arith.andi %{{.+}}, %[[LONG]]
// CHECK: scf.if %[[BOTH]]
// CHECK: linalg.generic {{.*}} outs(%{{.+}} : tensor<16x64x256xf32>) attrs = {tilewright.split = array<i64: 2, 256>}
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.+}} : tensor<16x64x256xf32>)
// CHECK: } else {
// CHECK: linalg.generic {{.*}} outs(%{{.+}} : tensor<64x256xf32>)
// CHECK-NOT: tilewright.split
func.func @AnySum(%a: tensor<64x?xf16>, %b: tensor<?x256xf16>, %c: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%a, %b : tensor<64x?xf16>, tensor<?x256xf16>) outs(%c : tensor<64x256xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32):
      %x1 = arith.extf %x : f16 to f32
      %y1 = arith.extf %y : f16 to f32
      %m = arith.mulf %x1, %y1 : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}

// Any number of rows, too: of their tiles, four.
// CHECK-LABEL: func.func @AnyRows
// CHECK: %[[ROWS:.+]] = arith.addi %{{.+}}, %c127
// CHECK: %[[TILES:.+]] = arith.divui %[[ROWS]], %c128
// CHECK: arith.cmpi sle, %{{.+}}, %c4
// CHECK: scf.if
func.func @AnyRows(%a: tensor<?x?xf16>, %b: tensor<?x128xf16>, %c: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%a, %b : tensor<?x?xf16>, tensor<?x128xf16>) outs(%c : tensor<?x128xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32):
      %x1 = arith.extf %x : f16 to f32
      %y1 = arith.extf %y : f16 to f32
      %m = arith.mulf %x1, %y1 : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<?x128xf32>
  return %r : tensor<?x128xf32>
}

// All sizes dynamic: most such products have many results.
// CHECK-LABEL: func.func @AllSizes
// CHECK-NOT: scf.if
func.func @AllSizes(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) {
    ^bb0(%x: f16, %y: f16, %acc: f32):
      %x1 = arith.extf %x : f16 to f32
      %y1 = arith.extf %y : f16 to f32
      %m = arith.mulf %x1, %y1 : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
}
