// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which order blocks of attention by warpgroups take tiles, and whether each takes several
// (`persistent`), so that a tile's first copies come under the one before.
//
// Persistent blocks share tiles by number, not by who is done: in rounds, there and back
// (lib/Promote/WriteAttentionRings.cpp). That is even where neighbours in the order take about
// as long. A causal mask makes each head's last queries take longest; with `raster` heads side
// by side, first come the last queries of all of them, then those before. But then blocks at
// work have other keys each, which L2 has to hold, or several blocks have to read together.

#include "AttentionWarpgroups.h"
#include "Bound.h"
#include "CostModel.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

/// The product of the extents of the first `loops` loops, or nothing if it is not known.
static std::optional<int64_t> countOf(ArrayRef<int64_t> extents, unsigned loops) {
  int64_t count = 1;
  for (int64_t extent : extents.take_front(loops))
    if (ShapedType::isDynamic(extent) || llvm::MulOverflow(count, extent, count))
      return std::nullopt;
  return count;
}

/// Whether a head's last queries see more keys than its first.
static bool endsAtDiagonal(AttentionOp op) {
  return op.getKeysBehind() >= 0 && op.getKeysBefore() < 0;
}

Refusal tilewright::whyNotPersistent(AttentionOp op, TargetAttr target, int64_t queries) {
  if (op.getLengths())
    return refuse(
        Refused::DynamicExtents,
        "numbers of keys that are known at run time alone may differ from block to block");
  if (op.getKeyParts())
    return refuse(Refused::NotProfitable, "parts of the keys are for few blocks");
  SmallVector<int64_t> extents = op.getLoopExtents();
  std::optional<int64_t> heads = countOf(extents, op.getNumBatchLoops());
  // Where there are a few rounds of one head's many blocks, two rounds do not even each other out.
  if (!heads && endsAtDiagonal(op))
    return refuse(
        Refused::DynamicExtents,
        "a causal mask makes some take longer, which many heads even out, or heads side by "
        "side; how many there are is not known");
  int64_t all = extents[op.getQueryLoop()], blocks;
  if (!heads || ShapedType::isDynamic(all) ||
      llvm::MulOverflow(*heads, int64_t(llvm::divideCeil(all, queries)), blocks) ||
      blocks > multiprocessorsOf(target))
    return {};
  return refuse(Refused::NotProfitable, "there are " + std::to_string(blocks) + " of them for " +
                                            std::to_string(multiprocessorsOf(target)) +
                                            " multiprocessors");
}

int64_t tilewright::headsSideBySide(AttentionOp op, TargetAttr target) {
  if (!endsAtDiagonal(op))
    return 1;
  std::optional<int64_t> heads = countOf(op.getLoopExtents(), op.getNumBatchLoops());
  if (!heads || *heads < 1)
    return 1;
  // Half of L2, where lines are replaced in no order; so many blocks that read the same keys at
  // a time that memory keeps up with them.
  constexpr int64_t kReaders = 4;
  double bytes = 0;
  for (Value operand : {op.getKey(), op.getValue()}) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.hasStaticShape())
      bytes += double(type.getNumElements()) * type.getElementTypeBitWidth() / 8;
    else
      bytes = INFINITY;
  }
  bool fitsL2 = bytes <= chipOf(target).l2Bytes / 2;
  return fitsL2 || *heads * kReaders <= multiprocessorsOf(target) ? *heads : 1;
}
