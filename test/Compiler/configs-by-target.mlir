// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80,vulkan:1.3+subgroup=8,cpu:x86-64-v3 --stop-after=configure -o - | FileCheck %s
// RUN: rm -rf %t && mkdir %t
// RUN: echo '{"f_matmul_0": {"cuda": "#tilewright.lowering_config<strategy = simt_contraction, block = [32, 32, 16], warps = [1, 2, 1], promote = [0, 1]>"}}' > %t/kernel.json
// RUN: tilewright-compile %s --target=cuda:sm_80 --config=%t/kernel.json --stop-after=configure -o - | FileCheck %s --check-prefix=KERNEL
// RUN: echo '{"54": {"cpu:x86-64-v3": "#tilewright.lowering_config<strategy = simt_contraction, block = [8, 16, 1], thread = [4, 16, 1]>"}}' > %t/line.json
// RUN: tilewright-compile %s --target=cuda:sm_80,cpu:x86-64-v3 --config=%t/line.json --stop-after=configure -o - | FileCheck %s --check-prefix=LINE
// RUN: echo '{"g_matmul_0": {"cuda": "#tilewright.lowering_config<strategy = simt_contraction>"}}' > %t/unknown.json
// RUN: not tilewright-compile %s --target=cuda:sm_80 --config=%t/unknown.json 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: echo '{"f_matmul_0": {"coda": "#tilewright.lowering_config<strategy = simt_contraction>"}}' > %t/target.json
// RUN: not tilewright-compile %s --target=cuda:sm_80 --config=%t/target.json 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: echo '{"f_matmul_0": {"cuda:sm_8": "#tilewright.lowering_config<strategy = simt_contraction>"}}' > %t/chip.json
// RUN: not tilewright-compile %s --target=cuda:sm_80 --config=%t/chip.json 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: echo '{"f_matmul_0": {"cuda:": "#tilewright.lowering_config<strategy = simt_contraction>"}}' > %t/colon.json
// RUN: not tilewright-compile %s --target=cuda:sm_80 --config=%t/colon.json 2>&1 | FileCheck %s --check-prefix=COLON
// RUN: echo '{"f_matmul_0": {"cuda_sm80": "#tilewright.lowering_config<strategy = simt_contraction>"}}' > %t/program.json
// RUN: not tilewright-compile %s --target=cuda:sm_80 --config=%t/program.json 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: echo '{"f_matmul_0": {"cpu_x86_64_v4": "#tilewright.lowering_config<strategy = simt_contraction>", "vulkan_sg8": "#tilewright.lowering_config<strategy = simt_contraction>", "vulkan_1_3_subgroup_8": "#tilewright.lowering_config<strategy = simt_contraction>", "cuda_sm_90a": "#tilewright.lowering_config<strategy = simt_contraction>", "cpu_v4": "#tilewright.lowering_config<strategy = simt_contraction>"}}' > %t/others.json
// RUN: tilewright-compile %s --target=cuda:sm_80 --config=%t/others.json --stop-after=configure -o - | FileCheck %s --check-prefix=OTHERS
// RUN: echo '{"f_matmul_0": {}}' > %t/none.json
// RUN: not tilewright-compile %s --target=cuda:sm_80 --config=%t/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/      vulkan =/      cud =/' %s > %t/cud.mlir
// RUN: not tilewright-compile %t/cud.mlir --target=cuda:sm_80 -o %t/cud.tw 2>&1 | FileCheck %s --check-prefix=OP
// RUN: sed 's/      vulkan =/      "cuda:sm_999" =/' %s > %t/sm.mlir
// RUN: not tilewright-compile %t/sm.mlir --target=cuda:sm_80 -o %t/sm.tw 2>&1 | FileCheck %s --check-prefix=SM
// RUN: tilewright-compile %s --target=cuda:sm_80 --config=%t/kernel.json --emit=manifest -o - | FileCheck %s --check-prefix=MANIFEST

// CHECK: module @cuda_sm_80
// CHECK: lowering_config<strategy = simt_contraction, block = [64, 32, 8], warps = [2, 1, 1], stages = 2, promote = [0, 1]>
// CHECK: module @vulkan_1_3_subgroup_8
// CHECK: lowering_config<strategy = simt_contraction, block = [16, 16, 8], warps = [2, 1, 1], promote = [0, 1]>
// CHECK: module @cpu
// CHECK: lowering_config<strategy = simt_contraction, block = {{.*}}, thread =

// KERNEL: lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [32, 32, 16], warps = [1, 2, 1], promote = [0, 1]>

// LINE: module @cpu
// LINE: lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [8, 16, 1], thread = [4, 16, 1]>

// UNKNOWN: error: a lowering config is given for kernel 'g_matmul_0', which program cuda_sm_80 does not have; it has f_matmul_0
// CHIP: chip.json: 'f_matmul_0' is for no target: target 'cuda:sm_8': no compute capability 'sm_8'
// COLON: colon.json: 'f_matmul_0' is for no target:
// PROGRAM: program.json: 'f_matmul_0' is for no target: 'cuda_sm80' names no program; that of cuda:sm_80, say, is 'cuda_sm_80'
// OTHERS: lowering_config<strategy = simt_contraction, block = [64, 32, 8]
// NONE: none.json: 'f_matmul_0' has configs for no target
// OP: error: 'linalg.matmul' op a lowering config names the target 'cud'; known are
// SM: error: 'linalg.matmul' op a lowering config is for no target: target 'cuda:sm_999': no compute capability 'sm_999'
// TARGET: target.json: 'f_matmul_0' names the target 'coda'; known are

// MANIFEST: "config": "#tilewright.lowering_config<strategy = simt_contraction, block = [32, 32, 16],

func.func @f(%a: tensor<72x40xf32>, %b: tensor<40x96xf32>, %c: tensor<72x96xf32>) -> tensor<72x96xf32> {
  // The op is at the line that LINE names.
  %r = linalg.matmul {tilewright.lowering_config = {
      "cuda:sm_80" = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 32, 8], warps = [2, 1, 1], stages = 2, promote = [0, 1]>,
      vulkan = #tilewright.lowering_config<strategy = simt_contraction, block = [16, 16, 8], warps = [2, 1, 1], promote = [0, 1]>}}
      ins(%a, %b : tensor<72x40xf32>, tensor<40x96xf32>) outs(%c : tensor<72x96xf32>) -> tensor<72x96xf32>
  return %r : tensor<72x96xf32>
}
