// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of the places that a vector.gather reads. A body that reads rows by numbers, as an
// embedding does, reads neighbours along a row:
//
//   %e = tensor.extract %table[%number, %column]   // %column = linalg.index 1

#ifndef TILEWRIGHT_DIALECT_GATHERS_H
#define TILEWRIGHT_DIALECT_GATHERS_H

#include "llvm/ADT/StringRef.h"

namespace tilewright {

/// array<i64: dim, n>: each aligned group of n elements along this dim of the vector lies at n
/// neighbouring places of memory, the first of them a multiple of n. Elements outside of the tile
/// may have any place of such a group.
inline constexpr llvm::StringLiteral kGatherRunsAttr = "tilewright.gather_runs";

/// Beside it: a group may be outside of the tensor. All its elements then have the one place that
/// is nearest, the first or the last of such a group.
inline constexpr llvm::StringLiteral kGatherOutsideAttr = "tilewright.gather_outside";

/// Of a tensor.extract in the body of a linalg op: its last coordinate is inside of the tensor in
/// all iterations. Tiling says so, while the loops are whole.
inline constexpr llvm::StringLiteral kColumnInsideAttr = "tilewright.column_inside";

} // namespace tilewright

#endif
