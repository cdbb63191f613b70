// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The roles of a block's warps around rings: those that copy, and those that multiply.

#ifndef TILEWRIGHT_LIB_PROMOTE_ROLES_H
#define TILEWRIGHT_LIB_PROMOTE_ROLES_H

#include "tilewright/Dialect/Rings.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace tilewright {

/// `count` warps that copy, from warp `first` on, with the config's registers for them. The
/// builder that is returned writes what those do that copy.
mlir::OpBuilder addProducer(mlir::OpBuilder &b, mlir::Location loc, int64_t first,
                            int64_t count, LoweringConfigAttr config);

/// In code of warps from `first` on: where those go on that copy, one of them that starts
/// copy engines, or all.
mlir::OpBuilder addCopiers(mlir::OpBuilder &b, mlir::Location loc, int64_t first,
                           LoweringConfigAttr config);

/// Warps 0 to `count`, with the config's registers for consumers.
WarpsOp addConsumers(mlir::OpBuilder &b, mlir::Location loc, int64_t count,
                     LoweringConfigAttr config);

/// Tiles of `sums`' shape that are made of `sums` and written to an argument of the kernel
/// leave through shared memory.
void storeByEngine(WarpsOp role, mlir::Value sums);

/// The reads in front of roles that `tile_load` takes the place of (kLoadedTilesAttr): tiles of
/// the shape of `sums`, combined with them element by element.
mlir::FailureOr<mlir::SmallVector<mlir::vector::TransferReadOp>>
findLoadedTiles(mlir::func::FuncOp kernel, mlir::ArrayRef<mlir::Value> sums);

/// The ring that such a tile comes through, for `consumers` warps.
mlir::Value addLoadRing(mlir::OpBuilder &b, mlir::Location loc, mlir::VectorType tile,
                        int64_t consumers);

} // namespace tilewright

#endif
