// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/Packed.h"

using namespace mlir;
using namespace tilewright;

#define GET_OP_CLASSES
#include "tilewright/Dialect/PackedOps.cpp.inc"

LogicalResult UnpackOp::verify() {
  RankedTensorType from = getSourceType(), to = getType();
  if (!from.getElementType().isInteger(8) || !to.getElementType().isInteger(8))
    return emitOpError("takes and gives numbers of i8");
  if (from.getRank() != to.getRank() || from.getRank() == 0 ||
      from.getShape().drop_back() != to.getShape().drop_back())
    return emitOpError("changes the innermost dim only");
  int64_t bytes = from.getShape().back(), elements = to.getShape().back();
  if (ShapedType::isDynamic(bytes) || elements != 2 * bytes)
    return emitOpError("has two elements for each byte of the innermost dim, whose "
                       "size is static");
  return success();
}
