// RUN: tilewright-opt %s -tilewright-convert-tosa -verify-diagnostics

func.func @Custom(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is not compiled: MLIR's conversions of TOSA to linalg have no form for it with these operands}}
  %r = tosa.custom %x {operator_name = "mine", domain_name = "here", implementation_attrs = ""} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
