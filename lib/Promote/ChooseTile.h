// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory of an operand of a matrix instruction that is read by
// tilewright.load_matrices, without bank conflicts.

#ifndef TILEWRIGHT_LIB_PROMOTE_CHOOSETILE_H
#define TILEWRIGHT_LIB_PROMOTE_CHOOSETILE_H

#include "tilewright/Dialect/Tilewright.h"

namespace tilewright {

struct ChosenTile {
  mlir::MemRefType type;
  int64_t conflicts; // wavefronts beyond the least
};

/// Nothing where rows are no whole matrices of 8 rows of 16 bytes. `transposed`: rows
/// of the tile are columns of what fills it.
std::optional<ChosenTile> chooseTile(MmaOp op, mlir::ArrayRef<int64_t> shape,
                                     mlir::Type element, bool transposed);

} // namespace tilewright

#endif
