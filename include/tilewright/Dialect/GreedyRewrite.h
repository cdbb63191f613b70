// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy rewriting that always ends.
//
// Two patterns that undo each other rewrite for ever in upstream's greedy
// driver, which has no limit unless it is given one, and upstream's
// canonicalizer ignores that it did not converge. Every greedy rewrite of the
// compiler goes through these functions: they give a budget in proportion to
// the size of the IR, and report the op that was still being rewritten when it
// was used up.

#ifndef TILEWRIGHT_DIALECT_GREEDYREWRITE_H
#define TILEWRIGHT_DIALECT_GREEDYREWRITE_H

#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilewright {

/// Applies `patterns` below `root` until none matches. Where that does not come
/// to an end, emits an error at the op that was rewritten last and fails; it
/// says that `what` (what the patterns are for) does not converge in `stage`.
mlir::LogicalResult
applyPatternsBounded(mlir::Operation *root,
                     const mlir::FrozenRewritePatternSet &patterns,
                     llvm::StringRef stage, llvm::StringRef what,
                     mlir::GreedyRewriteConfig config = {});

/// Upstream's canonicalizer, which fails if it does not converge. It has the
/// same name, so that reproducers run with either.
std::unique_ptr<mlir::Pass> createCanonicalizePass(llvm::StringRef stage);

} // namespace tilewright

#endif
