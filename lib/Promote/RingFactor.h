// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A factor of a product that goes through a ring.

#ifndef TILEWRIGHT_LIB_PROMOTE_RINGFACTOR_H
#define TILEWRIGHT_LIB_PROMOTE_RINGFACTOR_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright {

/// Where a factor's tiles come from, and how they lie in a stage.
struct RingFactor {
  mlir::vector::TransferReadOp read;
  mlir::MemRefType tile;
  /// From the dims of the tile to those of the memory it is copied from.
  mlir::AffineMap copy;
  /// From the product's loops to the dims of the tile.
  mlir::AffineMap map;
  /// From the dims of the tile to those of the vector that is read, where boxes and what
  /// is in one are two dims.
  mlir::AffineMap load;
};

/// Of operand 0 or 1. An error says why what is multiplied is no tile of an
/// argument as it lies.
mlir::FailureOr<RingFactor> ringFactorOf(MmaOp product, unsigned operand);
/// The same of what `read` brings, from which operand 0 or 1 is computed.
mlir::FailureOr<RingFactor> ringFactorOf(MmaOp product, unsigned operand,
                                         mlir::vector::TransferReadOp read);

} // namespace tilewright

#endif
