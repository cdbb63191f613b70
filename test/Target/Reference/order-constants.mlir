// RUN: tilewright-opt %s -tilewright-order-constants | FileCheck %s

// Names and places follow the first use; a name of the user's stays and is not
// taken; what nobody uses stays where it is.
// CHECK: memref.global "private" constant @__constant_1 : memref<2xi32> = dense<[1, 2]>
// CHECK-NEXT: memref.global "private" constant @__constant_2 : memref<2xi32> = dense<[3, 4]>
// CHECK-NEXT: memref.global "private" constant @mine
memref.global "private" constant @mine : memref<2xi32> = dense<[5, 6]>
memref.global "private" constant @__constant_2xi32 : memref<2xi32> = dense<[3, 4]>
memref.global "private" constant @__constant_2xi32_0 : memref<2xi32> = dense<[1, 2]>
// CHECK: func.func @__constant_0
func.func @__constant_0() -> (memref<2xi32>, memref<2xi32>, memref<2xi32>) {
  // CHECK: memref.get_global @__constant_1
  %a = memref.get_global @__constant_2xi32_0 : memref<2xi32>
  // CHECK: memref.get_global @__constant_2
  %b = memref.get_global @__constant_2xi32 : memref<2xi32>
  // CHECK: memref.get_global @mine
  %c = memref.get_global @mine : memref<2xi32>
  return %a, %b, %c : memref<2xi32>, memref<2xi32>, memref<2xi32>
}
