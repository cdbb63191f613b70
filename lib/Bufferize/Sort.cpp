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
// So the work of a step is linear, and all of its threads have the same. Of `halves` the
// output has the first %w of each two runs. With scratch memory the threads of a block go on
// to merge what they have sorted, one step behind a barrier each, until runs have 512
// elements: what they exchange is of their block alone.

#include "IrregularWriter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace tilewright;

SmallVector<Value> IrregularWriter::loadAll(ValueRange memrefs, ValueRange at) {
  SmallVector<Value> values;
  for (Value memref : memrefs)
    values.push_back(load(memref, at));
  return values;
}

void IrregularWriter::storeAll(ValueRange values, ValueRange memrefs, ValueRange at) {
  for (auto [value, memref] : llvm::zip_equal(values, memrefs))
    store(value, memref, at);
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

void IrregularWriter::insertRun(SortOp op, ValueRange from, ValueRange to, const Chunk &chunk) {
  Value one = index(1), outer = chunk.outer, inner = chunk.inner;
  loop(chunk.first, chunk.end, 1, [&](Value step) {
    SmallVector<Value> values = loadAll(from, {outer, step, inner});
    auto place = loopWhile(
        b, loc, step,
        [&](ValueRange carried) {
          // Read only where there is an element.
          Value inside = isLess(chunk.first, carried[0]);
          auto branch = scf::IfOp::create(b, loc, b.getI1Type(), inside, true);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.thenBlock());
          SmallVector<Value> before = loadAll(to, {outer, subtract(carried[0], one), inner});
          scf::YieldOp::create(b, loc, goesBefore(b, op, values, before));
          b.setInsertionPointToStart(branch.elseBlock());
          scf::YieldOp::create(b, loc, inside);
          return branch.getResult(0);
        },
        [&](ValueRange carried) -> SmallVector<Value> {
          Value before = subtract(carried[0], one);
          SmallVector<Value> moved = loadAll(to, {outer, before, inner});
          storeAll(moved, to, {outer, carried[0], inner});
          return {before};
        });
    storeAll(values, to, {outer, place.getResult(0), inner});
  });
}

void IrregularWriter::mergeRuns(SortOp op, ValueRange from, ValueRange to, Value width,
                                const Chunk &chunk) {
  Value length = dim(from[0], 1), one = index(1);
  Value outer = chunk.outer, first = chunk.first, inner = chunk.inner;
  // Runs of elements [begin, middle) and [middle, end of the right one) are in order.
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
  // Elements of the pair that are in front of the chunk, and how many the left run has of
  // them: at least, at most.
  Value before = subtract(first, start);
  Value fewest = subtract(before, least(before, rightCount));
  Value most = least(before, leftCount);
  auto found = loopWhile(
      b, loc, {fewest, most},
      [&](ValueRange carried) { return isLess(carried[0], carried[1]); },
      [&](ValueRange carried) -> SmallVector<Value> {
        Value some = divide(add(carried[0], carried[1]), 2), next = add(some, one);
        SmallVector<Value> left = loadAll(from, {outer, add(begin, some), inner});
        Value other = subtract(add(middle, before), next);
        SmallVector<Value> right = loadAll(from, {outer, other, inner});
        Value isRight = goesBefore(b, op, right, left);
        Value low = select(isRight, carried[0], next);
        return {low, select(isRight, some, carried[1])};
      });
  Value taken = found.getResult(0);
  SmallVector<Value> inits{taken, subtract(before, taken)};
  Value lastLeft = subtract(leftCount, one), last = subtract(add(middle, rightCount), one);
  auto merged = scf::ForOp::create(b, loc, first, chunk.end, one, inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(merged.getBody());
  Value fromLeft = merged.getRegionIterArg(0), fromRight = merged.getRegionIterArg(1);
  // Beyond a run's end its last element is read, and not taken: what is behind the pair
  // may be another block's, and change.
  Value leftAt = add(begin, least(fromLeft, lastLeft));
  Value rightAt = least(add(middle, fromRight), last);
  SmallVector<Value> left = loadAll(from, {outer, leftAt, inner});
  SmallVector<Value> right = loadAll(from, {outer, rightAt, inner});
  Value isRight = goesBefore(b, op, right, left);
  isRight = arith::OrIOp::create(b, loc, isRight, isLess(lastLeft, fromLeft));
  isRight = arith::AndIOp::create(b, loc, isRight, isLess(fromRight, rightCount));
  SmallVector<Value> chosen;
  for (auto [one, other] : llvm::zip_equal(right, left))
    chosen.push_back(select(isRight, one, other));
  storeAll(chosen, to, {outer, merged.getInductionVar(), inner});
  Value nextLeft = select(isRight, fromLeft, add(fromLeft, one));
  Value nextRight = select(isRight, add(fromRight, one), fromRight);
  scf::YieldOp::create(b, loc, ValueRange{nextLeft, nextRight});
}

void IrregularWriter::sort(SortOp op) {
  auto memrefsOf = [&](ValueRange tensors) {
    SmallVector<Value> memrefs;
    for (Value tensor : tensors)
      memrefs.push_back(memory.lookup(tensor));
    return memrefs;
  };
  SmallVector<Value> ids = tileIds();
  size_t count = op.getInputs().size();
  SmallVector<Value> inputs = memrefsOf(op.getInputs());
  SmallVector<Value> outputs = memrefsOf(op.getOutputs().take_front(count));
  SmallVector<Value> scratch = memrefsOf(op.getOutputs().drop_front(count));
  Value length = dim(outputs[0], 1), run = index(kSortedRun);
  Value chunks = arith::CeilDivUIOp::create(b, loc, length, run);
  auto step = [&](llvm::function_ref<void(const Chunk &)> body) {
    eachChunk(ids, inputs[0], chunks, [&](Value outer, Value chunk, Value inner, Value inside) {
      when(inside, [&] {
        Value first = multiply(chunk, run);
        body({outer, first, least(add(first, run), length), inner});
      });
    });
  };
  if (op.getWidth())
    return step([&](const Chunk &chunk) {
      mergeRuns(op, inputs, outputs, memory.lookup(op.getWidth()), chunk);
    });
  step([&](const Chunk &chunk) { insertRun(op, inputs, outputs, chunk); });
  if (scratch.empty())
    return;
  auto mergeAll = [&](ArrayRef<Value> from, ArrayRef<Value> to, int64_t width) {
    if (launch.getThreads() > 1)
      gpu::BarrierOp::create(b, loc);
    step([&](const Chunk &chunk) { mergeRuns(op, from, to, index(width), chunk); });
  };
  // To and fro, where there is more than one run in a row.
  for (int64_t width = kSortedRun; width < kBlockRun; width *= 4)
    when(isLess(index(width), length), [&] {
      mergeAll(outputs, scratch, width);
      mergeAll(scratch, outputs, 2 * width);
    });
}
