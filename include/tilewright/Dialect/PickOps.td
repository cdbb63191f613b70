// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_PICK_OPS_TD
#define TILEWRIGHT_PICK_OPS_TD

include "tilewright/Dialect/TilewrightBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tilewright_PickOp : Op<Tilewright_Dialect, "pick", [Pure]> {
  let summary = "matrices of a tensor by their numbers, read where they lie";
  let description = [{
    Element (b, …) of the result is element (table[b], …) of `source`; a number beyond the
    source is moved inside. Nothing is copied: the kernel that reads the result has source
    and table (Picks.h).

    ```mlir
    %w = tilewright.pick %experts[%of] : tensor<8x512x1024xbf16>, tensor<24xi64> to tensor<24x512x1024xbf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `[` $table `]` attr-dict `:` type($source) `,` type($table) `to` type($result)
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
