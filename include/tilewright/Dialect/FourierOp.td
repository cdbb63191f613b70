// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_FOURIER_OP_TD
#define TILEWRIGHT_FOURIER_OP_TD

include "tilewright/Dialect/TilewrightBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tilewright_FftOp : Op<Tilewright_Dialect, "fft", [
    DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the discrete Fourier transform of rows of complex numbers";
  let description = [{
    A complex number is a pair in the last dim, of size 2: its real and its imaginary
    part. Rows of n of them, along the dim before, are transformed:

        out[k] = sum over j of in[j] exp(-2 pi i j k / n)
        out[k] = sum over j of in[j] exp(+2 pi i j k / n) / n        `inverse`

    Elements are f32 or f64. A row whose length is known and has no prime factor above
    256 is transformed in stages, one for each factor of at most 16 (or larger prime): a
    product with a constant matrix, and, between two of them, one with powers of the
    root. Other rows are summed term by term, which is n terms for each element.

    ```mlir
    %r = tilewright.fft ins(%x : tensor<?x480x2xf32>) outs(%e : tensor<?x480x2xf32>)
        -> tensor<?x480x2xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$input, AnyShaped:$output, UnitAttr:$inverse);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)` `outs` `(` $output `:` type($output) `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputMutable(); }
  }];
}

#endif
