// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of warps' instructions out of the stages of a ring.

#ifndef TILEWRIGHT_LIB_PROMOTE_RINGFRAGMENTS_H
#define TILEWRIGHT_LIB_PROMOTE_RINGFRAGMENTS_H

#include "tilewright/Dialect/Tilewright.h"

namespace tilewright {

/// What a role of consumers sums.
struct RingSums {
  mlir::Value ring;
  /// Of the product on tiles of the ring.
  mlir::ArrayAttr maps;
  /// The first sums, and how many stages there are.
  mlir::Value init, steps;
  /// The ring's position at a step.
  llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> position;
  /// Writes what is copied in a step: into the stage that the step before emptied.
  llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> fillNext;
  /// Says that a position's stage is empty.
  llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> release;
};

/// Writes the loop over the stages, and what is left of the last one; returns the sums.
mlir::Value writeFragmentSums(mlir::OpBuilder &b, MmaOp product, const RingSums &sums);

} // namespace tilewright

#endif
