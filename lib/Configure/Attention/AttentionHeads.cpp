// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Grouped heads of few queries: those of all heads that share keys and values are the rows
// of one block, which reads the keys and values once for them and fills the rows of a
// matrix instruction.
//
//   block = [4, 4, 64]     4 heads, 4 queries of each, 64 keys
//
// What is hidden by its place depends on the query alone, so that a row's query is
// `row mod 4`: causal limits and windows stay as they are. Powers of two, so that
// a layout of rows is one of heads and queries.

#include "tilewright/Configure/Attention.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Queries of a head that still leave rows of a block to others.
static constexpr int64_t kFewQueries = 16;

int64_t SharedRows::heads() const {
  return std::max<int64_t>(1, std::min(rows, kMostSharedRows) / headQueries);
}

OrRefusal<SharedRows> tilewright::findSharedRows(AttentionOp op) {
  std::optional<unsigned> group = findGroupLoop(op);
  if (!group)
    return refuse(Refused::Unrelated, "");
  SmallVector<int64_t> extents = op.getLoopExtents();
  int64_t queries = extents[op.getQueryLoop()];
  if (ShapedType::isDynamic(queries))
    return refuse(Refused::DynamicExtents,
                  "how many queries a head has is not known when compiling; a pinned "
                  "'block = [heads, queries, keys]' asks for it");
  if (queries > kFewQueries)
    return refuse(Refused::NotProfitable,
                  Twine(queries) + " queries of a head are a block of their own");
  SharedRows shared;
  shared.headQueries = std::max<int64_t>(1, llvm::PowerOf2Ceil(queries));
  int64_t heads = std::min<int64_t>(extents[*group], kMostSharedRows);
  shared.rows = int64_t(llvm::PowerOf2Ceil(heads)) * shared.headQueries;
  return shared;
}

SmallVector<int64_t> tilewright::blockOfRows(const OrRefusal<SharedRows> &shared, int64_t rows,
                                             int64_t keys) {
  if (!shared || rows <= shared->headQueries)
    return {rows, keys};
  return {rows / shared->headQueries, shared->headQueries, keys};
}
