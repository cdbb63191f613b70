// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of irregular ops: a tensor as outer x along x inner, and back. And
// sorts (PrepareSorts.cpp).

#ifndef TILEWRIGHT_LIB_INPUT_IRREGULARFORMS_H
#define TILEWRIGHT_LIB_INPUT_IRREGULARFORMS_H

#include "tilewright/Dialect/Fourier.h"
#include "tilewright/Dialect/Irregular.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
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

using Body =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;
using LoopKinds = mlir::SmallVector<mlir::utils::IteratorType>;

/// A linalg.generic whose operands are indexed by `maps`, the last one for `out`.
mlir::Value generic(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange ins,
                    mlir::Value out, mlir::ArrayRef<mlir::AffineMap> maps,
                    const LoopKinds &loops, Body body);

mlir::Value integer(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                    int64_t value);

/// The sum of `flags`, of one dim, into `count`, of none.
mlir::Value countFlags(mlir::OpBuilder &b, mlir::Location loc, mlir::Value flags,
                       mlir::Value count);

/// Running sums of `flags`, of one dim.
ScanOp sumFlags(mlir::OpBuilder &b, mlir::Location loc, mlir::Value flags);

/// Coordinates for a scatter, of one dim and -1 where `flags` is 0: the number, from 0
/// on, that `sums` counts to.
mlir::Value findPlaces(mlir::OpBuilder &b, mlir::Location loc, mlir::Value flags,
                       mlir::Value sums);

/// A sort along the second of three dims: runs, and merges of them until there
/// is one.
void prepareSort(mlir::RewriterBase &b, SortOp op);

/// The number of each element along `dim`.
mlir::Value numbersAlong(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::ArrayRef<mlir::OpFoldResult> sizes, int64_t dim,
                         mlir::Type type);

/// The sort whose first elements `op` is replaced by.
SortOp sortForTopK(mlir::RewriterBase &b, TopKOp op);

/// The scan that numbers what `op` finds, with all else that it is replaced by
/// (PrepareNonzero.cpp).
ScanOp scanForNonzero(mlir::RewriterBase &b, NonzeroOp op);

/// Replaces `op` by structured ops (PrepareFourier.cpp).
void decomposeFourier(mlir::RewriterBase &b, FftOp op);

/// The sort and the scan of what `op` is replaced by (PrepareUnique.cpp).
mlir::SmallVector<mlir::Operation *> sortForUnique(mlir::RewriterBase &b, UniqueOp op);
} // namespace tilewright

#endif
