// RUN: tilewright-opt %s -tilewright-specialize | FileCheck %s

// CHECK: func.func private @dynamic_rows_aligned
// CHECK-SAME: tilewright.divisible = array<i64: 0, 1, 4, 1, 0, 8>
// CHECK-SAME: tilewright.variant_of = "dynamic_rows"
// CHECK: func.func private @dynamic_rows(
// CHECK-NOT: tilewright.divisible
func.func private @dynamic_rows(%a: tensor<8x?xf32>, %b: tensor<?xf16>, %c: tensor<?x64xf32>) attributes {tilewright.kernel} {
  return
}

// CHECK-NOT: @static_rows_aligned
func.func private @static_rows(%a: tensor<?x63xf32>) attributes {tilewright.kernel} {
  return
}

// Rows of a window begin anywhere, unless a guard says otherwise.
// CHECK: func.func private @windows_aligned
// CHECK-SAME: tilewright.aligned = array<i64: 0>
// CHECK-NOT: tilewright.divisible
// CHECK-SAME: tilewright.variant_of = "windows"
func.func private @windows(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>)
    attributes {tilewright.kernel, tilewright.views = [strided<[?, 1], offset: ?>, strided<[64, 2], offset: ?>]} {
  return
}
