// RUN: tilewright-opt %s -split-input-file -tilewright-drop-asserts | FileCheck %s

// CHECK-LABEL: func.func @Dropped(
// CHECK-NOT: cf.assert
module attributes {tilewright.asserts = "off"} {
  func.func @Dropped(%c: i1) {
    cf.assert %c, "never"
    return
  }
}

// -----

// CHECK-LABEL: func.func @Kept(
// CHECK: cf.assert
func.func @Kept(%c: i1) {
  cf.assert %c, "always"
  return
}
