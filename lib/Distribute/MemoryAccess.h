// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a read or a write of a block vector goes through memory: what MemoryAccess.cpp
// finds out of a transfer op, and Memory.cpp and UnalignedRuns.cpp go by.

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_MEMORYACCESS_H
#define TILEWRIGHT_LIB_DISTRIBUTE_MEMORYACCESS_H

#include "ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilewright {

/// How one transfer op goes through memory.
struct ThreadCode::Access {
  MemView view;
  mlir::AffineMap map; // memory dims -> vector dims
  const DistributedLayout *layout;
  Index base;                   // element offset of the thread's register 0
  mlir::SmallVector<Index> start;     // per vector dim: memory coordinate, register 0
  mlir::SmallVector<bool> checked;    // per vector dim: compare with the bound
  /// How: coordinates may be negative, which is out of bounds, where it is `ult`.
  mlir::arith::CmpIPredicate inside = mlir::arith::CmpIPredicate::slt;
  layout::RegisterRuns runs;            // registers accessed together
  /// Longer runs, for threads of which nothing is out of bounds; empty where
  /// they would not be longer.
  std::optional<layout::RegisterRuns> wideRuns;
  /// The vector dim along contiguous memory, or -1, and what every run along it
  /// is known to begin at a multiple of, if a bound does not cut it.
  int64_t runDim = -1, aligned = 1;
  /// Whether padding is read by nobody (Dialect/InPlaceReads.h).
  bool unreadPadding = false;
  // (dim, offset) -> i1; -> the coordinate, or 0 where it is out of bounds.
  std::map<std::pair<int64_t, int64_t>, mlir::Value> compared, clamped;
  mlir::SmallVector<Index> indices;   // per memory dim: coordinate of the tile
  PaddingCache insidePadding;
};

/// Runs of neighbouring elements that begin at any element: UnalignedRuns.cpp.
struct ThreadCode::UnalignedRuns {
  layout::RegisterRuns runs;
  /// Elements of a 32-bit word.
  int64_t perWord = 1;
  /// Whether runs may begin within a word.
  bool shifted = false;
};

/// The memory dim that a vector dim runs along, or -1.
inline int64_t memoryDim(mlir::AffineMap map, int64_t vectorDim) {
  auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResult(vectorDim));
  return dim ? int64_t(dim.getPosition()) : -1;
}

} // namespace tilewright

#endif
