// RUN: tilewright-opt %s -tilewright-print-code=debug=true -o /dev/null | FileCheck %s

// CHECK: .loc [[FILE:[0-9]+]] 7 3
// CHECK: .file [[FILE]] "/src/model.mlir"
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {chip = "sm_80"}>} {
  func.func private @k(%a: memref<?xf32>) attributes {tilewright.kernel, tilewright.access = ["write"]} {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0.0 : f32
    memref.store %z, %a[%c0] : memref<?xf32> loc("/src/model.mlir":7:3)
    return
  } loc("/src/model.mlir":5:1)
}
