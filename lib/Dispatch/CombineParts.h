// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the partial results of a reduction are read by the op that combines them: over the parallel
// loops of the reduction, then over the parts.
//
//   sum of 64 x ? -> 64, in 16 parts    (row, part) -> (row, part)  ->  (row, part) -> (row)

#ifndef TILEWRIGHT_LIB_DISPATCH_COMBINEPARTS_H
#define TILEWRIGHT_LIB_DISPATCH_COMBINEPARTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

struct PartsCombination {
  /// Of the partial results, then of the results.
  llvm::SmallVector<mlir::AffineMap> maps;
  llvm::SmallVector<mlir::utils::IteratorType> loops;
};

/// That of `op`, whose partial results have the dim of parts first, or last.
PartsCombination combineParts(mlir::linalg::GenericOp op, bool partsFirst);

} // namespace tilewright

#endif
