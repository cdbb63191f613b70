// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What copy engines can read and write, see TensorMaps.cpp.

#ifndef TILEWRIGHT_LIB_CONFIGURE_TENSORMAPS_H
#define TILEWRIGHT_LIB_CONFIGURE_TENSORMAPS_H

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Support/Refusal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// Why no tensor map describes `argument`, a tensor of `kernel`, as the end of a
/// sentence that begins with its name (" is padded …"); none if one does.
Refusal whyNoTensorMap(mlir::func::FuncOp kernel, mlir::BlockArgument argument);

} // namespace tilewright

#endif
