// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-distribute),canonicalize,cse)' -split-input-file | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, access_bytes = 16, async_copy, load_matrices}>} {
// Eight lanes a row, four rows at a time: 8 copies of 16 bytes. The swizzle of a
// lane's row is computed once, and once more for the rows whose third bit is set;
// what else differs between copies is added.
// CHECK-LABEL: @aligned
// CHECK: %[[ROW:.*]] = arith.shrui %{{.*}}, %c3
// CHECK: %[[FLIP:.*]] = arith.andi %[[ROW]], %c56
// CHECK: %[[FIRST:.*]] = arith.xori %{{.*}}, %[[FLIP]]
// CHECK: tilewright.async_copy_run %arg0[%[[FROM:.*]]] to %{{.*}}[%[[FIRST]]] {count = 8 : i64} : memref<?xf16> to memref<2048xf16, #tilewright.shared>
// CHECK: %[[OTHER:.*]] = arith.xori %[[FIRST]], %c32
// CHECK-NOT: arith.xori
// CHECK: %[[THIRD:.*]] = arith.addi %[[FIRST]], %c512
// CHECK: tilewright.async_copy_run %{{.*}} to %{{.*}}[%[[THIRD]]]
// CHECK-COUNT-5: tilewright.async_copy_run
// CHECK-NOT: tilewright.async_copy_run
func.func private @aligned(%a: memref<64x512xf16>, %k: index)
    attributes {tilewright.kernel, tilewright.access = ["read"],
                tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %at = arith.muli %k, %c64 : index
  %s = memref.alloc() : memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>
  tilewright.async_copy %a[%c0, %at] to %s {in_bounds = [true, true], map = affine_map<(d0, d1) -> (d0, d1)>} : memref<64x512xf16> to memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>
  tilewright.async_commit
  return
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, access_bytes = 16, async_copy, load_matrices}>} {
// Rows of 514 halves: 4 bytes at a time; both bounds and the loop's end decide
// what is read.
// CHECK-LABEL: @narrow
// CHECK-SAME: %[[LIVE:[a-z0-9]+]]: i1)
// CHECK: %[[ROW:.*]] = arith.cmpi slt, %{{.*}}, %arg1
// CHECK: %[[BOTH:.*]] = arith.andi %[[LIVE]], %[[ROW]] : i1
// CHECK: %[[COLUMN:.*]] = arith.cmpi slt, %{{.*}}, %c514
// CHECK: %[[IN:.*]] = arith.andi %[[BOTH]], %[[COLUMN]] : i1
// CHECK: %[[N:.*]] = arith.select %[[IN]], %c2, %c0
// CHECK: tilewright.async_copy_run %{{.*}}[%{{.*}}] to %{{.*}}[%{{.*}}] valid %[[N]] {count = 2 : i64}
func.func private @narrow(%a: memref<?x514xf16>, %k: index, %live: i1)
    attributes {tilewright.kernel, tilewright.access = ["read"],
                tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %at = arith.muli %k, %c32 : index
  %s = memref.alloc() : memref<16x32xf16, #tilewright.shared>
  tilewright.async_copy %a[%c0, %at] to %s if %live {in_bounds = [false, false], map = affine_map<(d0, d1) -> (d0, d1)>} : memref<?x514xf16> to memref<16x32xf16, #tilewright.shared>
  tilewright.async_commit
  return
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, access_bytes = 16, async_copy}>} {
// Clipped at the end of rows: a run there is none of is not written, and a row that there is none of is zeros.
// CHECK-LABEL: @clipped
// CHECK-SAME: %[[LIVE:[a-z0-9]+]]: i1)
// CHECK: %[[ROW:.*]] = arith.cmpi sgt, %arg1, %c0
// CHECK: %[[N:.*]] = arith.select %[[ROW]], %c4, %c0
// CHECK: %[[COLUMN:.*]] = arith.cmpi slt, %{{.*}}, %c1000
// CHECK: %[[THERE:.*]] = arith.andi %[[LIVE]], %[[COLUMN]] : i1
// CHECK: scf.if %[[THERE]] {
// CHECK-NEXT: tilewright.async_copy_run %{{.*}}[%{{.*}}] to %{{.*}}[%{{.*}}] valid %[[N]] {count = 4 : i64}
// CHECK-NEXT: }
func.func private @clipped(%a: memref<?x1000xf32>, %k: index, %live: i1)
    attributes {tilewright.kernel, tilewright.access = ["read"],
                tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %at = arith.muli %k, %c128 : index
  %s = memref.alloc() : memref<2x128xf32, #tilewright.shared>
  tilewright.async_copy %a[%c0, %at] to %s if %live {in_bounds = [false, false], map = affine_map<(d0, d1) -> (d0, d1)>, tilewright.clipped = 16 : i64} : memref<?x1000xf32> to memref<2x128xf32, #tilewright.shared>
  tilewright.async_commit
  return
}
}
