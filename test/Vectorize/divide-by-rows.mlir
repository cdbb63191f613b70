// RUN: tilewright-opt %s -split-input-file -tilewright-divide-by-rows | FileCheck %s

// What a row is divided by is inverted once for the row; a quotient in f32 is corrected, one that is rounded to f16 is not.
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32}>} {
// CHECK-LABEL: func.func private @softmax
// CHECK-SAME: %[[X:.*]]: vector<4x128xf32>, %[[S:.*]]: vector<4xf32>
// CHECK: %[[BITS:.*]] = arith.bitcast %[[S]] : vector<4xf32> to vector<4xi32>
// CHECK: %[[SCALE:.*]] = arith.bitcast %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK: %[[T:.*]] = arith.mulf %[[S]], %[[SCALE]] : vector<4xf32>
// CHECK: %[[Y:.*]] = arith.divf %{{.*}}, %[[T]] : vector<4xf32>
// CHECK: %[[ROWS:.*]] = vector.broadcast %[[Y]]
// CHECK: %[[WIDE:.*]] = vector.transpose %[[ROWS]]
// CHECK: %[[N:.*]] = arith.mulf %[[X]], %{{.*}} : vector<4x128xf32>
// CHECK: %[[Q:.*]] = arith.mulf %[[N]], %[[WIDE]]
// CHECK: %[[NEGATIVE:.*]] = arith.negf %[[Q]]
// CHECK: %[[LEFT:.*]] = math.fma %[[NEGATIVE]], %{{.*}}, %[[N]]
// CHECK: %[[CORRECTED:.*]] = math.fma %[[LEFT]], %[[WIDE]], %[[Q]]
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[CORRECTED]], %[[CORRECTED]]
// CHECK: %[[RESULT:.*]] = arith.select %[[NAN]], %[[Q]], %[[CORRECTED]]
// CHECK-NOT: arith.divf
// CHECK: vector.transfer_write %[[RESULT]]
func.func private @softmax(%x: vector<4x128xf32>, %s: vector<4xf32>, %o: tensor<4x128xf32>) -> tensor<4x128xf32> attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %b = vector.broadcast %s : vector<4xf32> to vector<128x4xf32>
  %t = vector.transpose %b, [1, 0] : vector<128x4xf32> to vector<4x128xf32>
  %q = arith.divf %x, %t : vector<4x128xf32>
  %w = vector.transfer_write %q, %o[%c0, %c0] {in_bounds = [true, true]} : vector<4x128xf32>, tensor<4x128xf32>
  return %w : tensor<4x128xf32>
}

// CHECK-LABEL: func.func private @rounded
// CHECK: arith.divf %{{.*}} : f32
// CHECK: arith.mulf
// CHECK: %[[Q:.*]] = arith.mulf
// CHECK-NOT: math.fma
// CHECK: arith.truncf %[[Q]]
func.func private @rounded(%x: vector<128xf32>, %s: f32, %o: tensor<128xf16>) -> tensor<128xf16> attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %b = vector.broadcast %s : f32 to vector<128xf32>
  %q = arith.divf %x, %b : vector<128xf32>
  %h = arith.truncf %q : vector<128xf32> to vector<128xf16>
  %w = vector.transfer_write %h, %o[%c0] {in_bounds = [true]} : vector<128xf16>, tensor<128xf16>
  return %w : tensor<128xf16>
}

// Divisors of their own, and numbers of other types, stay quotients.
// CHECK-LABEL: func.func private @others
// CHECK: arith.divf {{.*}} : vector<128xf32>
// CHECK: arith.divf {{.*}} : vector<128xf64>
func.func private @others(%x: vector<128xf32>, %y: vector<128xf32>, %d: vector<128xf64>, %s: f64) -> (vector<128xf32>, vector<128xf64>) attributes {tilewright.kernel} {
  %q = arith.divf %x, %y : vector<128xf32>
  %b = vector.broadcast %s : f64 to vector<128xf64>
  %r = arith.divf %d, %b : vector<128xf64>
  return %q, %r : vector<128xf32>, vector<128xf64>
}
}

// -----

// Vulkan's division is no more than that anyway.
module attributes {tilewright.target = #tilewright.target<"vulkan", "spirv", {subgroup = 32}>} {
// CHECK-LABEL: func.func private @vulkan
// CHECK: arith.divf {{.*}} : vector<128xf32>
func.func private @vulkan(%x: vector<128xf32>, %s: f32) -> vector<128xf32> attributes {tilewright.kernel} {
  %b = vector.broadcast %s : f32 to vector<128xf32>
  %q = arith.divf %x, %b : vector<128xf32>
  return %q : vector<128xf32>
}
}
