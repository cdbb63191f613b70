// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of narrow elements as words of 32 bits, in which the neighbours along a sum
// lie side by side: what instructions multiply that sum two or four products a lane.

#ifndef TILEWRIGHT_LIB_PROMOTE_PACKWORDS_H
#define TILEWRIGHT_LIB_PROMOTE_PACKWORDS_H

#include "mlir/IR/Builders.h"

namespace tilewright {

/// Writes `tile`, a vector of two dims of which `sumDim` is summed over, to `memory` at
/// `place`: behind the dims of `place` it has
///
///   words x outer x perWord    the sum's words one after the other, or, `alongSum`,
///   outer x sum                rows along the sum
void packWords(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tile,
               unsigned sumDim, mlir::Value memory,
               mlir::ArrayRef<mlir::Value> place, bool alongSum);

} // namespace tilewright

#endif
