// RUN: not tilewright-opt %s -tilewright-bound-errors 2>&1 | FileCheck %s

// CHECK: error: {{.*}}@f.bounds is what the oracle calls the error bounds of @f, and the program has a function of that name; rename it
func.func @f(%x: f32) -> f32 {
  return %x : f32
}
func.func @f.bounds(%x: f32) -> f32 {
  return %x : f32
}
