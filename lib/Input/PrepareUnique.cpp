// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Different elements: a sort, and of each run of equal elements the first one.
//
//   %r:2 = tilewright.unique ins(%x : tensor<6xf32>) outs(%values, %count)
// becomes
//   %x        5 2 5 9 2 5
//   %sorted   2 2 5 5 5 9          tilewright.sort, with the elements' numbers
//   %numbers  1 4 0 2 5 3
//   %flags    1 0 1 0 0 1          linalg.generic: the one before goes in front of it
//   %sums     1 1 2 2 2 3          tilewright.scan
//   %places   0 -1 1 -1 -1 2       a scatter leaves -1 out
//   values    2 5 9                tilewright.scatter ins(%sorted, %places) {unique}
//   indices   1 0 3                tilewright.scatter ins(%numbers, %places) {unique}
//   inverse   1 0 1 2 0 1          tilewright.scatter ins(%sums - 1, %numbers) {unique}
//   starts    0 2 5 6              tilewright.scatter ins(0 1 2 .., %places), else 6
//   counts    2 3 1                starts[j + 1] - starts[j]

#include "IrregularForms.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace {
class UniqueWriter {
public:
  UniqueWriter(RewriterBase &b, UniqueOp op)
      : b(b), op(op), loc(op.getLoc()),
        number(cast<ShapedType>(op.getCount().getType()).getElementType()) {}
  SmallVector<Operation *> write();

private:
  Value empty(Type type) { return tensor::EmptyOp::create(b, loc, sizes, type); }
  Value elementwise(ValueRange ins, Type type, Body body);
  Value findFlags(SortOp sort);
  Value scatter(Value updates, Value coordinates, Value dest);
  Value invert(Value sums, Value numbers);
  Value countEach(Value places);

  RewriterBase &b;
  UniqueOp op;
  Location loc;
  Type number; // of numbers of elements
  SmallVector<OpFoldResult> sizes; // all elements
};
} // namespace

/// `body` of elements of `ins`, all of one dim.
Value UniqueWriter::elementwise(ValueRange ins, Type type, Body body) {
  SmallVector<AffineMap> maps(ins.size() + 1, b.getMultiDimIdentityMap(1));
  return generic(b, loc, ins, empty(type), maps, {utils::IteratorType::parallel}, body);
}

/// 1 for each element in order that is not equal to the one before, else 0.
Value UniqueWriter::findFlags(SortOp sort) {
  Value sorted = sort.getResult(0);
  return elementwise(sorted, number, [&](OpBuilder &b, ValueRange scalars) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value at = linalg::IndexOp::create(b, loc, 0);
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at, zero);
    Value before = arith::SelectOp::create(b, loc, isFirst, zero,
                                           arith::SubIOp::create(b, loc, at, one));
    Value previous = tensor::ExtractOp::create(b, loc, sorted, before);
    Value differs = goesBefore(b, sort, previous, scalars[0]);
    differs = arith::OrIOp::create(b, loc, differs, isFirst);
    return arith::ExtUIOp::create(b, loc, number, differs).getResult();
  });
}

Value UniqueWriter::scatter(Value updates, Value coordinates, Value dest) {
  return ScatterOp::create(b, loc, TypeRange(dest.getType()), updates, coordinates, dest,
                           ArrayRef<int64_t>{0}, /*unique=*/true)
      .getResult(0);
}

/// The number of each element among the values, where the element was.
Value UniqueWriter::invert(Value sums, Value numbers) {
  Value which = elementwise(sums, number, [&](OpBuilder &b, ValueRange scalars) {
    return arith::SubIOp::create(b, loc, scalars[0], integer(b, loc, number, 1)).getResult();
  });
  SmallVector<OpFoldResult> column = {sizes[0], b.getIndexAttr(1)};
  Value coordinates = expand(b, loc, numbers, {{0, 1}}, column);
  Value dest = op.getInverse();
  Groups all;
  addGroup(all, 0, cast<ShapedType>(dest.getType()).getRank());
  Value flat = collapse(b, loc, dest, all);
  auto known = RankedTensorType::get(
      cast<RankedTensorType>(numbers.getType()).getShape(), number);
  if (flat.getType() != known)
    flat = tensor::CastOp::create(b, loc, known, flat);
  Value result = expand(b, loc, scatter(which, coordinates, flat), all,
                        tensor::getMixedSizes(b, loc, op.getInput()));
  return result.getType() == dest.getType()
             ? result
             : tensor::CastOp::create(b, loc, dest.getType(), result).getResult();
}

/// How far it is from the first of each run of equal elements to that of the next.
Value UniqueWriter::countEach(Value places) {
  Value dest = op.getCounts();
  OpFoldResult rows = tensor::getMixedSizes(b, loc, dest)[0];
  std::optional<int64_t> known = getConstantIntValue(rows);
  OpFoldResult length = known ? OpFoldResult(b.getIndexAttr(*known + 1))
                              : arith::AddIOp::create(b, loc, cast<Value>(rows),
                                                      arith::ConstantIndexOp::create(b, loc, 1))
                                    .getResult();
  Value end = arith::IndexCastOp::create(
      b, loc, number, getValueOrCreateConstantIndexOp(b, loc, sizes[0]));
  Value unset = tensor::EmptyOp::create(b, loc, {length}, number);
  Value starts = scatter(numbersAlong(b, loc, sizes, 0, number), places,
                         linalg::FillOp::create(b, loc, end, unset).getResult(0));
  return generic(b, loc, {}, dest, b.getMultiDimIdentityMap(1),
                 {utils::IteratorType::parallel}, [&](OpBuilder &b, ValueRange) {
                   Value at = linalg::IndexOp::create(b, loc, 0);
                   Value next = arith::AddIOp::create(
                       b, loc, at, arith::ConstantIndexOp::create(b, loc, 1));
                   return arith::SubIOp::create(
                              b, loc, tensor::ExtractOp::create(b, loc, starts, next),
                              tensor::ExtractOp::create(b, loc, starts, at))
                       .getResult();
                 });
}

SmallVector<Operation *> UniqueWriter::write() {
  b.setInsertionPoint(op);
  Groups all;
  auto input = cast<ShapedType>(op.getInput().getType());
  addGroup(all, 0, input.getRank());
  SmallVector<Value> rows = {collapse(b, loc, op.getInput(), all)};
  sizes = tensor::getMixedSizes(b, loc, rows[0]);
  if (op.getIndices() || op.getInverse())
    rows.push_back(numbersAlong(b, loc, sizes, 0, number));
  SmallVector<Value> outs = {empty(input.getElementType())};
  if (rows.size() == 2)
    outs.push_back(empty(number));
  auto sort = SortOp::create(b, loc, TypeRange(ValueRange(outs)), rows, Value(), outs,
                             /*dim=*/0, false, false, false);
  Value flags = findFlags(sort);
  ScanOp scan = sumFlags(b, loc, flags);
  Value places = findPlaces(b, loc, flags, scan.getResult(0));
  SmallVector<Value> results = {scatter(sort.getResult(0), places, op.getValues()),
                                countFlags(b, loc, flags, op.getCount())};
  if (op.getIndices())
    results.push_back(scatter(sort.getResult(1), places, op.getIndices()));
  if (op.getInverse())
    results.push_back(invert(scan.getResult(0), sort.getResult(1)));
  if (op.getCounts())
    results.push_back(countEach(places));
  b.replaceOp(op, results);
  return {sort, scan};
}

SmallVector<Operation *> tilewright::sortForUnique(RewriterBase &b, UniqueOp op) {
  return UniqueWriter(b, op).write();
}
