// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which matrix instruction computes which product. Stages in front of `configure` ask
// whether there is one, `configure` which one, `vectorize` writes it down.

#ifndef TILEWRIGHT_ANALYSIS_INSTRUCTIONS_H
#define TILEWRIGHT_ANALYSIS_INSTRUCTIONS_H

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Support/Refusal.h"

namespace tilewright {

/// Whether the program allows a liberty with floats (`--fp=flag`).
bool hasLiberty(mlir::Operation *op, llvm::StringRef flag);

/// True if operands, accumulator and extensions are the instruction's.
bool hasTypesOf(mlir::linalg::LinalgOp op, const Contraction &contraction,
                const MatrixInstruction &instruction);

/// The instruction of that name if it computes `op`, which is `contraction` or, where that is
/// null, none. Of kind Numerics is that it would round operands of f32, which the program does
/// not allow: a way out.
OrRefusal<MatrixInstruction> matchInstruction(mlir::linalg::LinalgOp op, llvm::StringRef name,
                                              const Contraction *contraction);

/// Whether matrix units are the first choice for `op`: the target has an
/// instruction for its types, the loops are one m and n each, neither so few
/// rows nor so few columns that most of a tile would be idle. A pinned config
/// decides by its `mma`.
bool isForMatrixUnit(mlir::linalg::LinalgOp op, TargetAttr target);

/// The instruction of a warpgroup of the same types with `columns` columns.
mlir::StringAttr withColumns(mlir::StringAttr instruction, int64_t columns);

} // namespace tilewright

#endif
