// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warpgroup's operand that is computed in registers, or read into them.

#ifndef TILEWRIGHT_LIB_PROMOTE_COMPUTEDOPERAND_H
#define TILEWRIGHT_LIB_PROMOTE_COMPUTEDOPERAND_H

#include "RingOperand.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {

struct ComputedOperand {
  /// What computes it, in order, the reads of `main` and `beside` among it.
  llvm::SetVector<mlir::Operation *> ops;
  RingOperand main;
  /// What else goes through the ring.
  llvm::SmallVector<RingOperand> beside;
  /// Rows that a thread has side by side; 1: as the instruction has them.
  int64_t rowsTogether = 1;

  /// Whether `op` reads what the ring has.
  bool isInRing(mlir::Operation *op) {
    return op == main.read || llvm::any_of(beside, [&](RingOperand &operand) {
             return op == operand.read;
           });
  }
};

/// Operand A of `product`, which stands in `loop`, if in one.
mlir::FailureOr<ComputedOperand> findComputedOperand(mlir::func::FuncOp kernel,
                                                     MmaOp product, mlir::scf::ForOp loop,
                                                     LoweringConfigAttr config);

/// What `operand` read of memory, read of `tile` of a stage.
mlir::Value readTile(mlir::OpBuilder &b, const RingOperand &operand, mlir::Value tile);

} // namespace tilewright

#endif
