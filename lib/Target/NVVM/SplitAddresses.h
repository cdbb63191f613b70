// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An LLVM pass: what does not change in a loop comes first in addresses of shared memory.
//
//   gep f16, %tile, (%lane + %stage) + 1024
//     ->  gep f16, (gep f16, (gep f16, %tile, %lane), %stage), 1024
//
// The first step is the same in every iteration and leaves the loop, the last goes into
// the instruction; an addition of the stage is left. Of a sum of indices, the code
// generator would scale each anew. Done for what intrinsics take (ldmatrix, stmatrix,
// cp.async), of which loops have many; the loads and stores of products by threads have
// few addresses, and no register to spare. Nor have loops that carry very many values.

#ifndef TILEWRIGHT_LIB_TARGET_NVVM_SPLITADDRESSES_H
#define TILEWRIGHT_LIB_TARGET_NVVM_SPLITADDRESSES_H

#include "llvm/IR/PassManager.h"

namespace tilewright::nvvm {

struct SplitAddressesPass : llvm::PassInfoMixin<SplitAddressesPass> {
  static constexpr llvm::StringLiteral kName = "tilewright-split-addresses";
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

} // namespace tilewright::nvvm

#endif
