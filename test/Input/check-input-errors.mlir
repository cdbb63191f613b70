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

// expected-error @below {{argument 0 has type 'tensor<1x1x1x1x1x1x1x1x1xf32>': the largest rank is 6}}
func.func @Rank9(%a: tensor<1x1x1x1x1x1x1x1x1xf32>) {
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
