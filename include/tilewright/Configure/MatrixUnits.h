// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which products matrix units are for, asked by stages in front of `configure`.

#ifndef TILEWRIGHT_CONFIGURE_MATRIXUNITS_H
#define TILEWRIGHT_CONFIGURE_MATRIXUNITS_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// Whether matrix units are the first choice for `op`: the target has an
/// instruction for its types, the loops are one m and n each, neither so few
/// rows nor so few columns that most of a tile would be idle. A pinned config
/// decides by its `mma`.
bool isForMatrixUnit(mlir::linalg::LinalgOp op, TargetAttr target);

} // namespace tilewright

#endif
