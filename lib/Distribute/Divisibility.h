// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an index is known to be a multiple of: decides whether an address is
// aligned for a wide access. Walks constants, arithmetic, affine.apply and
// induction variables.

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_DIVISIBILITY_H
#define TILEWRIGHT_LIB_DISTRIBUTE_DIVISIBILITY_H

#include "mlir/IR/Value.h"

namespace tilewright {

/// A divisor of `value` that is known at compile time (at least 1; a very large
/// power of two for zero).
int64_t knownDivisor(mlir::Value value, int depth = 0);

} // namespace tilewright

#endif
