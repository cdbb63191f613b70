// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scans in one pass over memory: each block scans a tile of a row, and looks back at what
// the blocks before it have published (Merrill and Garland, "Single-pass Parallel Prefix
// Scan with Decoupled Look-back", 2016). Here look-back is by groups of 32 tiles:
//
//   tile          0  1  2  …  31 | 32  …  63 | 64  …
//   published     a0 a1 a2 … a31 | …         |         what a tile's elements combine to
//   of the group  A0, P0         | A1, P1    |         … and a group's; … and all up to it
//
//   A1 = a32 * a33 * … * a63                  by the group's last tile, in this order
//   before tile 66 = P1 * (a64 * a65)         P1 = P0 * A1, by whoever needs it first
//
// A tile waits for the a's of its group, which depend on no other tile; a group's last tile
// has A published before it waits for a P. A tile finds the nearest group that has P
// among the 32 before its own, and combines the A's from there on, from left to right, as
// the group that publishes P does: whichever it finds, what is combined, and in which
// order, is the same, so results do not depend on timing.
//
// Where the elements of a scan are not neighbours in memory, but those of scans side by side
// are, a tile has parts of several scans, its columns; each combines on its own.
//
// Blocks take the numbers of their tiles from a counter, so that those that one waits for have
// begun; a device has to let blocks that have begun go on (`forward_progress`).

#ifndef TILEWRIGHT_DIALECT_LOOKBACK_H
#define TILEWRIGHT_DIALECT_LOOKBACK_H

#include "tilewright/Dialect/Irregular.h"

#include "llvm/Support/MathExtras.h"

namespace tilewright {

/// Tiles of a group, and groups that a tile looks back at: lanes of a warp.
inline constexpr int64_t kLookBackGroup = 32;
/// Threads of a block.
inline constexpr int64_t kLookBackThreads = 256;

/// States of a tile, or of a group. Zero: nothing is published.
inline constexpr int64_t kAggregateState = 1, kPrefixState = 2;

/// Elements of a thread: 64 bytes, if these are 8 to 32.
inline int64_t lookBackElements(mlir::Type element) {
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return std::clamp<int64_t>(64 / bytes, 8, 32);
}

/// Scans side by side, of neighbours in memory, that a tile has parts of: a power of two that
/// holds all `inner` of them, but no more than lanes of a warp.
inline int64_t lookBackColumns(int64_t inner) {
  return std::min<int64_t>(llvm::PowerOf2Ceil(inner), 32);
}

/// Elements of each of its `columns` scans that a tile has.
inline int64_t lookBackTile(mlir::Type element, int64_t columns) {
  return kLookBackThreads / columns * lookBackElements(element);
}

/// Scratch memory of so many tiles and groups, all rows' together:
///   states   1 + tiles + groups: the counter, the tiles', the groups'
///   values   tiles + 2 groups: a's, then A and P of each group; one for each column
} // namespace tilewright

#endif
