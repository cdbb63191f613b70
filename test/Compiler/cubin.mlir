// REQUIRES: ptxas
//
// One file per kernel variant, and what each takes; the same bytes every time.
//
// RUN: rm -rf %t && tilewright-compile %s --target=cuda:sm_80 --emit=cubin --ptxas=%ptxas -o %t/a 2>&1 | FileCheck %s
// RUN: ls %t/a/cuda_sm_80 | FileCheck %s --check-prefix=FILES
// RUN: tilewright-compile %s --target=cuda:sm_80 --emit=cubin --ptxas=%ptxas --serial -o %t/b 2>/dev/null
// RUN: diff -r %t/a %t/b
// RUN: tilewright-compile %s --target=cuda:sm_80,cpu --resources=json --ptxas=%ptxas -o %t/with.tw 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: env PATH=/nowhere CUDA_HOME=/nowhere %tools/tilewright-compile %s --target=cuda:sm_80,cpu -o %t/without.tw
// RUN: cmp %t/with.tw %t/without.tw

// CHECK: cuda:sm_80 {{ *}}registers  spills (bytes)
// CHECK: main_elementwise_0 {{ *[1-9][0-9]*  *0  *0  *0}} + 0
// CHECK: main_elementwise_0_wide

// FILES-DAG: main_elementwise_0.cubin
// FILES-DAG: main_elementwise_0_wide.cubin

// JSON: "kernel": "main_elementwise_0{{.*}}",
// JSON: "program": "cuda:sm_80",
// JSON: "registers": {{[1-9]}}
// JSON: "shared_static": 0,
// JSON: "spill_loads": 0,
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
