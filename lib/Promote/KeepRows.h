// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_LIB_PROMOTE_KEEPROWS_H
#define TILEWRIGHT_LIB_PROMOTE_KEEPROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// Copies the rows of the arguments that `tilewright.kept_rows` names to shared memory as
/// they are read first, and reads them there from then on (KeepRows.cpp).
mlir::LogicalResult keepRows(mlir::func::FuncOp kernel);

} // namespace tilewright

#endif
