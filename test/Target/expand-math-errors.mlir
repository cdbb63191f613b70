// RUN: tilewright-opt %s -tilewright-expand-math -verify-diagnostics

func.func @NoSuchPrecision(%x: f128) -> f128 {
  // expected-error @below {{'math.exp' op has no expansion for 'f128'; write it in terms of others, or use f32 or f64}}
  %0 = math.exp %x : f128
  return %0 : f128
}
