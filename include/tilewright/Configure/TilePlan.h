// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a lowering config means for a kernel: tile extents of every loop class,
// and whether that fits the target. `configure` asks it of its candidates and
// of pinned configs, `tile` carries it out: nobody else interprets a config.

#ifndef TILEWRIGHT_CONFIGURE_TILEPLAN_H
#define TILEWRIGHT_CONFIGURE_TILEPLAN_H

#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Support/Refusal.h"

namespace tilewright {

/// The tiles of one loop class, in elements.
struct ClassTile {
  /// What a block computes along a parallel class; what one iteration of the
  /// block's loop covers along a sequential class.
  int64_t step = 1;
  /// On CPUs the register tile of a parallel class; otherwise equal to step.
  int64_t inner = 1;
  /// Extent of the vectors' dim: 0 means that the class is no dim of them
  /// because it has one element at a time.
  int64_t vector = 0;
  /// Parallel: there are several tiles (or none). Sequential: the block loops.
  bool loop = false;
  /// The block's tile is walked in register tiles.
  bool innerLoop = false;
  /// Sequential: blocks of a cluster that have a tile each of it.
  int64_t blocks = 1;
  /// Of a class whose terms a body of its own takes one by one: how many are read before the
  /// first of them is taken.
  int64_t terms = 1;
};

/// Packed operands of a contraction on a CPU.
struct Panels {
  /// Register tiles along the own loop of each operand that a block packs.
  int64_t tiles[2] = {1, 1};
  /// Steps of the sum in a chunk.
  int64_t steps = 1;
  /// Memory of the thread: panels, and accumulators between chunks.
  int64_t bytes = 0;
  /// Bytes of a packed element, and how many times as fast as by multiply-adds of vectors
  /// they are multiplied.
  int64_t elementBytes = 4;
  double speed = 1;
  /// Whether tiles of the matrix unit hold the sums, not vectors.
  bool inTiles = false;
  /// Whether the rows' operand is read where it lies.
  bool rowsInPlace = false;
};

/// A sum of which each block of a cluster has a part (`cluster` and `splits` of
/// warp_specialized): a slice of the tile's sums is each block's to add up.
struct ClusterSum {
  /// The class that is summed, and the one along which the tile is sliced.
  unsigned reduced = 0, sliced = 0;
  int64_t parts = 1;
  /// Steps of the sum, which are spread evenly over the parts.
  int64_t steps = 1;
  /// It is a loop among others of the sum (a convolution's taps): parts have as many steps.
  bool inLoops = false;
};

/// What a planned kernel uses of the target's limited resources (estimates).
struct Footprint {
  int64_t sharedBytes = 0;
  /// The part of them through which values move between threads: other layouts,
  /// sums of several warps.
  int64_t scratchBytes = 0;
  /// 32-bit registers per thread (vector registers on CPUs).
  int64_t registers = 0;
};

struct TilePlan {
  llvm::SmallVector<ClassTile> classes;
  std::optional<ClusterSum> clusterSum;
  /// Threads that compute, and those beside them that only copy (roles of warps).
  int64_t threads = 1, copyThreads = 0;
  int64_t subgroup = 1;
  std::optional<Panels> panels;
  /// Of a product with a vector, its sum in chunks: tiles of the result, no panels.
  std::optional<Panels> chunks;

  /// Sums of exponentials that are taken in the loops of their maxima (OnlineSums.h).
  int64_t onlineSums = 0;

  /// Of plans that fit: fits() has estimated it.
  std::optional<Footprint> footprint;

  /// The class that blocks of a cluster share.
  std::optional<unsigned> getSharedClass() const {
    const auto *shared = llvm::find_if(
        classes, [](const ClassTile &tile) { return tile.blocks > 1; });
    return shared == classes.end() ? std::nullopt
                                   : std::optional<unsigned>(shared - classes.begin());
  }
  /// How many slices there are of a tile of `op`: those of a cluster's sum behind it, 1
  /// elsewhere.
  int64_t getSlices(const KernelInfo &info, mlir::Operation *op) const;
  /// The vector extents of `op`'s loops, in order.
  llvm::SmallVector<int64_t> getVectorSizes(const KernelInfo &info,
                                            mlir::Operation *op) const;
};

/// Works out what `config` means for `info`'s kernel; a refusal says in numbers why it is
/// not possible at all.
OrRefusal<TilePlan> planTiles(const KernelInfo &info, LoweringConfigAttr config, TargetAttr target);

/// Why a CPU does not pack the operands of the kernel's contraction, and reads them where
/// they are.
Refusal whyNotPacked(const KernelInfo &info);

/// Why register tiles of a kernel that can be packed cannot read numbers of the rows' operand
/// where they lie.
Refusal whyNoRowsInPlace(const KernelInfo &info);

/// Whether the second operand of `root` is stored in strips of columns, each in the order in
/// which a tile reads it (lib/Dispatch/PackWeights.cpp).
bool hasStrips(mlir::linalg::LinalgOp root, const Contraction &product);

/// Loops of the root, a product of a vector and a matrix whose rows lie across the sum.
struct ChunkedSum {
  unsigned sum, columns;
};

/// Those of a kernel that a CPU can run a chunk of rows at a time: the vector has no
/// loop of its own, or one that is promised to be one long.
std::optional<ChunkedSum> chunkedSum(const KernelInfo &info);

/// What the tiles of `plan` take packed. The kernel can be packed.
Panels planPanels(const KernelInfo &info, LoweringConfigAttr config,
                  const TilePlan &plan);

/// The loop of the root along which the blocks of a cluster have parts of the sum; none
/// where each block has all of it.
std::optional<unsigned> clusterSumLoop(const KernelInfo &info, LoweringConfigAttr config);

/// That of a plan, also where it has one.
Footprint estimate(const KernelInfo &info, LoweringConfigAttr config,
                   const TilePlan &plan, TargetAttr target);

/// Whether an operand of the root's product waits in registers on its way to shared
/// memory, whatever copies the target has: it is computed, or it is of bytes whose
/// rows are transposed while staging, as they are loaded by pairs along the sum.
bool isRegisterStaged(const KernelInfo &info, TargetAttr target);

/// The one query about limits: plans `config` and compares threads, shared
/// memory and registers with the target's. A refusal has the numbers.
OrRefusal<TilePlan> fits(const KernelInfo &info, LoweringConfigAttr config, TargetAttr target);

/// What copy engines bring beside the sums, where the config says that results leave by them.
llvm::SmallVector<mlir::OpOperand *> loadedTiles(const KernelInfo &info,
                                                 LoweringConfigAttr config);

} // namespace tilewright

#endif
