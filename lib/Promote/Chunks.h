// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum that a CPU runs a chunk at a time, with the accumulators in memory
// between chunks.

#ifndef TILEWRIGHT_LIB_PROMOTE_CHUNKS_H
#define TILEWRIGHT_LIB_PROMOTE_CHUNKS_H

#include "mlir/IR/Builders.h"

namespace tilewright {

/// One chunk of a sum: its bounds, and whether it is the first or the last one.
struct Chunk {
  mlir::Value begin, end, isFirst, isLast;
};

/// Builds the loop over chunks of `size` elements, and continues inside of it.
/// An empty sum has a chunk, too: it writes what the sum starts from.
Chunk enterChunks(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lower,
                  mlir::Value upper, int64_t size);

/// What a chunk starts from: `init`, or the vector at `place` of `sums`.
mlir::Value startChunk(mlir::OpBuilder &b, mlir::Location loc,
                       const Chunk &chunk, mlir::Value init, mlir::Value sums,
                       mlir::ArrayRef<mlir::Value> place);

/// Keeps `result` in `sums` unless the chunk is the last one; continues where
/// it is.
void finishChunk(mlir::OpBuilder &b, mlir::Location loc, const Chunk &chunk,
                 mlir::Value result, mlir::Value sums,
                 mlir::ArrayRef<mlir::Value> place);

} // namespace tilewright

#endif
