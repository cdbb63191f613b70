// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the shared layout and the runs of a conversion through memory.

#include "tilewright/Layout/Conversion.h"

#include <algorithm>

using namespace tilewright::layout;

/// Chooses the transfer with rows along `dim` and runs of at most `maxBits`.
static Result<SharedTransfer> planShared(const DistributedLayout &from,
                                         const DistributedLayout &to, int dim,
                                         int elementBits, int maxBits,
                                         const ConversionOptions &options) {
  std::vector<int> order;
  if (from.rank() > 0)
    order.push_back(dim);
  for (int d = from.rank() - 1; d >= 0; --d)
    if (d != dim)
      order.push_back(d);

  SharedTransfer transfer;
  transfer.dim = dim;
  std::vector<SharedAccess> accesses;
  auto addAccess = [&](const DistributedLayout &layout) -> int64_t {
    if (layout.isOpaque())
      return 0;
    accesses.push_back(widestAccess(layout, dim, elementBits, maxBits));
    return accesses.back().vectorElems;
  };
  transfer.writeElems = addAccess(from);
  transfer.readElems = addAccess(to);
  // Instructions on opaque layouts take one row stride, so no swizzle.
  bool opaque = from.isOpaque() || to.isOpaque();
  Result<SharedChoice> choice = chooseShared(
      from.shape(), elementBits, order, accesses,
      opaque ? Avoidance::Padding : options.avoidance, opaque ? 16 : 1);
  if (!choice)
    return Error{choice.error()};
  transfer.layout = choice->layout;
  transfer.scratchBytes = choice->layout.sizeInBytes();
  if (!from.isOpaque())
    transfer.writeConflicts =
        countConflicts(transfer.layout, accesses.front(), maxCountedAccesses);
  if (!to.isOpaque())
    transfer.readConflicts =
        countConflicts(transfer.layout, accesses.back(), maxCountedAccesses);
  return transfer;
}

Result<SharedTransfer> tilewright::layout::planSharedTransfer(
    const DistributedLayout &from, const DistributedLayout &to, int elementBits,
    const ConversionOptions &options) {
  auto cost = [](const SharedTransfer &t) {
    return std::pair(
        2 * (t.writeConflicts.wavefronts + t.readConflicts.wavefronts) +
            t.writeConflicts.accesses + t.readConflicts.accesses,
        t.scratchBytes);
  };
  int last = std::max(from.rank() - 1, 0);
  Result<SharedTransfer> best =
      planShared(from, to, last, elementBits, 128, options);
  if (!best)
    return best;
  bool opaque = from.isOpaque() || to.isOpaque();
  int64_t widest = 0;
  for (int d = last; d >= (opaque ? last : 0); --d)
    for (int maxBits : {128, 64, 32}) {
      if (maxBits < 128 && maxBits >= widest)
        continue;
      auto other = planShared(from, to, d, elementBits, maxBits, options);
      if (!other)
        continue;
      widest = std::max(other->writeElems, other->readElems) * elementBits;
      if (cost(*other) < cost(*best))
        best = other;
    }
  return best;
}
