// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_DIALECT_FOLDCASTS_H
#define TILEWRIGHT_DIALECT_FOLDCASTS_H

#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// Beside the canonicalization of the tensor dialect: ops that may have a region and have none, a
/// sort by < say, take what casts of tensors are of. Upstream's pattern looks for the region's
/// first block, and crashes.
void populateFoldCastsWithoutRegionPatterns(mlir::RewritePatternSet &patterns);

} // namespace tilewright

#endif // TILEWRIGHT_DIALECT_FOLDCASTS_H
