// Constants in a parameter file: the text has their names, the artifact their names, sizes and hashes.
// REQUIRES: tilewright-compile, tilewright-run, tilewright-inspect
// RUN: rm -rf %t && mkdir -p %t/moved
// RUN: cp %s %t/model.mlir
// RUN: python3 %S/Inputs/safetensors.py %t/model.safetensors 1 layer/0.w:F32:8x16 bias:F32:16 flat:F32:64 n:I8:16
// RUN: tilewright-compile %t/model.mlir -o %t/model.tw --target=cuda:sm_80,vulkan,cpu,cpu-reference
// RUN: tilewright-inspect %t/model.tw | FileCheck %s --check-prefix=INSPECT
// RUN: tilewright-compile %t/model.mlir --emit=manifest --target=cpu | FileCheck %s --check-prefix=MANIFEST
// RUN: not grep -q 'dialect_resources' %t/model.tw

// The file is found beside the program, or named; on the cpu it is used in place, elsewhere it is copied.
// RUN: tilewright-run %t/model.tw --device=cpu --input=4x8xf32=1 --check=oracle --print --verify-parameters | FileCheck %s
// RUN: tilewright-run %t/model.tw --device=ptxsim --input=4x8xf32=1 --check=oracle --print | FileCheck %s
// RUN: tilewright-run %t/model.tw --device=vulkan --input=4x8xf32=1 --check=oracle --print | FileCheck %s
// RUN: cd %t && tilewright-run model.tw --device=cpu --input=4x8xf32=1 --print | FileCheck %s
// RUN: mv %t/model.safetensors %t/moved/
// RUN: not tilewright-run %t/model.tw --device=cpu --input=4x8xf32=1 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: tilewright-run %t/model.tw --device=cpu --input=4x8xf32=1 --print --parameters=%t/moved | FileCheck %s

// Another file has other values, of which the oracle knows, too; the hashes tell.
// RUN: python3 %S/Inputs/safetensors.py %t/other.safetensors 2 layer/0.w:F32:8x16 bias:F32:16 flat:F32:64 n:I8:16 unused:F32:3
// RUN: tilewright-run %t/model.tw --device=cpu --input=4x8xf32=1 --check=oracle --print --parameters=%t/other.safetensors | FileCheck %s --check-prefix=TWICE
// RUN: not tilewright-run %t/model.tw --device=cpu --input=4x8xf32=1 --parameters=%t/other.safetensors --verify-parameters 2>&1 | FileCheck %s --check-prefix=HASH

// From the text at once, and again when the file changed.
// RUN: env XDG_CACHE_HOME=%t/cache tilewright-run %t/model.mlir --device=cpu --input=4x8xf32=1 --check=oracle --print --parameters=%t/moved/model.safetensors | FileCheck %s
// RUN: cp %t/other.safetensors %t/model.safetensors
// RUN: env XDG_CACHE_HOME=%t/cache tilewright-run %t/model.mlir --device=cpu --input=4x8xf32=1 --check=oracle --print --verify-parameters | FileCheck %s --check-prefix=TWICE

// Embedded, the artifact needs no file; an object always is so.
// RUN: tilewright-compile %t/model.mlir -o %t/moved/whole.tw --target=cpu,cpu-reference --embed-parameters --parameters=%t/moved/model.safetensors
// RUN: rm %t/model.safetensors %t/moved/model.safetensors
// RUN: tilewright-run %t/moved/whole.tw --device=cpu --input=4x8xf32=1 --print | FileCheck %s
// RUN: tilewright-compile %t/model.mlir --emit=object -o %t/object.o --target=cpu --parameters=%t/other.safetensors
// RUN: not grep -q '"parameter"' %t/object.o

// INSPECT: constant 0 8x16xf32 is parameter 'layer/0.w'
// MANIFEST-DAG: "file": "model.safetensors"
// MANIFEST-DAG: "parameter": "layer/0.w"
// MANIFEST-DAG: "parameter": "bias"
// MANIFEST-DAG: "bytes": 512
// MANIFEST-DAG: "sha256": "{{[0-9a-f]+}}"
// CHECK: result[0]: 4x4xf32=[-33 86 -33 9]
// CHECK-NEXT: result[1]: 16xi8=0 -2 3 1
// TWICE: result[0]: 4x4xf32=[-132 344 -132 36]
// TWICE-NEXT: result[1]: 16xi8=0 -4 6 2
// MISSING: model.safetensors': No such file or directory; the program takes 4 tensors from there (--parameters
// HASH: other.safetensors': its tensor '{{.*}}' has other values than the one that the program was compiled with

module attributes {tilewright.parameters = "model.safetensors"} {
  func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<16xi8>) {
    %w = arith.constant dense_resource<"layer/0.w"> : tensor<8x16xf32>
    %b = arith.constant dense_resource<bias> : tensor<16xf32>
    %flat = arith.constant dense_resource<flat> : tensor<64xf32>
    %n = arith.constant dense_resource<n> : tensor<16xi8>
    %e = tensor.empty() : tensor<4x16xf32>
    %s = linalg.broadcast ins(%b : tensor<16xf32>) outs(%e : tensor<4x16xf32>) dimensions = [0]
    %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%s : tensor<4x16xf32>) -> tensor<4x16xf32>
    %v = tensor.expand_shape %flat [[0, 1]] output_shape [16, 4] : tensor<64xf32> into tensor<16x4xf32>
    %zero = arith.constant 0.0 : f32
    %f = tensor.empty() : tensor<4x4xf32>
    %z = linalg.fill ins(%zero : f32) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = linalg.matmul ins(%h, %v : tensor<4x16xf32>, tensor<16x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %r, %n : tensor<4x4xf32>, tensor<16xi8>
  }
}
