// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80 -o /dev/null --print-ir-before=tile --print-ir-after=configure,cse 2>&1 | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_80 -o /dev/null --mlir-print-ir-after-all 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: tilewright-compile %s --target=cuda:sm_80 -o /dev/null --print-ir-before-all 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: not tilewright-compile %s --target=cuda:sm_80 -o %t.tw --require=matrix-unit --print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=FAILURE
// RUN: not tilewright-compile %s --target=cuda:sm_80 -o %t.tw --print-ir-after=cse,tilewright-nothing 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: tilewright-compile %s --target=cuda:sm_80 -o /dev/null --timing 2>&1 | FileCheck %s --check-prefix=TIMING

// CHECK:     IR Dump After CSE (cse)
// CHECK:     IR Dump After stage configure
// CHECK:     module @cuda_sm_80
// CHECK:       tilewright.lowering_config
// CHECK-NOT: scf.for
// CHECK:     IR Dump Before stage tile
// CHECK-NOT: IR Dump After stage tile

// ALL:      IR Dump After CheckInputPass (tilewright-check-input)
// ALL:      IR Dump After {{.*}} (tilewright-configure)
// ALL:      IR Dump After {{.*}} (tilewright-convert-to-nvvm)
// ALL:      llvm.func @main_matmul_0
// BEFORE:   IR Dump Before CheckInputPass (tilewright-check-input)

// FAILURE: IR Dump After {{.*}} Failed (tilewright-configure)
// FAILURE: error: {{.*}}not on matrix units

// UNKNOWN: error: cannot print the IR around 'tilewright-nothing': neither a stage nor a pass that ran; passes that did: {{.*}}canonicalize

// TIMING: Execution time report
// TIMING: compile
// TIMING:   stage configure
// TIMING:     configure of cuda_sm_80
// TIMING:   program cuda:sm_80
// TIMING:     kernel main_matmul_0
// TIMING:       generate code

func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x24xf32>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x24xf32>) outs(%c : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}
