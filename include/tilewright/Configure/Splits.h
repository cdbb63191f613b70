// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions that leave too few results to fill the machine are cut into parts,
// one block each, and a second kernel combines the parts. This decides which
// reductions, along which loop, and into how many parts; the rewriting is
// dispatch's (lib/Dispatch/SplitReductions.cpp), because the host launches both
// kernels.
//
//   sum of 1000000 f32 -> f32      256 parts, each a multiple of 4096 elements
//   sum of 4 x 100000 -> 4          64 parts a row
//   sum of ? -> f32                256 parts (short vectors leave parts empty)
//   sum of ? x ? -> ?              64 parts a row where the host finds few long
//                                  rows, else none
//   sum of ? x 512 -> ?            none: the rows fill the machine
//   softmax of 64 x 131072         none: one kernel has all passes over the rows
//   64 x ? times ? x 256           16 parts where the host finds a sum of 8192 or more

#ifndef TILEWRIGHT_CONFIGURE_SPLITS_H
#define TILEWRIGHT_CONFIGURE_SPLITS_H

#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Support/Refusal.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// Multiprocessors of the target's chip, which launches are to fill.
int64_t multiprocessorsOf(TargetAttr target);

struct Split {
  unsigned loop = 0;
  int64_t parts = 1, unit = 1;
  /// The dim of parts is the first of the partial results, not the last: whole
  /// tiles of results are written, and added up, along their own rows.
  bool partsFirst = false;
};

/// On a product whose sum stays whole for the blocks of a cluster, which have a part of it
/// each (unit; Configure/WarpSpecialized/ClusterSums.cpp).
inline constexpr llvm::StringLiteral kClusterSumAttr = "tilewright.cluster_sum";

/// The loop of `op` that is summed and along which `config` has several blocks of a cluster;
/// none: there is no such.
std::optional<unsigned> clusterSumLoop(mlir::linalg::LinalgOp op, LoweringConfigAttr config);

/// Whether there is a tile of results for every second multiprocessor; not where extents are
/// dynamic.
bool fillsHalf(mlir::linalg::LinalgOp op, LoweringConfigAttr config, TargetAttr target);

/// How to split `op` for `target`, or why not, in numbers. A lowering config on `op` decides
/// by its `splits`.
OrRefusal<Split> chooseSplit(mlir::linalg::LinalgOp op, TargetAttr target);

/// A split that pays only for some of the sizes that dynamic dims may have: at
/// most `mostResults` results of at least `fewestElements` along the split loop.
struct GuardedSplit {
  Split split;
  /// What counts as one result: so many along loops of rows or columns of tiles
  /// (by loop; empty: every result counts).
  llvm::SmallVector<int64_t> tile;
  int64_t mostResults = 0, fewestElements = 0;
};

/// The split of a reduction with a dynamic number of results, or of a product on
/// matrix units with a dynamic sum and at most one dynamic side, for the case
/// that results are few and sums are long; nothing where `chooseSplit` decides for all sizes.
std::optional<GuardedSplit> chooseGuardedSplit(mlir::linalg::LinalgOp op,
                                               TargetAttr target);

} // namespace tilewright

#endif
