// RUN: tilewright-opt %s -tilewright-widen-accumulators -split-input-file | FileCheck %s

#a = affine_map<(i, k) -> (i, k)>
#o = affine_map<(i, k) -> (i)>

// CHECK-LABEL: @WidensSums
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<?xf16>) outs(%{{.*}} : tensor<?xf64>)
// CHECK: arith.extf
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<?x?xf16>) outs(%[[W]] : tensor<?xf64>)
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : f16 to f64
// CHECK: arith.addf %{{.*}}, %[[X]] {tilewright.accumulator = f16} : f64
// CHECK: linalg.generic {{.*}} ins(%[[R]] : tensor<?xf64>) outs(%{{.*}} : tensor<?xf16>)
// CHECK: arith.truncf
func.func @WidensSums(%x: tensor<?x?xf16>, %c: tensor<?xf16>) -> tensor<?xf16> {
  %r = linalg.generic {indexing_maps = [#a, #o], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf16>) outs(%c : tensor<?xf16>) {
  ^bb0(%v: f16, %acc: f16):
    %s = arith.addf %acc, %v : f16
    linalg.yield %s : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>
}

// -----

#a = affine_map<(i, k) -> (i, k)>
#o = affine_map<(i, k) -> (i)>

// The product is part of the multiply-add.
// CHECK-LABEL: @WidensProducts
// CHECK: memref.alloc() : memref<4xf64>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f64
// CHECK: arith.addf %{{.*}}, %{{.*}} {tilewright.accumulator = f32} : f64
// CHECK: memref.dealloc
func.func @WidensProducts(%x: memref<4x8xbf16>, %c: memref<4xf32>) {
  linalg.generic {indexing_maps = [#a, #o], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x8xbf16>) outs(%c : memref<4xf32>) {
  ^bb0(%v: bf16, %acc: f32):
    %e = arith.extf %v : bf16 to f32
    %p = arith.mulf %e, %e : f32
    %s = arith.addf %p, %acc : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(i, k) -> (i, k)>
#o = affine_map<(i, k) -> (i)>

// CHECK-LABEL: @LeavesTheRest
// CHECK-NOT: f64
// CHECK: return
func.func @LeavesTheRest(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %y: tensor<4x8xi32>, %d: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %r = linalg.generic {indexing_maps = [#a, #o], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%c : tensor<4xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %s = arith.maximumf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [#a, #o], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<4x8xi32>) outs(%d : tensor<4xi32>) {
  ^bb0(%v: i32, %acc: i32):
    %s = arith.addi %acc, %v : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  return %r, %q : tensor<4xf32>, tensor<4xi32>
}
