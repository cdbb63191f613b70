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

/// The lines of a tile whose rows lie in memory as they do in the vector; the last one of a row
/// may be a part.
inline SmallVector<Line> linesOf(VectorType tile) {
  int64_t columns = tile.getShape().back();
  int64_t step = kLineBytes * 8 / tile.getElementTypeBitWidth();
  SmallVector<int64_t> strides = computeStrides(tile.getShape().drop_back());
  SmallVector<Line> lines;
  for (int64_t row = 0, rows = tile.getNumElements() / columns; row < rows; ++row)
    for (int64_t column = 0; column < columns; column += step) {
      lines.push_back(delinearize(row, strides));
      lines.back().push_back(column);
    }
  return lines;
}

} // namespace tilewright::cpu

#endif
