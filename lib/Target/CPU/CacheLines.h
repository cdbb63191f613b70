// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache lines of a tile.

#ifndef TILEWRIGHT_LIB_TARGET_CPU_CACHELINES_H
#define TILEWRIGHT_LIB_TARGET_CPU_CACHELINES_H

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tilewright::cpu {
using namespace mlir;

inline constexpr int64_t kLineBytes = 64;

/// Where a line begins, by the elements in front of it in each dim of the tile.
using Line = SmallVector<int64_t>;

/// The lines of a tile whose rows lie in memory as they do in the vector.
inline SmallVector<Line> linesOf(VectorType tile) {
  SmallVector<int64_t> line(tile.getRank(), 1);
  line.back() = std::min<int64_t>(tile.getShape().back(),
                                  kLineBytes * 8 / tile.getElementTypeBitWidth());
  return llvm::map_to_vector(StaticTileOffsetRange(tile.getShape(), line),
                             [](const SmallVector<int64_t> &offsets) { return offsets; });
}

} // namespace tilewright::cpu

#endif
