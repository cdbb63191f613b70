// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the makers of variants ask of a kernel.

#ifndef TILEWRIGHT_LIB_SPECIALIZE_KERNELS_H
#define TILEWRIGHT_LIB_SPECIALIZE_KERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// Whether a kernel is linalg on tensors still; one in tiles has its config.
bool isProgramForm(mlir::func::FuncOp kernel);

} // namespace tilewright

#endif
