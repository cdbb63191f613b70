// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements that are not zero, numbered by a scan:
//
//   %r:2 = tilewright.nonzero ins(%x : tensor<2x3xf32>) outs(%indices, %count)
// becomes
//   %x       0 7 0 / 5 0 9
//   %flags   0 1 0 1 0 1          linalg.generic
//   %sums    0 1 1 2 2 3          tilewright.scan
//   %places  -1 0 -1 1 -1 2       linalg.generic: a scatter leaves -1 out
//   %r#0     tilewright.scatter ins(coordinates of all, %places) outs(%indices) {unique}
//   %r#1     a sum of %flags
//
// All of it is linear work, and side by side.

#include "IrregularForms.h"
#include "tilewright/Dialect/Float8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

using Body = llvm::function_ref<Value(OpBuilder &, ValueRange)>;
using Loops = SmallVector<utils::IteratorType>;

/// A linalg.generic whose operands are indexed by `maps`, the last one for `out`.
static Value generic(OpBuilder &b, Location loc, ValueRange ins, Value out,
                     ArrayRef<AffineMap> maps, const Loops &loops, Body body) {
  return linalg::GenericOp::create(b, loc, out.getType(), ins, out, maps, loops,
                                   [&](OpBuilder &b, Location loc, ValueRange scalars) {
                                     Value result = body(b, scalars);
                                     linalg::YieldOp::create(b, loc, result);
                                   })
      .getResult(0);
}

static Value integer(OpBuilder &b, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

/// 1 for each element that is not zero, else 0.
static Value findFlags(OpBuilder &b, Location loc, Value input, Type type) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, input);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type);
  AffineMap map = b.getMultiDimIdentityMap(sizes.size());
  Loops loops(sizes.size(), utils::IteratorType::parallel);
  return generic(b, loc, input, empty, {map, map}, loops, [&](OpBuilder &b, ValueRange scalars) {
    Value value = scalars[0], isSet;
    if (isFloat8(value.getType()))
      value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
    if (isa<FloatType>(value.getType()))
      isSet = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value, zero);
    else
      isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
    return arith::ExtUIOp::create(b, loc, type, isSet).getResult();
  });
}

/// The coordinates of each element of `input`, in a last dim.
static Value findCoordinates(OpBuilder &b, Location loc, Value input, Type type) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, input);
  int64_t rank = sizes.size();
  sizes.push_back(b.getIndexAttr(rank));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type);
  Loops loops(rank + 1, utils::IteratorType::parallel);
  return generic(b, loc, {}, empty, b.getMultiDimIdentityMap(rank + 1), loops,
                 [&](OpBuilder &b, ValueRange) {
                   Value which = linalg::IndexOp::create(b, loc, rank);
                   Value result = linalg::IndexOp::create(b, loc, 0);
                   for (int64_t dim = 1; dim < rank; ++dim) {
                     Value number = arith::ConstantIndexOp::create(b, loc, dim);
                     Value isThis = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                                          which, number);
                     Value coordinate = linalg::IndexOp::create(b, loc, dim);
                     result = arith::SelectOp::create(b, loc, isThis, coordinate, result);
                   }
                   return arith::IndexCastOp::create(b, loc, type, result).getResult();
                 });
}

ScanOp tilewright::scanForNonzero(RewriterBase &b, NonzeroOp op) {
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  Type type = cast<ShapedType>(op.getIndices().getType()).getElementType();
  int64_t rank = cast<ShapedType>(op.getInput().getType()).getRank();
  Groups all, rows;
  addGroup(all, 0, rank);
  addGroup(rows, 0, rank);
  addGroup(rows, rank, 1);
  Value flags = collapse(b, loc, findFlags(b, loc, op.getInput(), type), all);
  Value coordinates = collapse(b, loc, findCoordinates(b, loc, op.getInput(), type), rows);

  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, flags);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type);
  auto scan = ScanOp::create(b, loc, TypeRange(empty.getType()), flags, Value(), Value(), empty,
                             /*dim=*/0, false, false, false, false);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&scan.getCombiner(), {}, {type, type}, {loc, loc});
    Value sum = arith::AddIOp::create(b, loc, block->getArgument(0), block->getArgument(1));
    CombinedOp::create(b, loc, sum);
  }
  AffineMap each = b.getMultiDimIdentityMap(1), none = AffineMap::get(1, 0, b.getContext());
  Value unplaced = tensor::EmptyOp::create(b, loc, sizes, type);
  Value places = generic(b, loc, {flags, scan.getResult(0)}, unplaced, {each, each, each},
                         {utils::IteratorType::parallel}, [&](OpBuilder &b, ValueRange scalars) {
                           Value one = integer(b, loc, type, 1);
                           Value place = arith::SubIOp::create(b, loc, scalars[1], one);
                           Value isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                                               scalars[0], one);
                           return arith::SelectOp::create(b, loc, isSet, place,
                                                          integer(b, loc, type, -1))
                               .getResult();
                         });
  sizes.push_back(b.getIndexAttr(1));
  places = expand(b, loc, places, {{0, 1}}, sizes);
  auto scatter = ScatterOp::create(b, loc, TypeRange(op.getIndices().getType()), coordinates,
                                   places, op.getIndices(), ArrayRef<int64_t>{0},
                                   /*unique=*/true);
  Value zero = integer(b, loc, type, 0);
  Value nothing = linalg::FillOp::create(b, loc, zero, op.getCount()).getResult(0);
  Value count = generic(b, loc, flags, nothing, {each, none}, {utils::IteratorType::reduction},
                        [&](OpBuilder &b, ValueRange scalars) {
                          return arith::AddIOp::create(b, loc, scalars[0], scalars[1]).getResult();
                        });
  b.replaceOp(op, {scatter.getResult(0), count});
  return scan;
}
