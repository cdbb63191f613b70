// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an asynchronous copy of a tile is made of: runs of elements that are
// neighbours in both memories, of 4, 8 or 16 bytes, at multiples of that. One
// place for the plan that counts on such copies, for the pass that decides for
// them and for the one that writes them per thread.

#ifndef TILEWRIGHT_DIALECT_ASYNCCOPIES_H
#define TILEWRIGHT_DIALECT_ASYNCCOPIES_H

#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Support/Refusal.h"

namespace tilewright {

/// The dim of the tile along which runs lie, and their length.
struct CopyRuns {
  int64_t dim = 0;
  int64_t length = 0; // elements
};

/// Runs of a copy of a tile like `dest` from `source` at `indices`, where dim d
/// of the tile runs along dim map(d); what its divisors say of the source's
/// alignment. Nothing, and the reason, where no 4 bytes go together.
OrRefusal<CopyRuns> findCopyRuns(mlir::MemRefType source, const BufferDivisors &divisors,
                                 mlir::ValueRange indices, mlir::AffineMap map,
                                 mlir::MemRefType dest);

/// Elements at multiples of which the rows of a tile of `extents` begin in memory, where
/// the tile begins at multiples of `starts` along each dim and its rows lie along `row`.
int64_t alignmentOfRows(const BufferDivisors &divisors, llvm::ArrayRef<int64_t> starts,
                        llvm::ArrayRef<int64_t> extents, int64_t row);

/// The longest runs of elements of so many bytes that begin at multiples of `aligned`
/// elements in memory, and of `inside` elements in the tile; 0: 4 bytes do not go together.
int64_t lengthOfRuns(int64_t bytes, int64_t aligned, int64_t inside);

} // namespace tilewright

#endif
