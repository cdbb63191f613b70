// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that a block keeps in shared memory: `promote` of strategy reduction.

#ifndef TILEWRIGHT_CONFIGURE_KEPTROWS_H
#define TILEWRIGHT_CONFIGURE_KEPTROWS_H

#include "tilewright/Configure/KernelInfo.h"

namespace tilewright {

/// The arguments of the kernel whose rows `config` keeps, as an op reads them: those that
/// operands of the root are, or are computed from.
llvm::SmallVector<mlir::OpOperand *> keptRows(const KernelInfo &info,
                                              LoweringConfigAttr config);

} // namespace tilewright

#endif
