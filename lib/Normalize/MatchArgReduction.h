// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions to the best element and its place, as DecomposeArgReductions.cpp takes them apart.

#ifndef TILEWRIGHT_LIB_NORMALIZE_MATCHARGREDUCTION_H
#define TILEWRIGHT_LIB_NORMALIZE_MATCHARGREDUCTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// What the body does with them, see DecomposeArgReductions.cpp.
enum class Nans { None, PassedOver, FirstWins, LastWins, EndIndex };

struct ArgReduction {
  mlir::linalg::GenericOp op;
  /// Results, and so inits: the best element, and where it is.
  unsigned value = 0, index = 1;
  /// In the body: the element and its index; they depend on no accumulator.
  mlir::Value element, position;
  /// The last of equal elements wins, not the first.
  bool isMax = true, isSigned = true, lastWins = false;
  /// Which of equals wins, places say: what the search begins with has one, too.
  bool tiesByPlace = false;
  Nans nans = Nans::None;

  bool isFloat() const { return mlir::isa<mlir::FloatType>(element.getType()); }
  /// A NaN is better than any number.
  bool nansWin() const { return nans == Nans::FirstWins || nans == Nans::LastWins; }
  /// Of NaNs the last wins, of equal numbers the first.
  bool lastNanFirst() const { return nans == Nans::LastWins && !lastWins; }
  mlir::Value init(unsigned result) const {
    return const_cast<mlir::linalg::GenericOp &>(op).getDpsInits()[result];
  }
};

/// What `op` is, if it is one.
std::optional<ArgReduction> matchArgReduction(mlir::linalg::GenericOp op);

} // namespace tilewright

#endif
