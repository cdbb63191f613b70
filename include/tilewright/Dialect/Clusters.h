// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that the blocks of a cluster share: each keeps its part on chip, and they
// exchange what they have reduced of it through each other's shared memory.
//
//   configure   block = [1, 16384], cluster = [1, 4]   four blocks a row
//   tile        %row, %part = tilewright.tile_id(%rows, 4)
//               reductions over the row are kOverClusterAttr, and what does not run
//               along the row is written by one block, kOneBlockAttr
//   vectorize   tilewright.cluster_reduce behind each vector.multi_reduction
//   distribute  tilewright.cluster_store, tilewright.cluster_barrier, loads

#ifndef TILEWRIGHT_DIALECT_CLUSTERS_H
#define TILEWRIGHT_DIALECT_CLUSTERS_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#define GET_OP_CLASSES
#include "tilewright/Dialect/ClusterOps.h.inc"

namespace tilewright {

/// On a tiled linalg op: it reduces over the loop of which each block of the cluster has a
/// part (unit).
inline constexpr llvm::StringLiteral kOverClusterAttr = "tilewright.over_cluster";

/// On what writes a tile that all blocks of the cluster have: the first one alone
/// does (unit).
inline constexpr llvm::StringLiteral kOneBlockAttr = "tilewright.one_block";

/// On a kernel whose blocks share rows: how many of them a multiprocessor holds by the plan's
/// threads, registers and shared memory (i64), which ptxas is told (`.minnctapersm`): some load
/// while others compute.
inline constexpr llvm::StringLiteral kResidentBlocksAttr = "tilewright.resident_blocks";

/// Blocks of a cluster on every device that has clusters.
inline constexpr int64_t kMostClusterBlocks = 8;

} // namespace tilewright

#endif
