// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_PACKED_OPS_TD
#define TILEWRIGHT_PACKED_OPS_TD

include "tilewright/Dialect/TilewrightBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tilewright_UnpackOp : Op<Tilewright_Dialect, "unpack", [Pure]> {
  let summary = "the nibbles of a tensor of bytes, as numbers of i8";
  let description = [{
    Element (…, 2 i) of the result is the low half of byte (…, i), element
    (…, 2 i + 1) the high half, extended by its sign or (`is_unsigned`) by zeros. A
    kernel reads the bytes; the halves are taken apart in registers.

    ```mlir
    %w = tilewright.unpack %bytes : tensor<80x48xi8> to tensor<80x96xi8>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `to` type($result)
  }];
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getSourceType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getSource().getType());
    }
    ::mlir::RankedTensorType getType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getResult().getType());
    }
  }];
  let hasVerifier = 1;
}

#endif
