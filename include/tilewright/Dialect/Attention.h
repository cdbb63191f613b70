// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as one op on tensors. AttentionOp.td says what it computes; how it is
// written in linalg is in Normalize/DecomposeAttention.h, as one kernel in lib/Tile.

#ifndef TILEWRIGHT_DIALECT_ATTENTION_H
#define TILEWRIGHT_DIALECT_ATTENTION_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace tilewright {
/// On the op that computes the result of attention in several kernels: why it is not one.
inline constexpr llvm::StringLiteral kDecomposedAttr = "tilewright.decomposed";
/// On attention that the compiler found in linalg.
inline constexpr llvm::StringLiteral kRaisedAttr = "tilewright.raised";
} // namespace tilewright

#define GET_OP_CLASSES
#include "tilewright/Dialect/AttentionOp.h.inc"

namespace tilewright {
/// Where a map has this result, a loop or what a loop makes of pages.
std::optional<unsigned> findResult(mlir::AffineMap map, mlir::AffineExpr expr);

/// The batch loop of heads that share keys and values, the longest that is known.
std::optional<unsigned> findGroupLoop(AttentionOp op);

/// How far loop `loop` goes.
mlir::Value createExtent(mlir::OpBuilder &b, AttentionOp op, unsigned loop);

/// The most keys that there may be for a batch index: none without a page.
mlir::Value createMostKeys(mlir::OpBuilder &b, AttentionOp op);
/// How many there are, by an element of `lengths`.
mlir::Value createNumKeys(mlir::OpBuilder &b, mlir::Location loc, mlir::Value length,
                          mlir::Value mostKeys);
/// Where the diagonal of "bottom_right" ends by an element of `lengths`, which may be behind the
/// most keys; so far that sums with numbers of queries and keys are indices of 32 bits.
mlir::Value createDiagonalEnd(mlir::OpBuilder &b, mlir::Location loc, mlir::Value length);

/// How many pages the pool of keys has, and the one of these that an element of the
/// table means.
mlir::Value createNumPages(mlir::OpBuilder &b, AttentionOp op);
mlir::Value createPage(mlir::OpBuilder &b, mlir::Location loc, mlir::Value entry,
                       mlir::Value numPages);

/// How long a part of `keys` keys is, of an op with `key_parts`.
mlir::Value createPartLength(mlir::OpBuilder &b, AttentionOp op, mlir::Value keys);
} // namespace tilewright

#endif
