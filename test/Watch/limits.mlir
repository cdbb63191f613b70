// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t
// RUN: not tilewright-compile %s -o %t/out.tw --timeout=1e-6 2>&1 | FileCheck %s --check-prefix=TIME
// RUN: not tilewright-compile %s -o %t/out.tw --max-memory=1M 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not tilewright-opt %s -tilewright-normalize -canonicalize -o %t/out.mlir --timeout=1e-6 2>&1 | FileCheck %s --check-prefix=TIME
// RUN: not tilewright-opt %s -tilewright-normalize -canonicalize -o %t/out.mlir --max-memory=1M 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: ls -A %t | count 0
// RUN: tilewright-compile %s -o %t/out.tw --target=cpu --timeout=600 --max-memory=8G
// RUN: not tilewright-compile %s -o %t/out.tw --max-memory=much 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not tilewright-compile %s -o %t/out.tw --timeout=-1 2>&1 | FileCheck %s --check-prefix=SECONDS

// TIME: error: stopped, because it took longer than {{.*}} s (--timeout)
// MEMORY: error: stopped, because it took more than 1 MiB of memory (--max-memory)
// SIZE: error: --max-memory takes a size such as 500M or 4G, not 'much'
// SECONDS: error: --timeout: {{.*}}

func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
