// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_LIB_ANALYSIS_LOOPCLASSES_H
#define TILEWRIGHT_LIB_ANALYSIS_LOOPCLASSES_H

#include "tilewright/Analysis/KernelLoops.h"

namespace tilewright {

/// Fills in the classes of the loops of `info`'s ops, whose root is known.
mlir::LogicalResult buildLoopClasses(KernelLoops &info);

} // namespace tilewright

#endif
