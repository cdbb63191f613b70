// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which products matrix units are for, asked by stages in front of `configure`.

#ifndef TILEWRIGHT_CONFIGURE_MATRIXUNITS_H
#define TILEWRIGHT_CONFIGURE_MATRIXUNITS_H

#include "tilewright/Dialect/Tilewright.h"

#include "tilewright/Configure/KernelInfo.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// Whether matrix units are the first choice for `op`: the target has an
/// instruction for its types, the loops are one m and n each, neither so few
/// rows nor so few columns that most of a tile would be idle. A pinned config
/// decides by its `mma`.
bool isForMatrixUnit(mlir::linalg::LinalgOp op, TargetAttr target);

/// The contraction of `op` as the config's instruction multiplies it: its rows are A.
/// Warpgroups that lie along the columns (`warps = [1, 8, 1]`) swap the operands,
/// (A B)^T = B^T A^T, so that few rows become the instruction's columns.
std::optional<Contraction> matchOriented(mlir::linalg::LinalgOp op,
                                         LoweringConfigAttr config);

/// The instruction of a warpgroup of the same types with `columns` columns.
mlir::StringAttr withColumns(mlir::StringAttr instruction, int64_t columns);

} // namespace tilewright

#endif
