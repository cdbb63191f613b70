// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of squared distances to a mean, without the mean (RunningMean.cpp).

#ifndef TILEWRIGHT_LIB_TARGET_CPU_RUNNINGMEAN_H
#define TILEWRIGHT_LIB_TARGET_CPU_RUNNINGMEAN_H

#include "RowLoops.h"

namespace tilewright::cpu {

/// A nest of loops, innermost first, that sums up (x - m)^2, for an m that no step changes.
struct SquaredDistances {
  SmallVector<scf::ForOp> nest;
  SmallVector<int64_t> steps;
  Value x, m;
};

/// What the nest around `innermost`, of `depth` loops, computes, if it is that and nothing else.
std::optional<SquaredDistances> matchSquaredDistances(scf::ForOp innermost, size_t depth);

/// Whether m of the second nests is the mean, or sum, of what the first ones add up of the same
/// elements: distances of an infinity to it are NaN, as those to a running mean are.
bool isMeanOf(const SquaredDistances &sum, const LoopPairs &pairs, ArrayAttr access);

/// The ops in the nest that compute `value`, in order.
SmallVector<Operation *> opsFor(const SquaredDistances &sum, Value value);

/// The same sum, by a nest that does not need m. Returns its outermost loop.
scf::ForOp takeRunningMean(const SquaredDistances &sum);

/// The nest around `innermost`, of loops of so many steps, innermost first, carries a running mean
/// and squared distances last. What sums up the same numbers becomes the mean times the steps,
/// where no infinity among them makes a difference.
void takeSumsFromMean(scf::ForOp innermost, ArrayRef<int64_t> steps);

} // namespace tilewright::cpu

#endif
