// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a reduction's body combines, and the attribute of one that is cut into parts.

#ifndef TILEWRIGHT_ANALYSIS_REDUCTIONS_H
#define TILEWRIGHT_ANALYSIS_REDUCTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// On the op that computes parts: array<i64: loop, unit>. The last loop of the
/// op counts the parts and appears in its results only; iteration p of it runs
/// over part p of reduction loop `loop`, whose parts are of equal length, a
/// multiple of `unit`, but for the end.
inline constexpr llvm::StringLiteral kSplitAttr = "tilewright.split";

/// For each result the op that combines two partial results; empty where one
/// is no such combination, or has no known neutral element.
llvm::SmallVector<mlir::Operation *>
matchCombiners(mlir::linalg::LinalgOp op);

/// True if `op` reduces by a body of its own, of any number of results (the
/// largest element and where it is): terms are taken one after another.
bool isSequentialReduction(mlir::linalg::LinalgOp op);

} // namespace tilewright

#endif
