// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of 8 bits: elements of tensors that are moved, converted and (f8E4M3FN
// and f8E5M2) multiplied on matrix units, but not computed with.

#ifndef TILEWRIGHT_DIALECT_FLOAT8_H
#define TILEWRIGHT_DIALECT_FLOAT8_H

#include "mlir/IR/Operation.h"

namespace tilewright {

/// As diagnostics list them.
inline constexpr llvm::StringLiteral kFloat8Names =
    "f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ";

/// Of the type itself, or of the elements of a vector, tensor or memref.
bool isFloat8(mlir::Type type);

/// True for arith and math ops that look into such a number other than to
/// convert it.
bool isFloat8Arithmetic(mlir::Operation *op);

} // namespace tilewright

#endif
