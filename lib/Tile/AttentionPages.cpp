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
// tensor. A box of a step or of a page that keys end in begins earlier, so that it ends there,
// too; it may begin in front of the tensor's or the page's first row. What it has of other keys
// is hidden:
//
//   %shift = min(0, %length - 128 - %j)
//   %keys  = vector.transfer_read %k[%b, %j + %shift, %h, 0]

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
  Value page;
  if (op.getTable())
    page = createPage(b, loc, element(op.getTable(), op.getTableMap()), createNumPages(b, op));
  boxPage = page;
  if (plan.copyThreads > 0)
    placeBox();
  else if (page)
    placeSlices(page);
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

/// The keys of a box: a step's, or those of each of its pages.
int64_t AttentionBlock::boxKeys() {
  int64_t size = op.getPageSize();
  return size ? std::min(size, plan.keys) : plan.keys;
}

/// The box that keys end in must not bring what is behind them.
bool AttentionBlock::cutsBoxes() {
  return plan.copyThreads > 0 && (op.getLengths() || (op.getTable() && !isWhole(op.getKeyLoop())));
}

/// How much further than at `key` a box of keys begins: 0 or less.
Value AttentionBlock::shiftOf(Value key) {
  Value left = subtract(subtract(numKeys, constant(boxKeys())), key);
  Value shift = arith::MinSIOp::create(b, loc, left, constant(0));
  if (boxKeys() < plan.keys) // whole pages of a step may be behind the last key
    shift = arith::MaxSIOp::create(b, loc, shift, constant(-boxKeys()));
  return shift;
}

void AttentionBlock::placeBox() {
  Value key = position[op.getKeyLoop()];
  int64_t size = op.getPageSize();
  boxRow = size == 0           ? key
           : size <= plan.keys ? constant(0)
                               : arith::RemUIOp::create(b, loc, key, constant(size)).getResult();
  if (cutsBoxes())
    boxRow = add(boxRow, shiftOf(key));
}

AttentionBlock::BoxKeys AttentionBlock::keysOfBoxes(int64_t keys) {
  auto type = VectorType::get({keys}, b.getIndexType());
  auto spread = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(b, loc, type, scalar);
  };
  Value step = vector::StepOp::create(b, loc, type), zero = spread(constant(0));
  int64_t size = boxKeys();
  if (size == plan.keys) {
    Value shift = spread(shiftOf(ownKeys));
    return {step, shift, subtract(zero, shift)};
  }
  Value row = arith::RemUIOp::create(b, loc, step, spread(constant(size)));
  Value first = subtract(step, row); // of the page
  Value left = subtract(subtract(numKeys, constant(size)), ownKeys);
  Value shift = arith::MinSIOp::create(b, loc, subtract(spread(left), first), zero);
  shift = arith::MaxSIOp::create(b, loc, shift, spread(constant(-size)));
  return {row, add(first, shift), subtract(zero, shift)};
}

SmallVector<Value> AttentionBlock::boxIndices(AffineMap map) {
  AffineExpr keys = b.getAffineDimExpr(op.getKeyLoop());
  int64_t size = op.getPageSize();
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) -> Value {
    if (size && expr == keys.floorDiv(size))
      return boxPage;
    if (expr == keys || (size && expr == keys % size))
      return boxRow;
    return position[cast<AffineDimExpr>(expr).getPosition()];
  });
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
