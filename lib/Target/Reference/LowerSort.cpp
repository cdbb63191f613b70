// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two runs of each row at a time, from runs of one element on:
//   %r = tilewright.sort ins(%x) outs(%e) {dim = 0}
// becomes
//   scf.while (%w = 1, %t = %x) { %w < %n } do {
//     scf.for %begin = 0 to %n step 2 * %w {
//       scf.for %o = %begin to … iter_args(%i = %begin, %j = %begin + %w, %out)
//       {
//         … tensor.insert of %t[%j], if that goes in front of %t[%i], else of
//         %t[%i]

#include "LowerIrregular.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct Sorter {
  SortOp op;
  Location loc;
  Value zero, one, length;

  SmallVector<Value> load(OpBuilder &b, ValueRange tensors, ArrayRef<Value> row,
                          Value at) {
    SmallVector<Value> place(row), values;
    place[op.getDim()] = at;
    for (Value tensor : tensors)
      values.push_back(tensor::ExtractOp::create(b, loc, tensor, place));
    return values;
  }
  Value least(OpBuilder &b, Value x, Value y) {
    return arith::MinUIOp::create(b, loc, x, y);
  }
  Value add(OpBuilder &b, Value x, Value y) {
    return arith::AddIOp::create(b, loc, x, y);
  }
  Value isLess(OpBuilder &b, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, y);
  }

  /// The element of two runs, next in them at `carried`, that comes to `at` of
  /// the row.
  scf::ValueVector mergeOne(OpBuilder &b, ValueRange from, ArrayRef<Value> row,
                            Value at, Value middle, Value last,
                            ValueRange carried) {
    Value left = carried[0], right = carried[1];
    Value end = arith::SubIOp::create(b, loc, length, one);
    SmallVector<Value> first = load(b, from, row, least(b, left, end));
    SmallVector<Value> second = load(b, from, row, least(b, right, end));
    Value isRight = goesBefore(b, op, second, first);
    Value hasLeft = isLess(b, left, middle), hasRight = isLess(b, right, last);
    isRight = arith::SelectOp::create(b, loc, hasLeft, isRight, hasRight);
    isRight = arith::AndIOp::create(b, loc, isRight, hasRight);
    SmallVector<Value> place(row);
    place[op.getDim()] = at;
    Value nextLeft =
        arith::SelectOp::create(b, loc, isRight, left, add(b, left, one));
    Value nextRight =
        arith::SelectOp::create(b, loc, isRight, add(b, right, one), right);
    scf::ValueVector next{nextLeft, nextRight};
    for (auto [one, other, out] :
         llvm::zip_equal(second, first, carried.drop_front(2))) {
      Value chosen = arith::SelectOp::create(b, loc, isRight, one, other);
      next.push_back(tensor::InsertOp::create(b, loc, chosen, out, place));
    }
    return next;
  }

  /// `outs` with pairs of runs of `width` elements of `from` as one run each,
  /// in one row.
  scf::ValueVector mergeRow(OpBuilder &b, ValueRange from, ArrayRef<Value> row,
                            Value width, ValueRange outs) {
    Value both = add(b, width, width);
    auto pairs = scf::ForOp::create(
        b, loc, zero, length, both, outs,
        [&](OpBuilder &b, Location, Value begin, ValueRange outs) {
          Value middle = least(b, add(b, begin, width), length);
          Value last = least(b, add(b, begin, both), length);
          SmallVector<Value> carried{begin, middle};
          llvm::append_range(carried, outs);
          auto merged = scf::ForOp::create(
              b, loc, begin, last, one, carried,
              [&](OpBuilder &b, Location, Value at, ValueRange carried) {
                scf::YieldOp::create(
                    b, loc, mergeOne(b, from, row, at, middle, last, carried));
              });
          scf::YieldOp::create(b, loc, merged.getResults().drop_front(2));
        });
    return scf::ValueVector(pairs.getResults().begin(),
                            pairs.getResults().end());
  }
};
} // namespace

SmallVector<Value> tilewright::lowerSort(OpBuilder &b, SortOp op) {
  Location loc = op.getLoc();
  int64_t dim = op.getDim();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<OpFoldResult> mixed =
      tensor::getMixedSizes(b, loc, op.getInputs()[0]);
  SmallVector<Value> sizes = getValueOrCreateConstantIndexOp(b, loc, mixed);
  Sorter sorter{op, loc, zero, one, sizes[dim]};
  sizes[dim] = one; // the row itself
  SmallVector<Value> carried{one}, lower(sizes.size(), zero),
      steps(sizes.size(), one);
  llvm::append_range(carried, op.getInputs());
  auto loop = scf::WhileOp::create(
      b, loc, ValueRange(carried).getTypes(), carried,
      [&](OpBuilder &b, Location, ValueRange carried) {
        Value more = sorter.isLess(b, carried[0], sorter.length);
        scf::ConditionOp::create(b, loc, more, carried);
      },
      [&](OpBuilder &b, Location, ValueRange carried) {
        Value width = carried[0];
        ValueRange from = carried.drop_front();
        SmallVector<Value> outs;
        for (Value input : from)
          outs.push_back(tensor::EmptyOp::create(
              b, loc, tensor::getMixedSizes(b, loc, input),
              cast<RankedTensorType>(input.getType()).getElementType()));
        auto rows = scf::buildLoopNest(
            b, loc, lower, sizes, steps, outs,
            [&](OpBuilder &b, Location, ValueRange row, ValueRange outs) {
              return sorter.mergeRow(b, from, SmallVector<Value>(row), width,
                                     outs);
            });
        SmallVector<Value> next{sorter.add(b, width, width)};
        llvm::append_range(next, rows.results);
        scf::YieldOp::create(b, loc, next);
      });
  SmallVector<Value> results;
  for (auto [value, type] :
       llvm::zip_equal(loop.getResults().drop_front(), op.getResultTypes()))
    results.push_back(
        value.getType() == type
            ? Value(value)
            : tensor::CastOp::create(b, loc, type, value).getResult());
  return results;
}
