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

// -----

func.func @LoadsOfWhatIsWritten(%x: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<8xf32>) {
  ^bb0(%out: f32):
    %c0 = arith.constant 0 : index
    // expected-error @below {{in a body loads from what the op writes; write into another memref}}
    %v = memref.load %x[%c0] : memref<8xf32>
    linalg.yield %v : f32
  }
  return
}

// -----

func.func @WrittenConstants(%x: memref<8xf32>) {
  %c = arith.constant dense<2.0> : tensor<8xf32>
  // expected-error @below {{is a constant memref, and is written; copy it into an allocation first}}
  %m = bufferization.to_buffer %c read_only : tensor<8xf32> to memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%m : memref<8xf32>)
  return
}

// -----

func.func @Carried(%a: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%m = %a) -> (memref<8xf32>) {
    linalg.exp ins(%m : memref<8xf32>) outs(%m : memref<8xf32>)
    // expected-error @below {{passes on a memref; pass its tensor, or write into an argument}}
    scf.yield %m : memref<8xf32>
  }
  return
}
