// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers of an instruction's operand.

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_OPERANDWORDS_H
#define TILEWRIGHT_LIB_DISTRIBUTE_OPERANDWORDS_H

#include "ThreadCode.h"

namespace tilewright {

/// The registers of the instruction's operand A, 32 bits each, of `held` in the order of
/// the operand's layout: places of a word, rows, halves of the sum; instructions along the
/// rows, then along the sum. Where `together` rows lie side by side, they come first, and
/// instructions along the rows among them.
Registers operandWords(ThreadCode &code, mlir::Location loc,
                       mlir::ArrayRef<mlir::Value> held, int64_t together,
                       int64_t repeatM);

/// Two elements of 16 bits as a vector, computed as one where both are computed alike.
mlir::Value computePair(mlir::OpBuilder &b, mlir::Location loc, mlir::Value first,
                        mlir::Value second);

} // namespace tilewright

#endif
