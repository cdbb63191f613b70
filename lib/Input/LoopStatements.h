// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The statements of a nest of affine loops over memrefs: each store with what its value is
// computed from, and the question whether they may be carried out one after the other,
// each for all iterations.

#ifndef TILEWRIGHT_LIB_INPUT_LOOPSTATEMENTS_H
#define TILEWRIGHT_LIB_INPUT_LOOPSTATEMENTS_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"

#include <optional>
#include <string>

namespace tilewright {

/// Why an access is in no structured op.
inline constexpr llvm::StringLiteral kNoSumOfLoops =
    "is at a place that is no sum of multiples of loops; split the loop into ones whose sum it is, "
    "or read by tensor.extract in the body of a linalg.generic";
inline constexpr llvm::StringLiteral kGoesBackwards =
    "goes backwards along a loop; let the loop count the other way, or write a linalg.generic with "
    "that map";

/// A store, the loops and the conditions around it (the outermost first), and the ops in
/// the nest that its value and conditions are computed from, in order.
struct Statement {
  mlir::affine::AffineStoreOp store;
  llvm::SmallVector<mlir::affine::AffineForOp> loops;
  llvm::SmallVector<mlir::Operation *> ifs;
  llvm::SmallVector<mlir::Operation *> slice;

  /// A load of the element that is stored: what a sum is added to, or what is updated.
  bool isOwnElement(mlir::affine::AffineLoadOp load) const;
};

/// The stores of `nest`, in the order of the text.
llvm::SmallVector<Statement> collectStatements(mlir::Operation *nest);
Statement statementOf(mlir::affine::AffineStoreOp store, mlir::Operation *nest);

/// Two accesses of one memref whose order would change, and why that matters.
struct Conflict {
  mlir::Operation *first, *second;
  std::string reason;
};

/// The first pair that keeps the statements from being carried out one after the other,
/// each reading what all before it have written, and nothing that it writes itself.
std::optional<Conflict> findConflict(llvm::ArrayRef<Statement> statements);

} // namespace tilewright

#endif
