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

/// 1 for each element that is not zero, else 0.
static Value findFlags(OpBuilder &b, Location loc, Value input, Type type) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, input);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type);
  AffineMap map = b.getMultiDimIdentityMap(sizes.size());
  LoopKinds loops(sizes.size(), utils::IteratorType::parallel);
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
  LoopKinds loops(rank + 1, utils::IteratorType::parallel);
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

  ScanOp scan = sumFlags(b, loc, flags);
  Value places = findPlaces(b, loc, flags, scan.getResult(0));
  auto scatter = ScatterOp::create(b, loc, TypeRange(op.getIndices().getType()), coordinates,
                                   places, op.getIndices(), ArrayRef<int64_t>{0},
                                   /*unique=*/true);
  Value count = countFlags(b, loc, flags, op.getCount());
  b.replaceOp(op, {scatter.getResult(0), count});
  return scan;
}
