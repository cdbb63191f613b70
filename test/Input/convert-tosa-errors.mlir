// RUN: tilewright-opt %s -tilewright-convert-tosa -verify-diagnostics

func.func @Custom(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is not compiled: MLIR's conversions of TOSA to linalg have no form for it with these operands}}
  %r = tosa.custom %x {operator_name = "mine", domain_name = "here", implementation_attrs = ""} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @TileOfUnknownCount(%x: tensor<2x3xf32>) -> tensor<6x3xf32> {
  %s = tosa.const_shape {values = dense<[-1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.tile' op is not compiled}}
  %r = tosa.tile %x, %s : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<6x3xf32>
  return %r : tensor<6x3xf32>
}

// Of its shapes nothing is said.
func.func @ResizeOfAnySize(%x: tensor<1x?x8x4xf32>) -> tensor<1x?x16x4xf32> {
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<-1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.resize' op is not compiled}}
  %r = tosa.resize %x, %scale, %offset, %border {mode = BILINEAR} : (tensor<1x?x8x4xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x?x16x4xf32>
  return %r : tensor<1x?x16x4xf32>
}
