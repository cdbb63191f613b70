// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients of floats that need not be rounded correctly.

#ifndef TILEWRIGHT_DIALECT_QUOTIENTS_H
#define TILEWRIGHT_DIALECT_QUOTIENTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilewright {

/// Whether nothing but roundings to 16 bits and products that come to that, over at most so many
/// steps, are made of `value`: a few units in the last place of f32 change such a result only
/// next to the middle of two of its neighbours.
bool becomesNarrow(mlir::Value value, unsigned steps = 4);

/// Whether a quotient of up to 32 bits may be off by a few units in the last place: all of it is
/// rounded to 16 bits, or it is made of an exponential, which is off itself.
bool mayDivideRoughly(mlir::arith::DivFOp op);

} // namespace tilewright

#endif
