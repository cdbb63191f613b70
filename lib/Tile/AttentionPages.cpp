// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a block of attention reads keys and values from, where a sequence's keys end at a
// length or lie in pages of a pool:
//
//   %entry = tensor.extract %table[%b, %j / 16]
//   %rows  = what is left of %length behind the page's first key, at most 16
//   %keys  = tensor.extract_slice %pool[%page, 0, %h, 0] [1, %rows, 1, 64]
//
// Copy engines bring whole boxes of what is in memory, and zeros of what lies outside of the
// tensor. The step that the length ends in has its box end there instead, in front of the
// tensor's first row if need be; what is of the step before, once more, is hidden:
//
//   %begin = arith.minsi %j, %length - 128
//   %keys  = vector.transfer_read %k[%b, %begin, %h, 0]

#include "AttentionBlock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

Value AttentionBlock::element(Value tensor, AffineMap map) {
  SmallVector<Value> indices;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      indices.push_back(position[dim.getPosition()]);
    else
      indices.push_back(pageNumber());
  return tensor::ExtractOp::create(b, loc, tensor, indices);
}

/// Of the position, or the last one: a step of several pages may end behind it.
Value AttentionBlock::pageNumber() {
  unsigned j = op.getKeyLoop();
  int64_t size = op.getPageSize();
  Value number = arith::DivUIOp::create(b, loc, position[j], constant(size));
  if (size >= plan.keys || isWhole(j))
    return number;
  Value last = subtract(arith::DivUIOp::create(b, loc, extent(j), constant(size)), constant(1));
  return arith::MinUIOp::create(b, loc, number, last);
}

void AttentionBlock::enterKeys(Value key) {
  position[op.getKeyLoop()] = key;
  if (!op.getTable())
    return;
  placeSlices(createPage(b, loc, element(op.getTable(), op.getTableMap()), createNumPages(b, op)));
}

/// What is behind the last key is outside of a slice, and so read as zeros: a pool may have
/// anything there.
void AttentionBlock::placeSlices(Value page) {
  int64_t size = op.getPageSize();
  unsigned j = op.getKeyLoop();
  firstOfSlice = constant(0);
  OpFoldResult rows = numKeys;
  if (page) {
    Value number = arith::DivUIOp::create(b, loc, position[j], constant(size));
    firstOfSlice = arith::MulIOp::create(b, loc, number, constant(size));
    rows = b.getIndexAttr(size);
    if (!isInside(j, size)) {
      Value left = subtract(numKeys, firstOfSlice);
      if (size < plan.keys) // whole pages of a step may be behind the last key
        left = arith::MaxSIOp::create(b, loc, left, constant(0));
      rows = arith::MinSIOp::create(b, loc, left, constant(size)).getResult();
    }
  }
  AffineExpr keys = b.getAffineDimExpr(j);
  for (auto [number, slice] : {std::pair(1u, &keySlice), std::pair(2u, &valueSlice)}) {
    Value tensor = op->getOperand(number);
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<OpFoldResult> offsets, sizes, strides(type.getRank(), b.getIndexAttr(1));
    for (auto [dim, expr] : llvm::enumerate(op.getMap(number).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      bool isRow = page ? expr == keys % size : expr == keys;
      bool isPage = page && expr == keys.floorDiv(size);
      bool isWhole = loop && loop.getPosition() > j;
      offsets.push_back(isPage            ? OpFoldResult(page)
                        : isRow || isWhole ? OpFoldResult(b.getIndexAttr(0))
                                          : OpFoldResult(position[loop.getPosition()]));
      sizes.push_back(isRow     ? rows
                      : isWhole ? OpFoldResult(b.getIndexAttr(type.getDimSize(dim)))
                                : OpFoldResult(b.getIndexAttr(1)));
    }
    *slice = tensor::ExtractSliceOp::create(b, loc, tensor, offsets, sizes, strides);
  }
}

/// Nothing behind the length is read, by moving the last step to the front.
bool AttentionBlock::endsAtLength() { return plan.copyThreads > 0 && op.getLengths(); }

/// The key that the box of the step of `key` begins at.
Value AttentionBlock::beginOfStep(Value key) {
  if (!endsAtLength())
    return key;
  return arith::MinSIOp::create(b, loc, key, subtract(numKeys, constant(plan.keys)));
}

SmallVector<Value> AttentionBlock::sliceIndices(AffineMap map) {
  unsigned j = op.getKeyLoop();
  AffineExpr keys = b.getAffineDimExpr(j);
  int64_t size = op.getPageSize();
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) -> Value {
    if (size ? expr == keys % size : expr == keys)
      return subtract(position[j], firstOfSlice);
    auto loop = dyn_cast<AffineDimExpr>(expr);
    return loop && loop.getPosition() > j ? position[loop.getPosition()] : constant(0);
  });
}
