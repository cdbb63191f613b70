// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether two pieces of code compute the same value, op by op.

#ifndef TILEWRIGHT_DIALECT_SAMEVALUES_H
#define TILEWRIGHT_DIALECT_SAMEVALUES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace tilewright {

/// Values of two pieces of code that are the same. Answers are kept: to be made anew where an op
/// of them has changed.
class SameValues {
public:
  /// Whether two values are the same. No answer: they are if ops without regions that are the
  /// same compute them of values that are.
  using Decide = llvm::function_ref<std::optional<bool>(mlir::Value, mlir::Value)>;

  bool areSame(mlir::Value x, mlir::Value y, Decide decide);

private:
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, bool> answers;
};

} // namespace tilewright

#endif
