// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a reduction takes once it is cut into parts, or not, asked before it is.

#ifndef TILEWRIGHT_LIB_DISPATCH_SPLITREDUCTIONS_H
#define TILEWRIGHT_LIB_DISPATCH_SPLITREDUCTIONS_H

#include "tilewright/Configure/PredictTime.h"

namespace tilewright {

/// Microseconds of the kernels that `ops` become: one, or one whose blocks have parts of the sum of
/// the last of them, and one that adds these up; and the config of the first. See predictTime().
std::optional<PredictedKernel> predictWithParts(llvm::ArrayRef<mlir::linalg::LinalgOp> ops,
                                                TargetAttr target);

} // namespace tilewright

#endif
