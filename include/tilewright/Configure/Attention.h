// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which attention is one kernel, and how it is tiled: a block of queries with the whole
// depth, which walks along the keys a block at a time.

#ifndef TILEWRIGHT_CONFIGURE_ATTENTION_H
#define TILEWRIGHT_CONFIGURE_ATTENTION_H

#include "tilewright/Dialect/Attention.h"
#include "tilewright/Support/Refusal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// What a lowering config of strategy `attention` means for an op.
struct AttentionPlan {
  /// Block of queries, step along the keys, and depth and columns of the values with
  /// zeros up to what the products take.
  int64_t queries = 0, keys = 0, depth = 0, columns = 0;
  /// So much of the depth of queries and keys is in shared memory at a time; 0: all of it.
  int64_t slice = 0;
  /// Heads that share keys and values, whose queries are the block's, so many of each:
  /// row r is query r % headQueries of head r / headQueries.
  int64_t heads = 1, headQueries = 0;
  /// Queries of a panel, the register tile of CPUs along them, and its rows of keys, or of
  /// columns of the result; 0: the block is one vector.
  int64_t panel = 0, rows = 0;
  /// Threads that multiply, and those beside them that only copy: of warpgroups.
  int64_t threads = 1, copyThreads = 0, subgroup = 1;
  /// So many heads are walked down side by side (`raster` of the config), from the last queries
  /// to the first: 1: a head's blocks of queries are neighbours.
  int64_t raster = 1;
  /// The instructions of the scores' product and of that with the values; null: FMA.
  mlir::StringAttr scores, values;
  /// Bytes of shared memory, and registers of a thread as it is launched (GPUs).
  int64_t shared = 0, registers = 0;
};

/// The attention that a kernel is made of, or null.
AttentionOp findAttention(mlir::func::FuncOp kernel);

/// Of few queries a head, those of heads that share keys and values are rows of one block:
/// how many of each, rounded to a power of two, and how many rows all heads of a group have.
struct SharedRows {
  int64_t headQueries = 0, rows = 0;
  /// Heads of a block, which has at most kMostSharedRows.
  int64_t heads() const;
};
inline constexpr int64_t kMostSharedRows = 128;

/// The rows that heads share, or why each has blocks of its own; of kind Unrelated where
/// there are no such heads.
OrRefusal<SharedRows> findSharedRows(AttentionOp op);

/// The 'block' of so many rows: [heads, queries, keys] where heads share them.
mlir::SmallVector<int64_t> blockOfRows(const OrRefusal<SharedRows> &shared, int64_t rows,
                                       int64_t keys);

/// The plan of `config`, or why the target cannot have it.
OrRefusal<AttentionPlan> planAttention(AttentionOp op, LoweringConfigAttr config,
                                       TargetAttr target);

/// The config that `op` gets where none is pinned, or why it is no kernel. `anyFragments`:
/// also one whose fragments a driver spills.
OrRefusal<LoweringConfigAttr> chooseAttentionConfig(AttentionOp op, TargetAttr target,
                                                    bool anyFragments = false);

/// In how many parts the keys are taken, each by blocks of its own, which a second kernel
/// puts together.
struct KeySplit {
  int64_t parts = 1;
  /// Only where the host finds so many keys, or more; 0: always.
  int64_t fewestKeys = 0;
  /// Only where the host finds that the extents of these loops, heads or sequences, are at
  /// most `mostBlocks` multiplied; none: always.
  llvm::SmallVector<unsigned> blockLoops;
  int64_t mostBlocks = 0;
  bool isGuarded() const { return fewestKeys || !blockLoops.empty(); }
};

/// Parts of keys are multiples of this long, and so of each block of keys.
inline constexpr int64_t kKeyPartUnit = 128;

/// The parts that fill `target`, or why there is one. A lowering config on `op` decides
/// by its `splits`.
OrRefusal<KeySplit> chooseKeySplit(AttentionOp op, TargetAttr target);

/// The mask of `op` and what it keeps scores by, where given.
llvm::SmallVector<mlir::Value, 2> masksOf(AttentionOp op);

/// From the loops of `op` to the dims of `mask`, one of these.
mlir::AffineMap mapOfMask(AttentionOp op, mlir::Value mask);

/// The op whose result `mask` is, in the kernel of `op`: its blocks compute the mask of the scores
/// that they have, and no tensor of it is in memory. Null where the mask is.
mlir::linalg::GenericOp computedMask(AttentionOp op, mlir::Value mask);

/// The loop of `op` that loop `loop` of `producer` of a mask is.
unsigned maskLoop(AttentionOp op, mlir::linalg::GenericOp producer, unsigned loop);

/// From the loops of `op` to the dims of an input of `producer` of a mask.
mlir::AffineMap maskOperandMap(AttentionOp op, mlir::linalg::GenericOp producer,
                               mlir::OpOperand &input);

/// That the kernel of `op` computes the mask that `producer` gives, in words, or why it reads it.
OrRefusal<std::string> mayComputeMask(AttentionOp op, mlir::linalg::GenericOp producer,
                                      TargetAttr target);

/// Decides the config of a kernel of attention and says so; with `listAll` also all
/// others that fit.
mlir::LogicalResult configureAttention(mlir::func::FuncOp kernel, AttentionOp op,
                                       bool listAll);

} // namespace tilewright

#endif
