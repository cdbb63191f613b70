// Parameter files that are not what the program says, and programs that say it wrongly.
// REQUIRES: tilewright-compile
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not tilewright-compile good.mlir -o out.tw --target=cpu 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not tilewright-compile unnamed.mlir -o out.tw --target=cpu 2>&1 | FileCheck %s --check-prefix=UNNAMED
// RUN: not tilewright-compile number.mlir -o out.tw --target=cpu 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not tilewright-compile folder.mlir -o out.tw --target=cpu 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: python3 %S/Inputs/safetensors.py p.safetensors 1 w:F32:8x4
// RUN: not tilewright-compile good.mlir -o out.tw --target=cpu 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: python3 %S/Inputs/safetensors.py p.safetensors 1 w:I8:4x8
// RUN: not tilewright-compile good.mlir -o out.tw --target=cpu 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: python3 %S/Inputs/safetensors.py p.safetensors 1 v:F32:4x8
// RUN: not tilewright-compile good.mlir -o out.tw --target=cpu 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: python3 %S/Inputs/safetensors.py p.safetensors 1 w:F32:4x8
// RUN: not tilewright-compile elsewhere.mlir -o out.tw --target=cpu 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not tilewright-compile good.mlir -o out.tw --target=cpu --parameters=. 2>&1 | FileCheck %s --check-prefix=ORDINARY
// RUN: head -c 100 p.safetensors > cut.safetensors
// RUN: not tilewright-compile good.mlir -o out.tw --target=cpu --parameters=cut.safetensors 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: not tilewright-compile good.mlir -o out.tw --target=cpu --parameters=good.mlir 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: not ls out.tw
// RUN: tilewright-compile good.mlir -o out.tw --target=cpu
// RUN: tilewright-compile - -o out.tw --target=cpu < good.mlir

// MISSING: good.mlir:1:1: error: parameter file 'p.safetensors': No such file or directory
// UNNAMED: unnamed.mlir:2:8: error: resource 'w' has no data, and no parameter file is named: the module lacks tilewright.parameters, and there is no --parameters
// NUMBER: error: {{.*}}tilewright.parameters = 3 : i64 is not the name of a file
// FOLDER: error: {{.*}}tilewright.parameters = "a/p.safetensors" is not the name of a file beside the program; --parameters takes one of another folder
// SHAPE: good.mlir:3:10: error: parameter file 'p.safetensors': its tensor 'w' is F32[8, 4]; the program takes 4x8xf32
// TYPE: its tensor 'w' is I8[4, 8]; the program takes 4x8xf32
// NAME: it has no tensor 'w'; it has v
// ELSEWHERE: error: 'memref.global' op has parameter 'w'; parameters are tensors of arith.constant
// ORDINARY: parameter file '.': is not an ordinary file
// CUT: parameter file 'cut.safetensors': {{.*}}(truncated
// FOREIGN: parameter file 'good.mlir': says that its header has

//--- good.mlir
module attributes {tilewright.parameters = "p.safetensors"} {
  func.func @main() -> tensor<4x8xf32> {
    %w = arith.constant dense_resource<w> : tensor<4x8xf32>
    return %w : tensor<4x8xf32>
  }
}
//--- unnamed.mlir
func.func @main() -> tensor<4x8xf32> {
  %w = arith.constant dense_resource<w> : tensor<4x8xf32>
  return %w : tensor<4x8xf32>
}
//--- number.mlir
module attributes {tilewright.parameters = 3} {
  func.func @main() -> tensor<4x8xf32> {
    %w = arith.constant dense_resource<w> : tensor<4x8xf32>
    return %w : tensor<4x8xf32>
  }
}
//--- folder.mlir
module attributes {tilewright.parameters = "a/p.safetensors"} {
  func.func @main() -> tensor<4x8xf32> {
    %w = arith.constant dense_resource<w> : tensor<4x8xf32>
    return %w : tensor<4x8xf32>
  }
}
//--- elsewhere.mlir
module attributes {tilewright.parameters = "p.safetensors"} {
  memref.global "private" constant @w : memref<4x8xf32> = dense_resource<w>
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
