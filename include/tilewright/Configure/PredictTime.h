// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long a kernel would take, asked before there is one: for fusion, which compares one
// kernel with two.

#ifndef TILEWRIGHT_CONFIGURE_PREDICTTIME_H
#define TILEWRIGHT_CONFIGURE_PREDICTTIME_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tilewright {

/// Microseconds that a kernel of `ops`, in program order, takes on the target's chip by the
/// config that is ranked first (a bound, no launch). Results that others read, or nobody, are
/// written; of what the ops read, nothing is computed. Nothing where sizes are not known, where
/// a body reads numbers of the host or an op updates a tensor, or where no config fits.
std::optional<double> predictTime(llvm::ArrayRef<mlir::linalg::LinalgOp> ops,
                                  TargetAttr target);

/// That time, and the config.
struct PredictedKernel {
  double time = 0;
  LoweringConfigAttr config;
};
std::optional<PredictedKernel> predictKernel(llvm::ArrayRef<mlir::linalg::LinalgOp> ops,
                                             TargetAttr target);

/// Microseconds that a kernel takes however little it does, which are not in these times.
double launchTime(TargetAttr target);

/// The config alone; null where there is no such time.
LoweringConfigAttr predictConfig(llvm::ArrayRef<mlir::linalg::LinalgOp> ops,
                                 TargetAttr target);

} // namespace tilewright

#endif
