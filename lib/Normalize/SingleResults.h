// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of bodies with two results, as ops with one each.

#ifndef TILEWRIGHT_LIB_NORMALIZE_SINGLERESULTS_H
#define TILEWRIGHT_LIB_NORMALIZE_SINGLERESULTS_H

#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// Replaces a math.sincos, or an arith op that gives a sum or a product and what of it does
/// not fit; false where `op` is none of them.
bool splitResults(mlir::RewriterBase &b, mlir::Operation *op);

} // namespace tilewright

#endif
