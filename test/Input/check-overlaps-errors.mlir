// RUN: tilewright-opt %s -tilewright-raise-memrefs -split-input-file -verify-diagnostics

func.func @Shifted(%x: memref<9xf32>) {
  %a = memref.subview %x[0] [8] [1] : memref<9xf32> to memref<8xf32, strided<[1]>>
  %b = memref.subview %x[1] [8] [1] : memref<9xf32> to memref<8xf32, strided<[1], offset: 1>>
  // expected-error @below {{operand 0 and operand 1 are overlapping parts of one memref, read and written at different places, so that the result depends on the order of iterations; copy one of them to a memref of its own first}}
  linalg.copy ins(%a : memref<8xf32, strided<[1]>>) outs(%b : memref<8xf32, strided<[1], offset: 1>>)
  return
}

// -----

func.func @Transposed(%x: memref<8x8xf32>) {
  // expected-error @below {{operand 0 and operand 1 are overlapping parts of one memref, read and written at different places}}
  linalg.transpose ins(%x : memref<8x8xf32>) outs(%x : memref<8x8xf32>) permutation = [1, 0]
  return
}

// -----

func.func @Product(%x: memref<8x8xf32>, %y: memref<8x8xf32>) {
  // expected-error @below {{operand 0 and operand 2 are overlapping parts of one memref, read and written at different places}}
  linalg.matmul ins(%x, %y : memref<8x8xf32>, memref<8x8xf32>) outs(%x : memref<8x8xf32>)
  return
}

// -----

func.func @WrittenTwice(%x: memref<8xf32>) {
  // expected-error @below {{operand 0 and operand 1 are overlapping parts of one memref, both written at different places}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x, %x : memref<8xf32>, memref<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t, %a : f32, f32
  }
  return
}
