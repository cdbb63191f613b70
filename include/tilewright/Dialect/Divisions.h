// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients and remainders of integers, some of which do not exist.

#ifndef TILEWRIGHT_DIALECT_DIVISIONS_H
#define TILEWRIGHT_DIALECT_DIVISIONS_H

#include "mlir/IR/Builders.h"

namespace tilewright {

/// An op of arith that divides integers, or indices, or vectors of these.
bool isIntegerDivision(mlir::Operation *op);

/// Whether `op`, an integer division, has no result: by zero, or the least integer by -1. Made by
/// `b`; null where the divisor is a constant that always has one.
mlir::Value hasNoQuotient(mlir::OpBuilder &b, mlir::Operation *op);

/// Has `op`, an integer division, divide by one where `isBad`.
void divideByOneWhere(mlir::OpBuilder &b, mlir::Value isBad, mlir::Operation *op);

} // namespace tilewright

#endif
