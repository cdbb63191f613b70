// A pass that fails leaves the IR in front of its pipeline, and the command that
// meets the failure again.
// REQUIRES: tilewright-compile
// RUN: rm -f %t.mlir
// RUN: tilewright-compile %s --target=cuda:sm_80 -o /dev/null --crash-reproducer=%t.mlir
// RUN: not ls %t.mlir
// RUN: not tilewright-compile %s --target=cuda:sm_80 -o %t.tw --require=matrix-unit --crash-reproducer=%t.mlir 2>&1 | FileCheck %s
// RUN: not ls %t.tw
// RUN: FileCheck %s --check-prefix=FILE <%t.mlir
// RUN: not tilewright-opt --run-reproducer %t.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not tilewright-compile %s --target=cuda:sm_80 -o %t.tw --require=matrix-unit --crash-reproducer=%t.no/where 2>&1 | FileCheck %s --check-prefix=NOWHERE

// CHECK: error: {{.*}}not on matrix units
// CHECK: reproducer generated at `{{.*}}.mlir`

// FILE: // tilewright-opt --run-reproducer {{.*}}.mlir -o /dev/null
// FILE: linalg.generic
// FILE: pipeline: "builtin.module({{.*}}tilewright-configure

// AGAIN: error: {{.*}}not on matrix units

// NOWHERE: cannot write '{{.*}}no/where': No such file or directory

func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x24xf32>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x24xf32>) outs(%c : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}
