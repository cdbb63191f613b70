// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes that change operands of products ask alike.

#ifndef TILEWRIGHT_LIB_NORMALIZE_PRODUCTS_H
#define TILEWRIGHT_LIB_NORMALIZE_PRODUCTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// The multiplication of `init + a * b`, of floats or integers, in the body of an op with two
/// inputs; null where it is none.
mlir::Operation *findSummedProduct(mlir::linalg::GenericOp op);

inline bool isHalf(mlir::Type type) { return type.isF16() || type.isBF16(); }

} // namespace tilewright

#endif
