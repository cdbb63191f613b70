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
/// The batch loop of heads that share keys and values, the longest that is known.
std::optional<unsigned> findGroupLoop(AttentionOp op);

/// How long a part of `keys` keys is, of an op with `key_parts`.
mlir::Value createPartLength(mlir::OpBuilder &b, AttentionOp op, mlir::Value keys);
} // namespace tilewright

#endif
