// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of exponentials below a row's largest element that are taken in the pass that finds
// this element: softmax, log-sum-exp.

#ifndef TILEWRIGHT_CONFIGURE_ONLINESUMS_H
#define TILEWRIGHT_CONFIGURE_ONLINESUMS_H

#include "tilewright/Configure/KernelInfo.h"

namespace tilewright {

/// The sums of f32, each along one loop, of exponentials of what a maximum along that loop is
/// taken of, less the maximum. lib/Vectorize/FuseOnlineSums.cpp joins their loops.
llvm::SmallVector<mlir::linalg::LinalgOp> findOnlineSums(const KernelInfo &info);

} // namespace tilewright

#endif
