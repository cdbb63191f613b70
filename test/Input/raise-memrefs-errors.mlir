// RUN: tilewright-opt %s -tilewright-raise-memrefs -split-input-file -verify-diagnostics

func.func @Reinterpreted(%a: memref<8xf32>, %b: memref<4xf32>) {
  // expected-error @below {{uses memrefs in a way that has no form on tensors; accepted are}}
  %v = memref.reinterpret_cast %a to offset: [0], sizes: [4], strides: [1] : memref<8xf32> to memref<4xf32>
  linalg.exp ins(%v : memref<4xf32>) outs(%b : memref<4xf32>)
  return
}

// -----

func.func private @Returned(%a: memref<8xf32>) -> memref<8xf32> {
  // expected-error @below {{returns a memref; return a tensor, or write into an argument}}
  return %a : memref<8xf32>
}

// -----

// expected-error @below {{argument 0 has type 'memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>'; only ranked memrefs with a stride per dim are raised}}
func.func @Blocked(%a: memref<8xf32, affine_map<(i) -> (i floordiv 2)>>) {
  return
}
