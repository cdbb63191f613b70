// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How scatters, scans and sorts are shared out among blocks and threads.
//
//   unique scatter   block = [updates, elements of the slices' innermost dim]
//   other scatters   block = [ranges, elements], splits = ranges: the places that are
//                    scattered to are in so many ranges; whoever has one looks at all
//                    updates, in order, and takes those of his range
//   scan             block = [outer, chunks, inner]: each scan is one thread's
//   … that looks back  block = [1, elements, 1]: each tile is one block's
//   sort             block = [outer, chunks, inner]: each chunk is one thread's
//   gemm             block = [1]: a library computes it, in one call or one for each matrix

#ifndef TILEWRIGHT_CONFIGURE_IRREGULAR_H
#define TILEWRIGHT_CONFIGURE_IRREGULAR_H

#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Support/Refusal.h"

namespace tilewright {

/// What a lowering config of strategy `irregular` means for an op.
struct IrregularPlan {
  int64_t threads = 1, subgroup = 1;
  /// Blocks along each tiled loop, in terms of symbols, which are dims of tensors.
  mlir::SmallVector<mlir::AffineExpr> tileCounts;
  mlir::SmallVector<std::pair<mlir::Value, int64_t>> countDims;
};

/// The plan of `config` for an irregular op, or why it has none.
OrRefusal<IrregularPlan> planIrregular(mlir::Operation *op, LoweringConfigAttr config,
                                       TargetAttr target);

/// Decides the config of a kernel of `op` and says so; with `listAll` also on the kernel.
mlir::LogicalResult configureIrregular(mlir::func::FuncOp kernel, mlir::Operation *op,
                                       bool listAll);

} // namespace tilewright

#endif
