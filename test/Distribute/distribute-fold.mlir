// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

// Offsets in memory whose swizzle has a fold: both fields of higher bits into one.
// CHECK-LABEL: func.func private @fold
// CHECK: %[[NEAR:.*]] = arith.shrui %[[OFFSET:.*]], %c3
// CHECK: %[[FAR:.*]] = arith.shrui %[[OFFSET]], %c5
// CHECK: %[[BOTH:.*]] = arith.xori %[[NEAR]], %[[FAR]]
// CHECK: %[[FIELD:.*]] = arith.andi %[[BOTH]], %c112
// CHECK: %[[SWIZZLED:.*]] = arith.xori %[[OFFSET]], %[[FIELD]]
// CHECK: vector.store %{{.*}}, %{{.*}}[%[[SWIZZLED]]]
func.func private @fold(%a: memref<64x64xi8>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i8
  %s = memref.alloc() : memref<64x64xi8, #tilewright.shared<swizzle = [3, 4, 3, 5]>>
  %v = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true]} : memref<64x64xi8>, vector<64x64xi8>
  vector.transfer_write %v, %s[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xi8>, memref<64x64xi8, #tilewright.shared<swizzle = [3, 4, 3, 5]>>
  return
}
