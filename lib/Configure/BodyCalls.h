// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of a body is more than an instruction on NVIDIA's GPUs.

#ifndef TILEWRIGHT_LIB_CONFIGURE_BODYCALLS_H
#define TILEWRIGHT_LIB_CONFIGURE_BODYCALLS_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// Exact divisions and roots of f32: what is not ordinary is computed by code that is called.
/// Reciprocal roots of up to 32 bits are one instruction.
bool isCall(mlir::Operation *op);
/// Whether the body has one.
bool hasCall(mlir::linalg::LinalgOp op);

/// Whether it has functions that are computed by polynomials.
bool hasFunction(mlir::linalg::LinalgOp op);

/// Whether it puts bits together to 8-bit floats, which takes many instructions.
bool convertsToFloat8(mlir::linalg::LinalgOp op, TargetAttr target);

} // namespace tilewright

#endif
