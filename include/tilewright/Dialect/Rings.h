// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rings of shared-memory stages between warps that copy and warps that
// multiply, and what they become in thread form: barriers in memory, copies by
// tensor maps, asynchronous matrix products. RingOps.td says how they go
// together.

#ifndef TILEWRIGHT_DIALECT_RINGS_H
#define TILEWRIGHT_DIALECT_RINGS_H

#include "tilewright/Dialect/Tilewright.h"

#define GET_OP_CLASSES
#include "tilewright/Dialect/RingOps.h.inc"

namespace tilewright {

/// What `tile_store` moves at once for each warpgroup: `rows` of a matrix
/// instruction, each `rowBytes` long, which is how they are swizzled (32, 64, 128; 0
/// where the tile's rows are no whole ones).
struct StorePiece {
  int64_t rows = 64, columns = 0, rowBytes = 0;
  /// How many pieces of each warpgroup lie in shared memory at a time.
  static constexpr int64_t kTurns = 2;
};
StorePiece storePieceOf(int64_t columns, int64_t elementBytes);

/// The copies that fill the tiles of a stage, or parts of them.
llvm::SmallVector<TileCopyOp> copiesInto(AcquireOp stage);
/// The stage that a copy goes to; null where there is none.
AcquireOp stageOf(TileCopyOp copy);

/// Shared memory whose rows of `rowBytes` bytes (32, 64, 128) are swizzled by their
/// width, as copy engines and descriptors do.
SharedAttr swizzledRows(mlir::MLIRContext *context, int64_t rowBytes,
                        int64_t elementBytes);

/// On a warpgroup's product with A in registers: how many neighbouring rows a thread has
/// side by side, 2 or all that it has. Any order of rows is right where the sums have the
/// same one; this one reads rows that are neighbours in memory at once.
inline constexpr llvm::StringLiteral kRowsTogetherAttr = "tilewright.rows_together";

/// On a kernel: which of its arguments, by their numbers among its buffers, have tiles beside
/// the sums that `tile_load` brings.
inline constexpr llvm::StringLiteral kLoadedTilesAttr = "tilewright.loaded_tiles";

} // namespace tilewright

#endif
