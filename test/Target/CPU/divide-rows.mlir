// RUN: tilewright-opt %s -tilewright-divide-rows | FileCheck %s

// The reciprocal of each row's sum, brought to [1/2, 1), in front of the loop.
// CHECK-LABEL: func.func @Rows
// CHECK: %[[SCALE:.*]] = arith.bitcast %{{.*}} : vector<2xi32> to vector<2xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %arg2, %[[SCALE]]
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<2xf32>
// CHECK: arith.divf %[[ONE]], %[[SCALED]] : vector<2xf32>
// CHECK: scf.for
// CHECK: %[[E:.*]] = vector.transfer_read
// CHECK: %[[P:.*]] = arith.mulf %[[E]], %{{.*}} : vector<2x64xf32>
// CHECK: %[[Q:.*]] = arith.mulf %[[P]], %{{.*}} : vector<2x64xf32>
// CHECK: arith.truncf %[[Q]] : vector<2x64xf32> to vector<2x64xf16>
// CHECK-NOT: arith.divf
func.func @Rows(%x: memref<2x4096xf32>, %y: memref<2x4096xf16>, %sum: vector<2xf32>)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c4096 step %c64 {
    %e = vector.transfer_read %x[%c0, %i], %zero {in_bounds = [true, true]} : memref<2x4096xf32>, vector<2x64xf32>
    %s = vector.shape_cast %sum : vector<2xf32> to vector<2x1xf32>
    %d = vector.broadcast %s : vector<2x1xf32> to vector<2x64xf32>
    %q = arith.divf %e, %d : vector<2x64xf32>
    %h = arith.truncf %q : vector<2x64xf32> to vector<2x64xf16>
    vector.transfer_write %h, %y[%c0, %i] {in_bounds = [true, true]} : vector<2x64xf16>, memref<2x4096xf16>
  }
  return
}

// f32 is rounded correctly, and so are quotients whose divisor the loop makes.
// CHECK-LABEL: func.func @LeftAlone
// CHECK: %[[Q:.*]] = arith.divf %{{.*}}, %arg3 : vector<64xf32>
// CHECK: vector.transfer_write %[[Q]], %arg1
// CHECK: arith.divf
func.func @LeftAlone(%x: memref<4096xf32>, %y: memref<4096xf32>, %z: memref<4096xf16>, %sums: vector<64xf32>)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c4096 step %c64 {
    %e = vector.transfer_read %x[%i], %zero {in_bounds = [true]} : memref<4096xf32>, vector<64xf32>
    %q = arith.divf %e, %sums : vector<64xf32>
    vector.transfer_write %q, %y[%i] {in_bounds = [true]} : vector<64xf32>, memref<4096xf32>
    %one = vector.extract %e[0] : f32 from vector<64xf32>
    %d = vector.broadcast %one : f32 to vector<64xf32>
    %r = arith.divf %e, %d : vector<64xf32>
    %h = arith.truncf %r : vector<64xf32> to vector<64xf16>
    vector.transfer_write %h, %z[%i] {in_bounds = [true]} : vector<64xf16>, memref<4096xf16>
  }
  return
}
