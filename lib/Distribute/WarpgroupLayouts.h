// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of contractions by warpgroups, and the layouts that their instructions give the
// accumulator and an operand in registers (WarpgroupLayouts.cpp).

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_WARPGROUPLAYOUTS_H
#define TILEWRIGHT_LIB_DISTRIBUTE_WARPGROUPLAYOUTS_H

#include "ThreadCode.h"

namespace tilewright {

/// The loops of a contraction by roles.
struct ProductLoops {
  unsigned m, n, k;
};
/// An error if there is not exactly one of each.
mlir::FailureOr<ProductLoops> warpgroupLoops(MmaOp op);

/// How many warpgroups `threads` are; 0: no whole ones.
int64_t countWarpgroups(const ThreadRange &threads);

/// Rows of the instruction that a thread has side by side (Rings.h); 1 by default.
int64_t rowsTogether(MmaOp op);

} // namespace tilewright

#endif
