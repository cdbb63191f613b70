// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a block does of a scan in one pass over memory (Dialect/LookBack.h has the idea):
//
//   %n = tilewright.take_number %states[0]              // its tile
//   load the tile into shared memory                    // neighbours by neighbouring threads
//   each thread: combine its elements                   // neighbours, of one thread
//   combine what threads have, in steps of 1, 2, 4, …   // -> a
//   tilewright.publish 1, %states[tile]
//   lanes of warp 0: tilewright.observe the group's tiles until they are published
//   one thread: combine these; the group's last tile publishes A
//   lanes of warp 1: tilewright.observe the groups before, until they are published
//   one thread: combine these from the nearest P on; the group's last tile publishes its P
//   each thread: its elements again, from what is before them on
//   store the tile
//
// A barrier is between any two of these lines. All of shared memory is scheduled by
// them (`tilewright.stages`).
//
// A tile of columns, scans side by side, is held row by row. A thread has neighbours along one
// column, a thread of each column is what one thread is above, and before a state is
// published there is a barrier more: behind what the columns' threads have written.

#include "LookBackWriter.h"

#include "tilewright/Dialect/SharedPlaces.h"

using namespace mlir;
using namespace tilewright;

/// Bytes of a turn of shared memory's banks, and of a bank.
static constexpr int64_t kTurnBytes = 128, kBankBytes = 4;

Value LookBackWriter::shared(Type type, int64_t elements) {
  auto memref = MemRefType::get({elements}, type, MemRefLayoutAttrInterface(),
                                SharedAttr::get(b.getContext(), {}));
  auto alloc = memref::AllocOp::create(b, loc, memref);
  alloc->setAttr(kStagesAttr, b.getI64IntegerAttr(1));
  return alloc;
}

Value LookBackWriter::choose(Value condition, llvm::function_ref<Value()> yes,
                             llvm::function_ref<Value()> no) {
  auto branch = scf::IfOp::create(b, loc, element, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, yes());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, no());
  return branch.getResult(0);
}

Value LookBackWriter::inColumns(Value column, Value condition) {
  int64_t inner = op.getInputType().getDimSize(2);
  if (inner % columns == 0)
    return condition;
  return both(condition, isLess(add(firstColumn, column), index(inner)));
}

void LookBackWriter::firsts(Value thread, llvm::function_ref<void(Value column)> body) {
  Value isFirst = columns == 1 ? isEqual(thread, index(0)) : isLess(thread, index(columns));
  Value own = column(thread);
  when(inColumns(own, isFirst), [&] { body(own); });
}

void LookBackWriter::publish(int64_t state, Value place) {
  PublishOp::create(b, loc, integer(state), states, place);
}

Value LookBackWriter::fold(Value from, Value memref, Value begin, Value end, Value column) {
  auto along = scf::ForOp::create(b, loc, begin, end, index(1), from);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(along.getBody());
  Value next = load(memref, ofColumn(along.getInductionVar(), column));
  scf::YieldOp::create(b, loc, join(along.getRegionIterArg(0), next));
  return along.getResult(0);
}

//===----------------------------------------------------------------------===//
// The tile
//===----------------------------------------------------------------------===//

void LookBackWriter::findTile() {
  Value taken = shared(b.getI32Type(), 1);
  step([&](Value thread) {
    first(thread, [&] {
      Value number = TakeNumberOp::create(b, loc, b.getI32Type(), states, index(0));
      store(number, taken, index(0));
    });
  });
  auto ceil = [&](Value x, int64_t y) -> Value {
    return arith::CeilDivUIOp::create(b, loc, x, index(y));
  };
  int64_t elements = config.getBlock()[1];
  number = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), load(taken, index(0)));
  length = dim(input, 1);
  rowTiles = ceil(length, elements);
  rowGroups = ceil(rowTiles, kLookBackGroup);
  int64_t blocks = llvm::divideCeil(op.getInputType().getDimSize(2), columns);
  allTiles = multiply(multiply(dim(input, 0), index(blocks)), rowTiles);
  row = arith::DivUIOp::create(b, loc, number, rowTiles);
  outer = divide(row, blocks);
  firstColumn = multiply(modulo(row, blocks), index(columns));
  inRow = subtract(number, multiply(row, rowTiles));
  begin = multiply(inRow, index(elements));
  count = least(index(elements), subtract(length, begin));
  used = ceil(count, perThread);
  isFull = isEqual(count, index(elements));
  group = divide(inRow, kLookBackGroup);
  groupNumber = add(multiply(row, rowGroups), group);
  inGroup = modulo(inRow, kLookBackGroup);
}

/// Where element `number` of the tile is in global memory.
SmallVector<Value> LookBackWriter::placeOf(Value number) {
  Value place = add(begin, divide(number, columns));
  if (op.getReverse())
    place = subtract(subtract(length, index(1)), place);
  return {outer, place, add(firstColumn, column(number))};
}

/// Where element `number` of the tile is in shared memory: a bank further each turn, so that
/// threads that each read elements of their own meet in none.
Value LookBackWriter::padded(Value number) {
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  Value turns = divide(number, kTurnBytes / bytes);
  return add(number, multiply(turns, index(std::max<int64_t>(1, kBankBytes / bytes))));
}

/// From global to shared memory, or back.
void LookBackWriter::moveTile(bool loads) {
  auto read = [&](Value number) {
    return loads ? load(input, placeOf(number)) : load(tile, padded(number));
  };
  auto write = [&](Value value, Value number) {
    if (loads)
      store(value, tile, padded(number));
    else
      store(value, output, placeOf(number));
  };
  auto moveOwn = [&](Value thread) {
    auto branch = scf::IfOp::create(b, loc, isFull, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    // All loads are under way before the first one is waited for.
    SmallVector<Value> moved;
    for (int64_t i = 0; i < perThread; ++i)
      moved.push_back(read(add(thread, index(i * threads))));
    for (auto [i, value] : llvm::enumerate(moved))
      write(value, add(thread, index(i * threads)));
    b.setInsertionPointToStart(branch.elseBlock());
    Value end = multiply(count, index(columns));
    loop(thread, end, threads, [&](Value i) { write(read(i), i); });
  };
  // All elements of a thread are of one column.
  auto move = [&](Value thread) {
    if (Value inside = inColumns(column(thread), Value()))
      when(inside, [&] { moveOwn(thread); });
    else
      moveOwn(thread);
  };
  if (loads)
    step(move);
  else
    eachThread(threads, move);
}

//===----------------------------------------------------------------------===//
// Within the block
//===----------------------------------------------------------------------===//

/// Whether a thread has elements.
Value LookBackWriter::isUsed(Value thread) {
  return inColumns(column(thread), isLess(part(thread), used));
}

/// `sums` becomes, for each thread with elements, what those up to its last combine to.
void LookBackWriter::combineThreads() {
  step([&](Value thread) {
    when(isUsed(thread), [&] {
      Value own = multiply(part(thread), index(perThread)), of = column(thread);
      auto placed = [&](Value number) { return padded(ofColumn(number, of)); };
      Value sum = load(tile, placed(own));
      auto branch = scf::IfOp::create(b, loc, element, isFull, /*withElseRegion=*/true);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        Value all = sum;
        for (int64_t i = 1; i < perThread; ++i)
          all = join(all, load(tile, placed(add(own, index(i)))));
        scf::YieldOp::create(b, loc, all);
        b.setInsertionPointToStart(branch.elseBlock());
        Value end = least(index(perThread), subtract(count, own));
        auto along = scf::ForOp::create(b, loc, index(1), end, index(1), sum);
        scf::YieldOp::create(b, loc, along.getResult(0));
        b.setInsertionPointToStart(along.getBody());
        Value next = load(tile, placed(add(own, along.getInductionVar())));
        scf::YieldOp::create(b, loc, join(along.getRegionIterArg(0), next));
      }
      store(branch.getResult(0), sums, thread);
    });
  });
  for (int64_t distance = columns; distance < threads; distance *= 2, result ^= 1) {
    Value from = index(result * threads), to = index((result ^ 1) * threads);
    step([&](Value thread) {
      when(isUsed(thread), [&] {
        Value own = load(sums, add(from, thread));
        Value isFirst = isLess(thread, index(distance));
        Value sum = choose(
            isFirst, [&] { return own; },
            [&] {
              Value other = subtract(add(from, thread), index(distance));
              return join(load(sums, other), own);
            });
        store(sum, sums, add(to, thread));
      });
    });
  }
}

/// The elements again, from what is before them on.
void LookBackWriter::finishTile() {
  Value hasBefore = init ? Value() : isLess(index(0), inRow);
  step([&](Value thread) {
    when(isUsed(thread), [&] {
      Value own = multiply(part(thread), index(perThread)), of = column(thread);
      Value at = padded(ofColumn(own, of)), sum = load(tile, at);
      Value isFirst = isEqual(part(thread), index(0));
      // Of the threads before, and of the tiles before.
      Value last = subtract(add(index(result * threads), thread), index(columns));
      auto withTiles = [&](llvm::function_ref<Value()> none, llvm::function_ref<Value()> some) {
        return hasBefore ? choose(hasBefore, some, none) : some();
      };
      Value start = choose(
          isFirst,
          [&] { return withTiles([&] { return sum; }, [&] { return load(before, of); }); },
          [&] {
            Value sum = load(sums, last);
            return withTiles([&] { return sum; },
                             [&] { return join(load(before, of), sum); });
          });
      // Nothing is before the first element of a row, unless there is an init.
      Value carried = join(start, sum);
      if (hasBefore) {
        Value none = both(isFirst, isEqual(inRow, index(0)));
        carried = select(none, sum, carried);
      }
      store(op.getExclusive() ? start : carried, tile, at);
      auto next = [&](Value carried, Value number) {
        Value at = padded(ofColumn(add(own, number), of));
        Value sum = join(carried, load(tile, at));
        store(op.getExclusive() ? carried : sum, tile, at);
        return sum;
      };
      auto branch = scf::IfOp::create(b, loc, isFull, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      Value sumSoFar = carried;
      for (int64_t i = 1; i < perThread; ++i)
        sumSoFar = next(sumSoFar, index(i));
      b.setInsertionPointToStart(branch.elseBlock());
      Value end = least(index(perThread), subtract(count, own));
      auto along = scf::ForOp::create(b, loc, index(1), end, index(1), carried);
      b.setInsertionPointToStart(along.getBody());
      scf::YieldOp::create(b, loc,
                           next(along.getRegionIterArg(0), along.getInductionVar()));
    });
  });
}

void LookBackWriter::write() {
  input = memory.lookup(op.getInput());
  output = memory.lookup(op.getOutput());
  init = op.getInit() ? memory.lookup(op.getInit()) : Value();
  states = memory.lookup(op.getScratch()[0]);
  values = memory.lookup(op.getScratch()[1]);
  int64_t elements = threads * perThread;
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  int64_t turns = llvm::divideCeil(elements * bytes, kTurnBytes);
  tile = shared(element, elements + turns * std::max<int64_t>(1, kBankBytes / bytes));
  sums = shared(element, 2 * threads);
  tiles = shared(element, kLookBackGroup * columns);
  groups = shared(element, kLookBackGroup * columns);
  groupStates = shared(b.getI32Type(), kLookBackGroup);
  inner = shared(element, columns);
  before = shared(element, columns);
  findTile();
  moveTile(/*loads=*/true);
  combineThreads();
  publishTile();
  combineGroup();
  lookBack();
  combineGroups();
  finishTile();
  moveTile(/*loads=*/false);
}

void tilewright::writeLookBack(OpBuilder &b, func::FuncOp kernel, ScanOp op,
                               const IRMapping &memory, LoweringConfigAttr config,
                               LaunchAttr launch) {
  LookBackWriter(b, kernel, op, memory, config, launch).write();
}
