// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons of coordinates in a body, as sums that are not negative where they hold:
//
//   j <= i + 4          ->    i - j + 4
//   j < lengths[b]      ->    lengths[b] - j - 1
//
// Sums are looked through where their numbers do not wrap around, casts where they keep them.

#ifndef TILEWRIGHT_LIB_DISPATCH_SCORECOMPARISONS_H
#define TILEWRIGHT_LIB_DISPATCH_SCORECOMPARISONS_H

#include "ElementExpression.h"

#include <optional>

namespace tilewright {

/// A whole number that may depend on sizes that are not known: constant + sum of symbols,
/// each with a factor.
struct Offset {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> symbols;
};

void addSymbol(Offset &offset, mlir::Value value, int64_t factor);

/// A sum of coordinates, an offset, and elements of tensors if asked for.
struct Linear {
  explicit Linear(const ElementExpressions &expressions) : expressions(expressions) {}

  const ElementExpressions &expressions;
  llvm::SmallDenseMap<unsigned, int64_t> factors;
  Offset offset;
  bool takesElements = false;
  llvm::SmallVector<std::pair<const ElementExpression *, int64_t>> elements;
  /// Ops that may still be looked through: sums of sums have more terms than ops.
  unsigned opsLeft = 256;
};

/// How the larger side of a comparison exceeds the smaller: true where zero or more. Nothing if
/// `expression` is no comparison of such sums.
std::optional<Linear> excess(const ElementExpressions &expressions,
                             const ElementExpression &expression, bool isInverted,
                             bool takesElements = false);

} // namespace tilewright

#endif
