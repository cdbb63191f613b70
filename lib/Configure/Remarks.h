// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What falls back, as remarks of MLIR's remark engine, for those who listen:
//
//   tilewright-opt --remark-format=yaml --remarks-filter-missed='.*' -tilewright-configure

#ifndef TILEWRIGHT_LIB_CONFIGURE_REMARKS_H
#define TILEWRIGHT_LIB_CONFIGURE_REMARKS_H

#include "tilewright/Support/Refusal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// `op` of `kernel` does not have what `category` names ("matrix-units"). The remark has the
/// kind of the refusal as its name, its sentence, and its amounts, if any.
void remarkMissed(mlir::func::FuncOp kernel, mlir::Operation *op, llvm::StringRef category,
                  const Refusal &why);

} // namespace tilewright

#endif
