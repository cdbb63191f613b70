// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the tiles of a warpgroup's operands lie in a stage of a ring: rows along the sum
// as wide as a swizzle, or, where they are longer or neighbours lie along m or n, boxes
// as wide as a swizzle, one behind the other.

#include "RingOperand.h"

#include "tilewright/Dialect/Rings.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Bytes of a row that lies beside others of a tile whose rows (m or n) are neighbours in
/// memory: as wide as the widest swizzle that they fill.
static int64_t swizzledBytes(int64_t rowBytes) {
  return rowBytes % 128 == 0 ? 128 : rowBytes % 64 == 0 ? 64 : 32;
}

FailureOr<RingOperand> tilewright::ringOperandOf(MmaOp product, unsigned number) {
  return ringOperandOf(
      product, number,
      product->getOperand(number).getDefiningOp<vector::TransferReadOp>());
}

FailureOr<RingOperand> tilewright::ringOperandOf(MmaOp product, unsigned number,
                                               vector::TransferReadOp read) {
  return ringOperandOf(product, number, read, read ? read.getVectorType() : VectorType());
}

FailureOr<RingOperand> tilewright::ringOperandOf(MmaOp product, unsigned number,
                                               vector::TransferReadOp read, VectorType type) {
  MLIRContext *context = product.getContext();
  RingOperand operand;
  operand.read = read;
  if (!read || !isa<BlockArgument>(read.getBase()) || read.getMask() || read.hasBroadcastDim())
    return product.emitOpError() << "by a warpgroup takes tiles of the kernel's arguments, as "
                                    "they are; operand "
                                 << number << " is none";
  auto memory = cast<MemRefType>(operand.read.getBase().getType());
  AffineMap loops = cast<AffineMapAttr>(product.getMaps()[number]).getValue();
  AffineMap acc = cast<AffineMapAttr>(product.getMaps()[2]).getValue();
  AffineMap dims = operand.read.getPermutationMap();
  // The vector's dims: rows (m or n), and the sum.
  unsigned rows = acc.isFunctionOfDim(loops.getDimPosition(0)) ? 0 : 1,
           k = 1 - rows;
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  int64_t numRows = type.getDimSize(rows), numSums = type.getDimSize(k);
  AffineExpr rowLoop = loops.getResult(rows), sumLoop = loops.getResult(k);
  SmallVector<AffineExpr> copy(memory.getRank(),
                               getAffineConstantExpr(0, context));
  auto d = [&](unsigned dim) { return getAffineDimExpr(dim, context); };
  AffineExpr &alongRows = copy[dims.getDimPosition(rows)],
             &alongSum = copy[dims.getDimPosition(k)];
  bool sumsAlongMemory =
      int64_t(dims.getDimPosition(k)) == memory.getRank() - 1;
  unsigned numLoops = loops.getNumDims();
  /// The dims of the tile that are rows, and those along the sum, boxes first.
  auto loadOf = [&](ArrayRef<AffineExpr> ofRows, ArrayRef<AffineExpr> ofSum) {
    SmallVector<AffineExpr> all(rows == 0 ? ofRows : ofSum);
    llvm::append_range(all, rows == 0 ? ofSum : ofRows);
    return AffineMap::get(all.size(), 0, all, context);
  };
  if (sumsAlongMemory && numSums * bytes > 128) {
    // Rows longer than a swizzle, in boxes along the sum.
    int64_t width = 128 / bytes;
    if (numSums % width)
      return product.emitOpError() << "has rows of " << numSums * bytes
                                   << " bytes, which are no boxes of 128";
    alongRows = d(1), alongSum = d(0) * width + d(2);
    operand.tile = MemRefType::get({numSums / width, numRows, width}, type.getElementType(),
                                  MemRefLayoutAttrInterface(),
                                  swizzledRows(context, 128, bytes));
    operand.map = AffineMap::get(numLoops, 0,
                                {sumLoop.floorDiv(width), rowLoop, sumLoop % width}, context);
    operand.load = loadOf({d(1)}, {d(0), d(2)});
  } else if (sumsAlongMemory) {
    alongRows = d(0), alongSum = d(1);
    // Eight rows of 16 bytes are one of all banks as they lie.
    bool isShort = numSums * bytes == 16;
    operand.tile = MemRefType::get({numRows, numSums}, type.getElementType(),
                                  MemRefLayoutAttrInterface(),
                                  isShort ? SharedAttr::get(context, {})
                                          : swizzledRows(context, numSums * bytes, bytes));
    operand.map = AffineMap::get(numLoops, 0, {rowLoop, sumLoop}, context);
    operand.load = loadOf({d(0)}, {d(1)});
  } else {
    // Boxes as wide as the swizzle, one behind the other.
    int64_t width = swizzledBytes(numRows * bytes) / bytes;
    SharedAttr space = swizzledRows(context, width * bytes, bytes);
    if (numRows == width) {
      alongSum = d(0), alongRows = d(1);
      operand.tile = MemRefType::get({numSums, width}, type.getElementType(),
                                    MemRefLayoutAttrInterface(), space);
      operand.map = AffineMap::get(numLoops, 0, {sumLoop, rowLoop}, context);
      operand.load = loadOf({d(1)}, {d(0)});
    } else {
      alongSum = d(0), alongRows = d(1) * width + d(2);
      operand.tile = MemRefType::get({numSums, numRows / width, width}, type.getElementType(),
                                    StridedLayoutAttr::get(context, 0,
                                                           {width, numSums * width, 1}),
                                    space);
      operand.map = AffineMap::get(
          numLoops, 0, {sumLoop, rowLoop.floorDiv(width), rowLoop % width}, context);
      operand.load = loadOf({d(1), d(2)}, {d(0)});
    }
  }
  operand.copy = AffineMap::get(operand.tile.getRank(), 0, copy, context);
  return operand;
}
