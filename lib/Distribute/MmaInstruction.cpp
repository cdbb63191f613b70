// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block-level matrix products by matrix instructions. The block tile is a grid
// of instruction tiles; A, B and the accumulator are fragments in registers, in
// layouts made of the instruction's atoms (instructionLayouts). Each
// instruction tile becomes one tilewright.mma_fragment on the registers of its
// atoms.

#include "ThreadCode.h"

using namespace mlir;
using namespace tilewright;

LogicalResult ThreadCode::mma(MmaOp op) {
  return op.getInstruction() ? multiplyByInstruction(op) : multiplyByFma(op);
}

FailureOr<MmaLayouts>
tilewright::instructionLayouts(MmaOp op, const ThreadRange &threads) {
  return op.emitOpError() << "instruction '" << *op.getInstruction()
                          << "' is not known";
}

LogicalResult ThreadCode::multiplyByInstruction(MmaOp op) {
  return op.emitOpError() << "instruction '" << *op.getInstruction()
                          << "' is not known";
}
