// What depends on constants alone is computed when the program is loaded, from parameters and from constants of the text.
// REQUIRES: tilewright-compile, tilewright-run, tilewright-inspect
// RUN: rm -rf %t && mkdir -p %t && cp %s %t/model.mlir
// RUN: python3 %S/Inputs/safetensors.py %t/model.safetensors 1 w:F32:64x48 factors:F32:48
// RUN: tilewright-compile %t/model.mlir -o %t/model.tw --target=cuda:sm_80,vulkan,cpu,cpu-reference 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
// RUN: tilewright-inspect %t/model.tw | FileCheck %s --check-prefix=INSPECT
// RUN: tilewright-compile %t/model.mlir -o %t/model.tw --target=cuda:sm_80,vulkan,cpu,cpu-reference --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: tilewright-run %t/model.tw --device=cpu --input=8x64xf32=random:1 --check=oracle | FileCheck %s
// RUN: tilewright-run %t/model.tw --device=ptxsim --input=8x64xf32=random:1 --check=oracle | FileCheck %s
// RUN: tilewright-run %t/model.tw --device=vulkan --input=8x64xf32=random:1 --check=oracle | FileCheck %s

// Once, however often the function is called.
// RUN: tilewright-run %t/model.tw --device=cpu --input=8x64xf32=random:1 --bench=3 --trace=%t/trace.json
// RUN: grep -o '"name": *"main.at_load"' %t/trace.json | wc -l | FileCheck %s --check-prefix=ONCE

// QUIET-NOT: warning
// CHECK: ok
// ONCE: {{^}}1{{$}}
// INSPECT: constant 0 64x48xf32 is parameter 'w', read at load only
// INSPECT: constant 1 48xf32 is parameter 'factors', read at load only
// INSPECT: constant {{[0-9]+}} 64x48xf32 is result 0 of main.at_load, which runs at load
// EXPLAIN: @main.at_load(): 1 kernel
// EXPLAIN: runs once, when the program is loaded: it depends on constants alone
// EXPLAIN: @main(8x64xf32): 1 kernel
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
module attributes {tilewright.parameters = "model.safetensors"} {
  func.func @main(%x: tensor<8x64xf32>) -> tensor<8x48xf32> {
    %w = arith.constant dense_resource<"w"> : tensor<64x48xf32>
    %factors = arith.constant dense_resource<"factors"> : tensor<48xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x48xf32>
    %s = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
        ins(%w, %factors : tensor<64x48xf32>, tensor<48xf32>) outs(%e : tensor<64x48xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<64x48xf32>
    %d = tensor.empty() : tensor<8x48xf32>
    %z = linalg.fill ins(%zero : f32) outs(%d : tensor<8x48xf32>) -> tensor<8x48xf32>
    %r = linalg.matmul ins(%x, %s : tensor<8x64xf32>, tensor<64x48xf32>) outs(%z : tensor<8x48xf32>) -> tensor<8x48xf32>
    return %r : tensor<8x48xf32>
  }
}
