// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright.attention in linalg: what it means, and how it is computed where it has
// no kernel of its own.

#ifndef TILEWRIGHT_NORMALIZE_DECOMPOSEATTENTION_H
#define TILEWRIGHT_NORMALIZE_DECOMPOSEATTENTION_H

#include "tilewright/Dialect/Attention.h"

#include "mlir/IR/Builders.h"

namespace tilewright {

/// Writes linalg.generics on tensors at the builder's insertion point; returns the new
/// values of the op's results.
mlir::SmallVector<mlir::Value> decomposeAttention(mlir::OpBuilder &b, AttentionOp op, bool branches = false);

} // namespace tilewright

#endif
