// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of which nothing but 16 bits are kept.

#ifndef TILEWRIGHT_LIB_TARGET_NVVM_NARROWRESULTS_H
#define TILEWRIGHT_LIB_TARGET_NVVM_NARROWRESULTS_H

#include "mlir/IR/Value.h"

namespace tilewright {

/// Whether nothing but roundings to 16 bits and products that come to that, over at most so many
/// steps, are made of `value`: a few units in the last place of f32 change such a result only
/// next to the middle of two of its neighbours.
bool becomesNarrow(mlir::Value value, unsigned steps = 4);

} // namespace tilewright

#endif
