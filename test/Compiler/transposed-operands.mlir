// Products whose right operand lies row after row, of types of which instructions of
// warpgroups read only rows along the sum out of shared memory: they are warpgroups' all
// the same, with that operand out of registers, and right.

// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --fp=tf32 --target=cuda:sm_90a,cpu-reference -o %t/p.tw
// RUN: tilewright-compile %s --fp=tf32 --target=cuda:sm_90a --emit=ptx -o %t/ptx
// RUN: cat %t/ptx/cuda_sm_90a/*.ptx | FileCheck %s
// RUN: cat %t/ptx/cuda_sm_90a/*.ptx | not grep 'mma\.sync'
// RUN: env PTXSIM_ARCH=sm_90 tilewright-run %t/p.tw --device=ptxsim --function=tf32 --input=136x144xf32=random:1 --input=144x200xf32=random:2 --check=oracle | FileCheck %s --check-prefix=RIGHT
// RUN: env PTXSIM_ARCH=sm_90 tilewright-run %t/p.tw --device=ptxsim --function=bytes --input=136x144xi8=int:-9:9 --input=144x208xi8=int:-9:9:7 --check=oracle | FileCheck %s --check-prefix=RIGHT
// RUN: env PTXSIM_ARCH=sm_90 tilewright-run %t/p.tw --device=ptxsim --function=e4m3 --input=136x144xf8E4M3FN=random:1 --input=144x208xf8E4M3FN=random:3 --check=oracle | FileCheck %s --check-prefix=RIGHT

// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k32.s32.s8.s8 {{.*}}}, {{{.*}}},
// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k32.f32.e4m3.e4m3 {{.*}}}, {{{.*}}},
// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k8.f32.tf32.tf32 {{.*}}}, {{{.*}}},
// RIGHT: ok

func.func @tf32(%a: tensor<136x144xf32>, %b: tensor<144x200xf32>) -> tensor<136x200xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<136x200xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<136x200xf32>) -> tensor<136x200xf32>
  %r = linalg.matmul ins(%a, %b : tensor<136x144xf32>, tensor<144x200xf32>) outs(%z : tensor<136x200xf32>) -> tensor<136x200xf32>
  return %r : tensor<136x200xf32>
}

func.func @bytes(%a: tensor<136x144xi8>, %b: tensor<144x208xi8>) -> tensor<136x208xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<136x208xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<136x208xi32>) -> tensor<136x208xi32>
  %r = linalg.matmul ins(%a, %b : tensor<136x144xi8>, tensor<144x208xi8>) outs(%z : tensor<136x208xi32>) -> tensor<136x208xi32>
  return %r : tensor<136x208xi32>
}

func.func @e4m3(%a: tensor<136x144xf8E4M3FN>, %b: tensor<144x208xf8E4M3FN>) -> tensor<136x208xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<136x208xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<136x208xf32>) -> tensor<136x208xf32>
  %r = linalg.matmul ins(%a, %b : tensor<136x144xf8E4M3FN>, tensor<144x208xf8E4M3FN>) outs(%z : tensor<136x208xf32>) -> tensor<136x208xf32>
  return %r : tensor<136x208xf32>
}
