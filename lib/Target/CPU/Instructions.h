// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions of x86 processors that multiply packed panels: dot products of words
// (AVX-512 VNNI and BF16, AVX-VNNI) and products of tile registers (AMX).

#ifndef TILEWRIGHT_LIB_TARGET_CPU_INSTRUCTIONS_H
#define TILEWRIGHT_LIB_TARGET_CPU_INSTRUCTIONS_H

#include "Chips.h"

#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Tilewright.h"

namespace tilewright::cpu {

/// The names of those that `chip` has.
llvm::SmallVector<llvm::StringRef> getPanelInstructions(const Chip &chip);

/// One operand of a product of panels, in memory: words x outer x perWord, or outer x
/// sum, as PackPanels.cpp writes them.
struct PanelOperand {
  mlir::Value memory;
  bool isUnsigned = false;
  /// Along its own loop, and along the sum.
  int64_t outer = 0, sum = 0;

  mlir::MemRefType getType() const {
    return mlir::cast<mlir::MemRefType>(memory.getType());
  }
};

/// The operands of a product with an instruction of panels: that of the accumulator's
/// rows, and that of its columns.
std::pair<PanelOperand, PanelOperand> getPanels(MmaOp op);

/// The product as one dot product per word of the sum and vector of the accumulator.
/// Replaces the op.
mlir::LogicalResult lowerDotProducts(MmaOp op, const MatrixInstruction &instruction);

} // namespace tilewright::cpu

#endif
