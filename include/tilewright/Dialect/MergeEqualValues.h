// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies of linalg.generic without values that are computed twice.

#ifndef TILEWRIGHT_DIALECT_MERGEEQUALVALUES_H
#define TILEWRIGHT_DIALECT_MERGEEQUALVALUES_H

#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// Beside patterns that put a producer into every reader of a value: a reader of two of its
/// results gets its body twice, and one behind a chain of such diamonds 2^n times. These
/// patterns come first, so that a body has each value once.
void populateMergeEqualValuesPatterns(mlir::RewritePatternSet &patterns);

} // namespace tilewright

#endif
