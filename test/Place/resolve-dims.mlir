// RUN: tilewright-opt %s -tilewright-resolve-dims | FileCheck %s

func.func private @k(%x: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel}

// CHECK-LABEL: func @DimOfResultIsDimOfArgument
// CHECK: %[[D:.*]] = tensor.dim %arg0
// CHECK-NOT: tensor.dim
// CHECK: return %[[D]]
func.func @DimOfResultIsDimOfArgument(%x: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %r = tilewright.dispatch @k(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %n = tensor.dim %r, %c0 : tensor<?xf32>
  return %n : index
}
