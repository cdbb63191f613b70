// REQUIRES: tilewright-compile, tilewright-run
// RUN: not env TILEWRIGHT_CPU_THREADS=two tilewright-run %s --device=cpu --input=4xf32=1 2>&1 | FileCheck %s

// A number of threads that is none is said, not passed over.
// CHECK: TILEWRIGHT_CPU_THREADS is 'two'; expected a number from 1 to 4096
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
