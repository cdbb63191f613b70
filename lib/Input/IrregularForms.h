// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of irregular ops: a tensor as outer x along x inner, and back. And
// sorts (PrepareSorts.cpp).

#ifndef TILEWRIGHT_LIB_INPUT_IRREGULARFORMS_H
#define TILEWRIGHT_LIB_INPUT_IRREGULARFORMS_H

#include "tilewright/Dialect/Irregular.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {
using Groups = mlir::SmallVector<mlir::ReassociationIndices>;

/// `value` with dims joined as `groups` says; all alone: as it is.
mlir::Value collapse(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                     const Groups &groups);

/// `value` with its dims split as `groups` says into `sizes`.
mlir::Value expand(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                   const Groups &groups,
                   mlir::ArrayRef<mlir::OpFoldResult> sizes);

/// Groups of `count` dims from `first` on, for what is there of them.
void addGroup(Groups &groups, int64_t first, int64_t count);

/// `value` as those dims in front of `dim`, `dim`, and those behind it.
mlir::Value flattenAround(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value value, int64_t dim);

/// `value`, of three dims, with those of a tensor of `sizes`.
mlir::Value restoreAround(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value value,
                          mlir::ArrayRef<mlir::OpFoldResult> sizes,
                          int64_t dim);

/// A sort along the second of three dims: runs, and merges of them until there
/// is one.
void prepareSort(mlir::RewriterBase &b, SortOp op);

/// The sort whose first elements `op` is replaced by.
SortOp sortForTopK(mlir::RewriterBase &b, TopKOp op);

/// The scan that numbers what `op` finds, with all else that it is replaced by
/// (PrepareNonzero.cpp).
ScanOp scanForNonzero(mlir::RewriterBase &b, NonzeroOp op);
} // namespace tilewright

#endif
