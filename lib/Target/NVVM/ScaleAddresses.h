// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An LLVM pass: a multiple of elements in an address of shared memory is one of bytes.
//
//   %e = shl nsw i32 %stage, 12            %s = sext i32 %stage to i64
//   %i = sext i32 %e to i64          ->    %b = shl nsw i64 %s, 13
//   gep half, %tile, i64 %i                gep i8, %tile, i64 %b
//
// The code generator multiplies once and wide then, and the assembler adds to the product
// in the same instruction; of a narrow product that is scaled it makes two. The last pass,
// as others make products narrow.

#ifndef TILEWRIGHT_LIB_TARGET_NVVM_SCALEADDRESSES_H
#define TILEWRIGHT_LIB_TARGET_NVVM_SCALEADDRESSES_H

#include "llvm/IR/PassManager.h"

namespace tilewright::nvvm {

struct ScaleAddressesPass : llvm::PassInfoMixin<ScaleAddressesPass> {
  static constexpr llvm::StringLiteral kName = "tilewright-scale-addresses";
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

} // namespace tilewright::nvvm

#endif
