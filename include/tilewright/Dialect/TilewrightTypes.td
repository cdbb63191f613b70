// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TYPES_TD
#define TILEWRIGHT_TYPES_TD

include "tilewright/Dialect/TilewrightBase.td"

class Tilewright_Type<string name, string typeMnemonic>
    : TypeDef<Tilewright_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tilewright_Ring : Tilewright_Type<"Ring", "ring"> {
  let summary = "stages of shared memory that are filled and emptied in turn";
  let description = [{
    Each of the `stages` stages has room for one of each of `tiles`, and knows
    whether it is full or empty. Tiles are memrefs of static shape in
    `#tilewright.shared`; their strides and swizzle say how they lie there.

    ```mlir
    !tilewright.ring<4, memref<128x64xbf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
    ```
  }];
  let parameters = (ins "int64_t":$stages,
                        ArrayRefParameter<"::mlir::MemRefType">:$tiles);
  let assemblyFormat = "`<` $stages `,` $tiles `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of the tiles of one stage, without padding between them.
    int64_t getStageBytes();
  }];
}

def Tilewright_TensorMap : Tilewright_Type<"TensorMap", "tensor_map"> {
  let summary = "what a copy engine knows of a tensor in global memory";
  let description = [{
    A kernel argument in thread form: base, sizes, strides, box and swizzle as
    the hardware encodes them, made by the runtime for each launch.
  }];
}

#endif
