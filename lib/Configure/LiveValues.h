// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers of a thread of kernels that ptxas schedules, from the values that are live at
// once (LiveValues.cpp).

#ifndef TILEWRIGHT_LIB_CONFIGURE_LIVEVALUES_H
#define TILEWRIGHT_LIB_CONFIGURE_LIVEVALUES_H

#include "tilewright/Configure/TilePlan.h"

namespace tilewright {

/// Of elementwise ops and reductions, in program order, and products that are computed like
/// these. Threads lie over `leading`, or over the largest tile that is read.
int64_t countLiveRegisters(const KernelInfo &info, const TilePlan &plan, TargetAttr target,
                           mlir::OpOperand *leading = nullptr);

/// Of a tile that is read along one dim and written along another.
int64_t countTransposeRegisters(const KernelInfo &info, const TilePlan &plan,
                                TargetAttr target);

} // namespace tilewright

#endif
