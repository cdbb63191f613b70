// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies that use a value from outside instead of an input that has no other.

#ifndef TILEWRIGHT_LIB_NORMALIZE_CAPTURE_H
#define TILEWRIGHT_LIB_NORMALIZE_CAPTURE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// The body of `op` uses `valueOf` an input, where that is not null, in place of the input's
/// element; nothing reads the input then.
inline mlir::LogicalResult
captureInputs(mlir::PatternRewriter &rewriter, mlir::linalg::GenericOp op,
              llvm::function_ref<mlir::Value(mlir::OpOperand *input)> valueOf) {
  bool changed = false;
  for (mlir::OpOperand *input : op.getDpsInputOperands()) {
    mlir::BlockArgument element = op.getMatchingBlockArgument(input);
    if (element.use_empty())
      continue;
    mlir::Value value = valueOf(input);
    if (!value || value.getType() != element.getType())
      continue;
    rewriter.replaceAllUsesWith(element, value);
    changed = true;
  }
  return mlir::success(changed);
}

} // namespace tilewright

#endif
