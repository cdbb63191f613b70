// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of i4 lie in memory two elements to a byte, the even one in the low bits. A
// kernel that computes a product's operand from them reads them through
// tilewright.unpack.

#ifndef TILEWRIGHT_DIALECT_PACKED_H
#define TILEWRIGHT_DIALECT_PACKED_H

#include "tilewright/Dialect/Tilewright.h"

#define GET_OP_CLASSES
#include "tilewright/Dialect/PackedOps.h.inc"

namespace tilewright {

/// What `value` is unpacked from, else `value`.
inline mlir::Value bytesOf(mlir::Value value) {
  if (auto unpack = value.getDefiningOp<UnpackOp>())
    return unpack.getSource();
  return value;
}

} // namespace tilewright

#endif
