// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that several back ends share.

#ifndef TILEWRIGHT_TARGET_PASSES_H
#define TILEWRIGHT_TARGET_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Target/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tilewright/Target/Passes.h.inc"

void registerTargetPasses();

/// Patterns that expand math ops into arith (and the native math ops). `wide`:
/// everything is computed in f64.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns, bool wide);

/// Expands every math op nested in `root`; what cannot be expanded is reported
/// and makes this fail.
mlir::LogicalResult expandMath(mlir::Operation *root, bool wide = false);

/// Floats of 8 bits nested in `root` as bytes (lib/Target/ExpandFloat8.cpp).
mlir::LogicalResult expandFloat8(mlir::Operation *root);

} // namespace tilewright

#endif
