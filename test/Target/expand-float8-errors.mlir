// RUN: tilewright-opt %s -tilewright-expand-float8 -split-input-file -verify-diagnostics

func.func @Sum(%x: f8E4M3FN) -> f8E4M3FN {
  // expected-error @below {{computes with floats of 8 bits, which are only stored and converted; extend them to f32, compute, and truncate the result}}
  %y = arith.addf %x, %x : f8E4M3FN
  return %y : f8E4M3FN
}
