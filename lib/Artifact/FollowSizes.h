// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes are followed from the loops of each kernel's ops to dims of its
// operands, and from there through host code to dims of the function's inputs:
//
//   matmul in a kernel on %a, %b          2 · dim(a, 0) · dim(b, 1) · dim(a, 1)
//   dispatched on %x and %w[64, 32]       ["mul", 4096, ["dim", 0, 0]]

#ifndef TILEWRIGHT_LIB_ARTIFACT_FOLLOWSIZES_H
#define TILEWRIGHT_LIB_ARTIFACT_FOLLOWSIZES_H

#include "SizeExpressions.h"
#include "tilewright/Dialect/Attention.h"
#include "tilewright/Dialect/Irregular.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright::sizes {

/// Kernels count their tensors, which scalars may stand between.
int64_t tensorNumber(mlir::BlockArgument argument);

class SizeFollower {
public:
  /// Sizes are those of the inputs of `func`, host code or a kernel.
  explicit SizeFollower(mlir::func::FuncOp func) : func(func) {}

  /// An index or integer of host code.
  Expr scalar(mlir::Value value, int depth = 0);
  /// Dim `d` of a tensor or memref, in host code or, by `operands`, a kernel.
  Expr dim(mlir::Value value, int64_t d, int depth = 0);
  Expr loopExtent(mlir::linalg::LinalgOp op, unsigned loop);
  Expr loopExtent(AttentionOp op, unsigned loop);
  Expr loopExtent(GemmOp op, unsigned loop);

  mlir::func::FuncOp func;
  /// Arguments of the kernel that is looked at, and of the functions that are being
  /// called, -> operands of the dispatch and of the calls.
  mlir::IRMapping operands;

private:
  /// Where an argument of a kernel or of a called function comes from, as far out
  /// as is known.
  mlir::Value outermost(mlir::Value value) {
    while (operands.contains(value))
      value = operands.lookup(value);
    return value;
  }
};

} // namespace tilewright::sizes

#endif
