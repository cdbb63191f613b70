// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread does of a sort: with a chunk of 32 elements of a row it begins,
//
//   tilewright.sort ins(%x) outs(%o) {runs}       // each element goes to its
//   place among
// becomes                                         // those before it
//   scf.for %k = first to end {
//     %v = memref.load %x[%k]
//     %p = scf.while (%j = %k) { %j > first and %v < %o[%j - 1] } do { %o[%j] =
//     %o[%j - 1] … } memref.store %v, %o[%p]
//   }
//
// and a chunk of two runs that become one it computes alone: it finds how many
// elements that are in front of the chunk are of the left run, and merges from
// there on.
//
//   tilewright.sort ins(%x) width(%w) outs(%o)
// becomes
//   %i, _ = scf.while (…) { a binary search in both runs }
//   scf.for %k = first to end iter_args(%left = %i, %right = %k - %i) {
//     … the right run's element where it goes in front of the left one's, else
//     that
//
// So the work of a step is linear, and all of its threads have the same. Of
// `halves` the output has the first %w of each two runs.

#include "IrregularWriter.h"

using namespace mlir;
using namespace tilewright;

SmallVector<Value> IrregularWriter::loadAll(ValueRange tensors, ValueRange at) {
  SmallVector<Value> values;
  for (Value tensor : tensors)
    values.push_back(load(memory.lookup(tensor), at));
  return values;
}

void IrregularWriter::storeAll(ValueRange values, ValueRange tensors,
                               ValueRange at) {
  for (auto [value, tensor] : llvm::zip_equal(values, tensors))
    store(value, memory.lookup(tensor), at);
}

/// A loop that goes on with what `next` gives of `carried` while `test` holds.
static scf::WhileOp
loopWhile(OpBuilder &b, Location loc, ValueRange carried,
          llvm::function_ref<Value(ValueRange)> test,
          llvm::function_ref<SmallVector<Value>(ValueRange)> next) {
  OpBuilder::InsertionGuard guard(b);
  return scf::WhileOp::create(
      b, loc, carried.getTypes(), carried,
      [&](OpBuilder &inner, Location at, ValueRange values) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(),
                            inner.getInsertionPoint());
        Value condition = test(values);
        scf::ConditionOp::create(b, at, condition, values);
      },
      [&](OpBuilder &inner, Location at, ValueRange values) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(),
                            inner.getInsertionPoint());
        SmallVector<Value> results = next(values);
        scf::YieldOp::create(b, at, results);
      });
}

void IrregularWriter::insertRun(SortOp op, Value outer, Value first, Value end,
                                Value inner) {
  Value one = index(1);
  loop(first, end, 1, [&](Value step) {
    SmallVector<Value> values = loadAll(op.getInputs(), {outer, step, inner});
    auto place = loopWhile(
        b, loc, step,
        [&](ValueRange carried) {
          // Read only where there is an element.
          Value inside = isLess(first, carried[0]);
          auto branch = scf::IfOp::create(b, loc, b.getI1Type(), inside, true);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.thenBlock());
          SmallVector<Value> before = loadAll(
              op.getOutputs(), {outer, subtract(carried[0], one), inner});
          scf::YieldOp::create(b, loc, goesBefore(b, op, values, before));
          b.setInsertionPointToStart(branch.elseBlock());
          scf::YieldOp::create(b, loc, inside);
          return branch.getResult(0);
        },
        [&](ValueRange carried) -> SmallVector<Value> {
          Value before = subtract(carried[0], one);
          SmallVector<Value> moved =
              loadAll(op.getOutputs(), {outer, before, inner});
          storeAll(moved, op.getOutputs(), {outer, carried[0], inner});
          return {before};
        });
    storeAll(values, op.getOutputs(), {outer, place.getResult(0), inner});
  });
}

void IrregularWriter::mergeRuns(SortOp op, Value outer, Value first, Value end,
                                Value inner) {
  Value length = dim(memory.lookup(op.getInputs()[0]), 1);
  Value width = memory.lookup(op.getWidth()), one = index(1);
  // Runs of elements [begin, middle) and [middle, end of the right one) are in
  // order.
  Value pair = arith::DivUIOp::create(b, loc, first, width), start;
  if (op.getHalves()) {
    start = multiply(pair, width);
  } else {
    pair = divide(pair, 2);
    start = multiply(multiply(pair, index(2)), width);
  }
  Value begin = op.getHalves() ? multiply(start, index(2)) : start;
  Value leftCount = least(width, subtract(length, begin));
  Value middle = add(begin, leftCount);
  Value rightCount = least(width, subtract(length, middle));
  Value before =
      subtract(first, start); // elements of the pair in front of the chunk
  Value fewest = subtract(before, least(before, rightCount));
  Value most = least(before, leftCount);
  auto found = loopWhile(
      b, loc, {fewest, most},
      [&](ValueRange carried) { return isLess(carried[0], carried[1]); },
      [&](ValueRange carried) -> SmallVector<Value> {
        Value some = divide(add(carried[0], carried[1]), 2);
        SmallVector<Value> left =
            loadAll(op.getInputs(), {outer, add(begin, some), inner});
        Value other = subtract(add(middle, before), add(some, one));
        SmallVector<Value> right =
            loadAll(op.getInputs(), {outer, other, inner});
        Value isRight = goesBefore(b, op, right, left);
        Value low = select(isRight, carried[0], add(some, one));
        return {low, select(isRight, some, carried[1])};
      });
  Value taken = found.getResult(0);
  SmallVector<Value> inits{taken, subtract(before, taken)};
  Value lastLeft = subtract(leftCount, one), last = subtract(length, one);
  auto merged = scf::ForOp::create(b, loc, first, end, one, inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(merged.getBody());
  Value fromLeft = merged.getRegionIterArg(0),
        fromRight = merged.getRegionIterArg(1);
  // Beyond a run's end is read what is there, or the last element, and not
  // taken.
  Value leftAt = add(begin, least(fromLeft, lastLeft));
  Value rightAt = least(add(middle, fromRight), last);
  SmallVector<Value> left = loadAll(op.getInputs(), {outer, leftAt, inner});
  SmallVector<Value> right = loadAll(op.getInputs(), {outer, rightAt, inner});
  Value isRight = goesBefore(b, op, right, left);
  isRight = arith::OrIOp::create(b, loc, isRight, isLess(lastLeft, fromLeft));
  isRight =
      arith::AndIOp::create(b, loc, isRight, isLess(fromRight, rightCount));
  SmallVector<Value> chosen;
  for (auto [one, other] : llvm::zip_equal(right, left))
    chosen.push_back(select(isRight, one, other));
  storeAll(chosen, op.getOutputs(), {outer, merged.getInductionVar(), inner});
  Value nextLeft = select(isRight, fromLeft, add(fromLeft, one));
  Value nextRight = select(isRight, add(fromRight, one), fromRight);
  scf::YieldOp::create(b, loc, ValueRange{nextLeft, nextRight});
}

void IrregularWriter::sort(SortOp op) {
  Value key = memory.lookup(op.getInputs()[0]);
  Value length = dim(memory.lookup(op.getOutputs()[0]), 1);
  Value chunks = arith::CeilDivUIOp::create(b, loc, length, index(kSortedRun));
  eachChunk(key, chunks,
            [&](Value outer, Value chunk, Value inner, Value inside) {
              when(inside, [&] {
                Value first = multiply(chunk, index(kSortedRun));
                Value end = least(add(first, index(kSortedRun)), length);
                if (op.getWidth())
                  mergeRuns(op, outer, first, end, inner);
                else
                  insertRun(op, outer, first, end, inner);
              });
            });
}
