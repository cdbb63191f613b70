// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scatters, scans and sorts as loops over memory.

#ifndef TILEWRIGHT_LIB_BUFFERIZE_IRREGULAR_H
#define TILEWRIGHT_LIB_BUFFERIZE_IRREGULAR_H

#include "tilewright/Dialect/Irregular.h"

#include "mlir/IR/IRMapping.h"

namespace tilewright {
/// Writes what a block does of `op`, a tiled kernel's, at the insertion point of `b`;
/// `memory` has the memref of each tensor. One thread's work is inside of `scf.forall`
/// over the block's threads or, on targets with one, of `scf.for`.
mlir::LogicalResult writeIrregular(mlir::OpBuilder &b, mlir::func::FuncOp kernel,
                                   mlir::Operation *op, const mlir::IRMapping &memory);
} // namespace tilewright

#endif
