// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage that decides which vectors travel through shared memory.

#ifndef TILEWRIGHT_PROMOTE_PROMOTE_H
#define TILEWRIGHT_PROMOTE_PROMOTE_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Promote/Passes.h.inc"

/// Promotes the operands of every matrix product of the kernel that its
/// lowering config names.
mlir::LogicalResult promoteOperands(mlir::func::FuncOp kernel);

/// Type of the shared memory that holds operand `operand` (0: a, 1: b) of a
/// matrix product; the map from its dims to the operand's dims, and the map
/// from the product's loops to its dims.
struct SharedTile {
  mlir::MemRefType type;
  mlir::AffineMap memoryToOperand, map;
  /// Of a tile that the layout library chose: wavefronts beyond the least.
  std::optional<int64_t> conflicts;
  /// Rows of the tile are columns of the memory that fills it.
  bool transposed = false;
};
SharedTile sharedTileOf(MmaOp op, unsigned operand);

/// Packs the operands of a CPU kernel's contraction into panels where its lowering
/// config promotes them.
mlir::LogicalResult packPanels(mlir::func::FuncOp kernel);

/// Exchanges the loops over tiles and over the sum of a CPU kernel, chunk by chunk of
/// the sum, where `tile` left `tilewright.chunks`.
mlir::LogicalResult chunkSums(mlir::func::FuncOp kernel);

void registerPromotePasses();

void populatePromotePipeline(mlir::OpPassManager &pm);
/// The same stage for CPUs.
void populatePackPipeline(mlir::OpPassManager &pm);

} // namespace tilewright

#endif
