// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions to the best element and its place, as DecomposeArgReductions.cpp takes them apart.

#ifndef TILEWRIGHT_LIB_NORMALIZE_MATCHARGREDUCTION_H
#define TILEWRIGHT_LIB_NORMALIZE_MATCHARGREDUCTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// What the body does with them, see DecomposeArgReductions.cpp.
enum class Nans { None, PassedOver, FirstWins, EndIndex };

struct ArgReduction {
  mlir::linalg::GenericOp op;
  /// Results, and so inits: the best element, and where it is.
  unsigned value = 0, index = 1;
  /// In the body: the element and its index; they depend on no accumulator.
  mlir::Value element, position;
  bool isMax = true, isSigned = true, lastWins = false;
  Nans nans = Nans::None;

  bool isFloat() const { return mlir::isa<mlir::FloatType>(element.getType()); }
  mlir::Value init(unsigned result) const {
    return const_cast<mlir::linalg::GenericOp &>(op).getDpsInits()[result];
  }
};

/// What `op` is, if it is one.
std::optional<ArgReduction> matchArgReduction(mlir::linalg::GenericOp op);

} // namespace tilewright

#endif
