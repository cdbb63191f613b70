// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80,cuda:sm_90a,cpu,cpu:x86-64-v3+avx2 -o %t.tw
// RUN: env PTXSIM_ARCH=sm_80 tilewright-run %t.tw --device=ptxsim --input=4xf32=1 --trace=%t.json
// RUN: FileCheck %s --check-prefix=OLD < %t.json
// RUN: env PTXSIM_ARCH=sm_90 tilewright-run %t.tw --device=ptxsim --input=4xf32=1 --trace=%t.json
// RUN: FileCheck %s --check-prefix=NEW < %t.json
// RUN: tilewright-compile %s --target=cuda:sm_103f --emit=manifest -o - | FileCheck %s --check-prefix=FAMILY

// Of the programs that a device runs, the one that asks most of it, wherever it stands.
// OLD: "target":{{ *}}"cuda:sm_80"
// NEW: "target":{{ *}}"cuda:sm_90a"
// FAMILY: "sm_family": 103
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.addf %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
