// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operand of a product that goes through a ring.

#ifndef TILEWRIGHT_LIB_PROMOTE_RINGOPERAND_H
#define TILEWRIGHT_LIB_PROMOTE_RINGOPERAND_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright {

/// Where an operand's tiles come from, and how they lie in a stage.
struct RingOperand {
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
mlir::FailureOr<RingOperand> ringOperandOf(MmaOp product, unsigned number);
/// The same of what `read` brings, from which operand 0 or 1 is computed.
mlir::FailureOr<RingOperand> ringOperandOf(MmaOp product, unsigned number,
                                         mlir::vector::TransferReadOp read);
/// The same of an operand of `type`, of which `read` brings a part.
mlir::FailureOr<RingOperand> ringOperandOf(MmaOp product, unsigned number,
                                         mlir::vector::TransferReadOp read,
                                         mlir::VectorType type);

} // namespace tilewright

#endif
