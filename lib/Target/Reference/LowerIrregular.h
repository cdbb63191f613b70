// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scatters, scans and sorts of the oracle.

#ifndef TILEWRIGHT_LIB_TARGET_REFERENCE_LOWERIRREGULAR_H
#define TILEWRIGHT_LIB_TARGET_REFERENCE_LOWERIRREGULAR_H

#include "tilewright/Dialect/Irregular.h"

namespace tilewright {
/// The result of each op, computed in front of it.
mlir::Value lowerScatter(mlir::OpBuilder &b, ScatterOp op);
mlir::Value lowerScan(mlir::OpBuilder &b, ScanOp op);
/// Along any dim (LowerSort.cpp).
mlir::SmallVector<mlir::Value> lowerSort(mlir::OpBuilder &b, SortOp op);
} // namespace tilewright

#endif
