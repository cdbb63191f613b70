// RUN: tilewright-opt %s -tilewright-check-input -split-input-file -verify-diagnostics

// expected-error @below {{the module defines no public function, so there is nothing to compile}}
module {
}

// -----

// expected-error @below {{argument 0 has type 'tensor<*xf32>': only ranked types are compiled}}
func.func @Unranked(%a: tensor<*xf32>) {
  return
}

// -----

// expected-error @below {{argument 0 has type 'tensor<8xcomplex<f32>>': elements are i1}}
func.func @Complex(%a: tensor<8xcomplex<f32>>) {
  return
}

// -----

// expected-error @below {{argument 0 has type 'tensor<1x1x1x1x1x1x1x1x1x1x1xf32>': the largest rank is 10}}
func.func @Rank11(%a: tensor<1x1x1x1x1x1x1x1x1x1x1xf32>) {
  return
}

// -----

// expected-error @below {{argument 0 has type 'tensor<4294967296x4294967296xf32>': its size in bytes does not fit 63 bits}}
func.func @Overflow(%a: tensor<4294967296x4294967296xf32>) {
  return
}

// -----

// expected-error @below {{result 0 has type 'memref<8xf32>': return tensors, or write into a memref argument}}
func.func @ReturnsMemref(%a: memref<8xf32>) -> memref<8xf32> {
  return %a : memref<8xf32>
}

// -----

// expected-error @below {{argument 0 has type 'memref<8xf32, 3>': memrefs at the boundary have no memory space}}
func.func @SharedMemory(%a: memref<8xf32, 3>) {
  return
}

// -----

// expected-error @below {{has 'tilewright.kernel', which the compiler gives; remove the attribute}}
func.func @Kernel() attributes {tilewright.kernel} {
  return
}

// -----

// expected-error @below {{argument 0 has type 'f8E4M3FN': scalars are index, i1 to i64, f16, bf16, f32 or f64}}
func.func @Float8Scalar(%a: f8E4M3FN) {
  return
}

// -----

func.func @ConfigOfSoftmax(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{has a lowering config, but is no op with loops of its own; write it as linalg.generic, or give the config of its kernel by --config}}
  %r = linalg.softmax {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction>} dimension(1)
      ins(%x : tensor<8x8xf32>) outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

func.func @ConfigOfElementwise(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has a lowering config, but is no op with loops of its own}}
  %r = arith.addf %x, %x {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming>} : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @Misspelt(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{has a lowering config as 'tilewright.lowering_cfg', which nothing reads; call it 'tilewright.lowering_config'}}
  %r = linalg.matmul {tilewright.lowering_cfg = #tilewright.lowering_config<strategy = matrix_unit>}
      ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

func.func @WithoutPrefix(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{has a lowering config as 'lowering_config', which nothing reads}}
  %r = linalg.matmul {lowering_config = {cpu = #tilewright.lowering_config<strategy = matrix_unit>}}
      ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

func.func @Unknown(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{has the attribute 'tilewright.stages', which nothing reads; programs may give 'tilewright.lowering_config'}}
  %r = linalg.matmul {tilewright.stages = 4}
      ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

func.func @Check(%n: tensor<i32>) {
  // expected-error @below {{is what the compiler makes of cf.assert in the body of an op; write that}}
  tilewright.check %n, ["wrong"] : tensor<i32>
  return
}

// -----

func.func @Chunk(%x: tensor<2x4x3xf32>, %e: tensor<2x9x3xf32>, %n: index) -> tensor<2x9x3xf32> {
  // expected-error @below {{has a 'chunk', which the compiler chooses; leave it out}}
  %r = tilewright.scan ins(%x : tensor<2x4x3xf32>) chunk(%n) outs(%e : tensor<2x9x3xf32>) {dim = 1 : i64, totals} combine {
  ^bb0(%s: f32, %t: f32):
    %c = arith.addf %s, %t : f32
    tilewright.combined %c : f32
  } -> tensor<2x9x3xf32>
  return %r : tensor<2x9x3xf32>
}

// -----

func.func @Runs(%x: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  // expected-error @below {{has 'runs' or a 'width', which the compiler makes of whole sorts; leave it out}}
  %r = tilewright.sort ins(%x : tensor<2x4x3xf32>) outs(%x : tensor<2x4x3xf32>) {dim = 1 : i64, runs} -> tensor<2x4x3xf32>
  return %r : tensor<2x4x3xf32>
}

// -----

func.func @backwards(%x: tensor<16xf32>) -> tensor<4xf32> {
  // expected-error @below {{has a step of -2, and windows go forwards; read backwards in a linalg.generic, by a map as affine_map<(i) -> (9 - i * 2)>}}
  %r = tensor.extract_slice %x[9] [4] [-2] : tensor<16xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
