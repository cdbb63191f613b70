// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What both ways of overlapping share: the parts of a loop that fills shared
// memory and multiplies from it, and shared memory with stages.

#ifndef TILEWRIGHT_LIB_PIPELINE_LOOPPARTS_H
#define TILEWRIGHT_LIB_PIPELINE_LOOPPARTS_H

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Support/Refusal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {

/// The parts of a loop body, each in program order.
struct LoopParts {
  mlir::SmallVector<mlir::Operation *> loads; // what computes the tiles
  mlir::SmallVector<mlir::vector::TransferWriteOp> stores; // into shared memory
  mlir::SmallVector<mlir::Operation *> work;               // everything else
  mlir::SmallVector<mlir::memref::AllocOp> tiles; // shared, to get stages
};

/// Sorts the body's ops; nothing if the loop does not fill shared memory and
/// then multiply from it.
std::optional<LoopParts> findLoopParts(mlir::scf::ForOp loop);

/// The type of `stages` tiles like `tile`, one behind the other.
mlir::MemRefType stagedType(mlir::MemRefType tile, int64_t stages);
/// The tile with a leading dim of stages, allocated beside it.
mlir::memref::AllocOp addStages(mlir::memref::AllocOp tile, int64_t stages);
mlir::Value stageOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tile,
                   mlir::Value stage);

/// A store that is no more than a copy out of global memory.
struct TileCopy {
  mlir::vector::TransferReadOp read;
  mlir::vector::TransferWriteOp write;
  mlir::AffineMap map; // dims of the shared tile -> dims of the source
  mlir::SmallVector<bool> inBounds;
  mlir::SmallVector<int64_t> offsets, shape; // of what is copied, in the shared tile
  int64_t bytes = 0; // that one thread copies at once
};
/// Those of the loop's stores that are copies, in their order, and why another is not.
struct FoundCopies {
  mlir::SmallVector<TileCopy> copies;
  Refusal other;
};
FoundCopies findCopies(mlir::func::FuncOp kernel, const LoopParts &parts);
/// Starts the copies of the tiles at step `k` into `stage`, of zeros behind the
/// loop's end, as one group. `staged`: tile -> the tile with stages.
void startCopies(mlir::OpBuilder &b, mlir::scf::ForOp loop, const LoopParts &parts,
                 mlir::ArrayRef<TileCopy> copies,
                 const mlir::DenseMap<mlir::Value, mlir::Value> &staged,
                 mlir::Value k, mlir::Value stage);

/// Two stages: the next tile is loaded while this one is multiplied, what is among
/// `copies` by asynchronous copies, the others through registers.
void doubleBuffer(mlir::scf::ForOp loop, const LoopParts &parts,
                  mlir::ArrayRef<TileCopy> copies);
/// Fills a ring of stages ahead of the products; every store is a copy.
void fillRing(mlir::scf::ForOp loop, const LoopParts &parts,
              mlir::ArrayRef<TileCopy> copies, int64_t stages);

} // namespace tilewright

#endif
