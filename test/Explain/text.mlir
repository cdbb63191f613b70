// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80 -o /dev/null --explain 2>&1 | FileCheck %s --match-full-lines
// RUN: tilewright-compile %s --target=vulkan --emit=manifest -o /dev/null --explain 2>&1 | FileCheck %s --check-prefix=VARIANTS
// RUN: tilewright-compile %s --target=cuda:sm_80 -o /dev/null --explain=json --explain-output=%t.json
// RUN: python3 -c "import json, sys; d = json.load(open(sys.argv[1])); k = d['programs'][0]['kernels'][0]; print([op['kind'] for op in k['ops']], k['ops'][1]['uses'], d['kernels'][0]['kernel'], d['kernels'][0]['config'][:13], 'guard' in d['kernels'][0], d['programs'][0]['functions'][0]['results'])" %t.json | FileCheck %s --check-prefix=JSON
// RUN: not tilewright-compile %s --explain=yaml 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not tilewright-compile %s --target=cuda:sm_80 -o /dev/null --explain --explain-output=%t.no/where 2>&1 | FileCheck %s --check-prefix=WHERE

// CHECK:      cuda:sm_80
// CHECK-NEXT:   @main(?x64xf32, 64x64xf32, 64xf32): 2 kernels
// CHECK-NEXT:     operations {{.*}}dim(0, 0){{.*}}
// CHECK-NEXT:     bytes that must move {{.*}}
// CHECK-NEXT:     main_matmul_0(argument 0, argument 1, argument 2)
// CHECK-NEXT:     main_reduce_1(main_matmul_0)
// CHECK-NEXT:   main_matmul_0: 2 ops in one kernel
// CHECK-NEXT:     line {{[0-9]+}}   %p = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x64x…  product: mulf, addf -> ?x64xf32
// CHECK-NEXT:     line {{[0-9]+}}   %r = linalg.add ins(%p, %rows : tensor<?x64xf32>, tensor<?x64xf…  elementwise: addf -> ?x64xf32
// CHECK-NEXT:     operands: read ?x64xf32 %x, read 64x64xf32 %w, read 64xf32 %b, write ?x64xf32 %r
// CHECK-NEXT:     operations 8192 * dim(0, 0) + {{.*}}
// CHECK-NEXT:     bytes that must move {{.*}}
// CHECK-NEXT:     strategy simt_contraction: {{.*}}
// CHECK-NEXT:     block tile {{[0-9 x]+}}, {{[0-9 x]+}} warps, operands 0, 1 through shared memory in {{[0-9]}} stages
// CHECK-NEXT:     config: #tilewright.lowering_config<strategy = simt_contraction, {{.*}}>
// CHECK-NEXT:     not on matrix units: {{.*}}
// CHECK:          variant main_matmul_0: {{[0-9]+}} bytes of PTX, {{[0-9]+}} bytes of shared memory
// CHECK-NEXT:       if each operand has fewer than 2^31 elements
// CHECK-NEXT:       grid ({{.*}}), block ({{[0-9]+}}, 1, 1)
// CHECK-NEXT:     variant main_matmul_0_wide: {{.*}}
// CHECK-NEXT:       if always
// CHECK:        main_reduce_1: 4 ops in one kernel
// CHECK-NEXT:     line {{[0-9]+}}   %s = linalg.softmax {{.*}}reduction: maxnumf -> ?xf32
// CHECK-NEXT:     {{ +}}elementwise: subf, exp -> ?x64xf32

// VARIANTS: main_matmul_0: 2 ops in one kernel
// VARIANTS:   for vulkan_sg8
// VARIANTS:     strategy simt_contraction
// VARIANTS:   for vulkan_sg64
// VARIANTS:   variant main_matmul_0_sg8: {{[0-9]+}} bytes of SPIR-V
// VARIANTS:     if device(subgroup_size) == 8 and each operand has fewer than 2^31 elements

// JSON: ['product: mulf, addf', 'elementwise: addf'] [{'from': 0, 'type': '?x64xf32'}, {'argument': 2, 'type': {{.*}}}] main_matmul_0_upto1 #tilewright.l True [{'from': 1, 'type': '?x64xf32'}]
// KIND: error: --explain takes text, json or html
// WHERE: error: cannot write '{{.*}}no/where'

func.func @main(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>, %b: tensor<64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  %rows = linalg.broadcast ins(%b : tensor<64xf32>) outs(%e : tensor<?x64xf32>) dimensions = [0]
  %r = linalg.add ins(%p, %rows : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %s = linalg.softmax dimension(1) ins(%r : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}
