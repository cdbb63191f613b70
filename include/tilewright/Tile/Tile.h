// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `tile`: configured form -> the code of one block, still on tensors.

#ifndef TILEWRIGHT_TILE_TILE_H
#define TILEWRIGHT_TILE_TILE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Tile/Passes.h.inc"

/// On a tiled linalg op: per loop, the extent of its vectors' dim; 0 where the
/// loop has one element at a time and is no dim of the vectors.
inline constexpr llvm::StringLiteral kTileSizesAttr = "tilewright.tile_sizes";

/// On the kernel of a contraction whose operands are packed (`promote` on CPUs): tiles
/// of the first and second operand that a block packs, and steps of the sum in a chunk.
inline constexpr llvm::StringLiteral kPanelsAttr = "tilewright.panels";

/// On the kernel of a product with a vector whose sum runs in chunks (`thread` less than
/// `block` along it on CPUs): tiles of a block, and steps of the sum in a chunk.
inline constexpr llvm::StringLiteral kChunksAttr = "tilewright.chunks";

/// On a comparison of a loop's induction variable with a limit, below which (`slt`) or from
/// which on (`sge`) a step needs no mask; see lib/Pipeline/PeelMasks.cpp.
inline constexpr llvm::StringLiteral kWholeAttr = "tilewright.whole";

/// Tiles one configured kernel; emits an error and fails where it cannot.
mlir::LogicalResult tileKernel(mlir::func::FuncOp kernel);

/// Peels the loops of one tiled kernel, outermost first.
void peelLoops(mlir::func::FuncOp kernel);

/// Makes one loop of each nest of loops with constant bounds and nothing else.
void coalesceLoops(mlir::func::FuncOp kernel);

void populateTilePipeline(mlir::OpPassManager &pm);

void registerTilePasses();

} // namespace tilewright

#endif
