// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of tilewright-unroll-vectors.

#ifndef TILEWRIGHT_TARGET_CPU_UNROLL_H
#define TILEWRIGHT_TARGET_CPU_UNROLL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright::cpu {

/// Transfers that leave out inner dims of the memory, with these dims.
void populateWidenTransferPatterns(mlir::RewritePatternSet &patterns);
/// Reads of rows of elements a short stride apart, as reads side by side.
void populateStridedReadPatterns(mlir::RewritePatternSet &patterns);
/// Transfers of vectors of rank 2 and more, as transfers of rank 1.
void populateUnrollTransferPatterns(mlir::RewritePatternSet &patterns);
/// Transposes of square tiles whose rows are registers, in registers.
void populateTransposeTilePatterns(mlir::RewritePatternSet &patterns);

/// Step 1. Emits an error where a block op has no form on CPUs.
mlir::LogicalResult lowerBlockOps(mlir::func::FuncOp func);
/// Step 2, for one innermost loop.
void splitEdges(mlir::scf::ForOp loop);
/// Step 3: scf.for and scf.if that carry tiles carry rows.
void populateSplitTilePatterns(mlir::RewritePatternSet &patterns);

/// True for vectors of rank 2 and more.
bool isTile(mlir::Type type);
/// Positions of the rows of a tile.
llvm::SmallVector<llvm::SmallVector<int64_t>>
getRowPositions(mlir::VectorType type);
/// The rows of `vector`: its 1-D slices, in order. Rank 1 is its own row.
llvm::SmallVector<mlir::Value> getRows(mlir::OpBuilder &builder,
                                       mlir::Location loc, mlir::Value vector);
/// A vector of `type` out of its rows.
mlir::Value fromRows(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::VectorType type, mlir::ValueRange rows);

} // namespace tilewright::cpu

#endif
