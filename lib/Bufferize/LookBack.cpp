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

#include "IrregularWriter.h"

#include "tilewright/Dialect/LookBack.h"
#include "tilewright/Dialect/SharedPlaces.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace tilewright;

/// Bytes of a turn of shared memory's banks, and of a bank.
static constexpr int64_t kTurnBytes = 128, kBankBytes = 4;

namespace {
class LookBackWriter : public IrregularWriter {
public:
  LookBackWriter(OpBuilder &b, func::FuncOp kernel, ScanOp op, const IRMapping &memory,
                 LoweringConfigAttr config, LaunchAttr launch)
      : IrregularWriter(b, kernel, op, memory, config, launch), op(op),
        element(op.getInputType().getElementType()), threads(launch.getThreads()),
        perThread(config.getBlock()[1] / threads) {}
  void write();

private:
  using Step = llvm::function_ref<void(Value thread)>;

  Value shared(Type type, int64_t elements);
  Value integer(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(), value);
  }
  Value isEqual(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  }
  /// `body` by each thread of the block, and then a barrier.
  void step(Step body) {
    eachThread(threads, body);
    gpu::BarrierOp::create(b, loc);
  }
  void first(Value thread, Body body) { when(isEqual(thread, index(0)), body); }
  Value choose(Value condition, llvm::function_ref<Value()> yes,
               llvm::function_ref<Value()> no);
  Value join(Value before, Value next) {
    return combine(b, op.getCombiner(), {before, next});
  }
  /// `from` with what `memref` has in [begin, end), from left to right.
  Value fold(Value from, Value memref, Value begin, Value end);

  void findTile();
  SmallVector<Value> placeOf(Value number);
  Value padded(Value number);
  void moveTile(bool loads);
  void combineThreads();
  void publishTile();
  void combineGroup();
  void lookBack();
  void combineGroups();
  void finishTile();
  /// Waits until `isDone` of a state, from the thread's own; gives the state.
  Value waitFor(Value place, llvm::function_ref<Value(Value state)> isDone);

  ScanOp op;
  Type element;
  int64_t threads, perThread;
  // Global memory.
  Value input, output, init, states, values;
  // Shared memory: the tile; what threads have, twice; tiles of the group, and other groups.
  Value tile, sums, tiles, groups, groupStates, inner, before;
  int64_t result = 0; // which of `sums`
  // Of the row: elements, its number, tiles, groups. Of all rows: tiles.
  Value length, row, rowTiles, rowGroups, allTiles;
  // Of the tile: its number, that in its row, elements before it, elements, threads with any.
  Value number, inRow, begin, count, used, isFull;
  // Its group's number in the row and among all, its own in the group.
  Value group, groupNumber, inGroup;
};
} // namespace

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

Value LookBackWriter::fold(Value from, Value memref, Value begin, Value end) {
  auto along = scf::ForOp::create(b, loc, begin, end, index(1), from);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(along.getBody());
  Value next = load(memref, along.getInductionVar());
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
  allTiles = multiply(dim(input, 0), rowTiles);
  row = arith::DivUIOp::create(b, loc, number, rowTiles);
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
  Value place = add(begin, number);
  if (op.getReverse())
    place = subtract(subtract(length, index(1)), place);
  return {row, place, index(0)};
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
  auto move = [&](Value thread) {
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
    loop(thread, count, threads, [&](Value i) { write(read(i), i); });
  };
  if (loads)
    step(move);
  else
    eachThread(threads, move);
}

//===----------------------------------------------------------------------===//
// Within the block
//===----------------------------------------------------------------------===//

/// `sums` becomes, for each thread with elements, what those up to its last combine to.
void LookBackWriter::combineThreads() {
  step([&](Value thread) {
    when(isLess(thread, used), [&] {
      Value own = multiply(thread, index(perThread));
      Value sum = load(tile, padded(own));
      auto branch = scf::IfOp::create(b, loc, element, isFull, /*withElseRegion=*/true);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        Value all = sum;
        for (int64_t i = 1; i < perThread; ++i)
          all = join(all, load(tile, padded(add(own, index(i)))));
        scf::YieldOp::create(b, loc, all);
        b.setInsertionPointToStart(branch.elseBlock());
        Value end = least(index(perThread), subtract(count, own));
        auto along = scf::ForOp::create(b, loc, index(1), end, index(1), sum);
        scf::YieldOp::create(b, loc, along.getResult(0));
        b.setInsertionPointToStart(along.getBody());
        Value next = load(tile, padded(add(own, along.getInductionVar())));
        scf::YieldOp::create(b, loc, join(along.getRegionIterArg(0), next));
      }
      store(branch.getResult(0), sums, thread);
    });
  });
  for (int64_t distance = 1; distance < threads; distance *= 2, result ^= 1) {
    Value from = index(result * threads), to = index((result ^ 1) * threads);
    step([&](Value thread) {
      when(isLess(thread, used), [&] {
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
    when(isLess(thread, used), [&] {
      Value own = multiply(thread, index(perThread)), at = padded(own);
      Value sum = load(tile, at);
      // Of the threads before, and of the tiles before.
      Value last = subtract(add(index(result * threads), thread), index(1));
      auto withTiles = [&](llvm::function_ref<Value()> none, llvm::function_ref<Value()> some) {
        return hasBefore ? choose(hasBefore, some, none) : some();
      };
      Value start = choose(
          isEqual(thread, index(0)),
          [&] { return withTiles([&] { return sum; }, [&] { return load(before, index(0)); }); },
          [&] {
            Value sum = load(sums, last);
            return withTiles([&] { return sum; },
                             [&] { return join(load(before, index(0)), sum); });
          });
      // Nothing is before the first element of a row, unless there is an init.
      Value carried = join(start, sum);
      if (hasBefore) {
        Value none = arith::AndIOp::create(b, loc, isEqual(thread, index(0)),
                                           isEqual(inRow, index(0)));
        carried = select(none, sum, carried);
      }
      store(op.getExclusive() ? start : carried, tile, at);
      auto next = [&](Value carried, Value number) {
        Value at = padded(add(own, number));
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

//===----------------------------------------------------------------------===//
// Between blocks
//===----------------------------------------------------------------------===//

Value LookBackWriter::waitFor(Value place, llvm::function_ref<Value(Value state)> isDone) {
  auto poll = scf::WhileOp::create(
      b, loc, TypeRange(b.getI32Type()), ValueRange(),
      [&](OpBuilder &inner, Location at, ValueRange) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        Value state = ObserveOp::create(b, at, b.getI32Type(), states, place);
        Value yes = arith::ConstantIntOp::create(b, at, b.getI1Type(), 1);
        Value again = arith::XOrIOp::create(b, at, isDone(state), yes);
        scf::ConditionOp::create(b, at, again, state);
      },
      [&](OpBuilder &inner, Location at, ValueRange) { scf::YieldOp::create(inner, at); });
  return poll.getResult(0);
}

void LookBackWriter::publishTile() {
  step([&](Value thread) {
    first(thread, [&] {
      Value last = subtract(add(index(result * threads), used), index(1));
      store(load(sums, last), values, number);
      PublishOp::create(b, loc, integer(kAggregateState), states, add(number, index(1)));
    });
    // The tiles of the group that are before this one.
    when(isLess(thread, inGroup), [&] {
      Value other = add(subtract(number, inGroup), thread);
      waitFor(add(other, index(1)), [&](Value state) {
        return isEqual(state, integer(kAggregateState));
      });
      store(load(values, other), tiles, thread);
    });
  });
}

void LookBackWriter::combineGroup() {
  Value isLast = isEqual(inGroup, index(kLookBackGroup - 1));
  Value stateAt = add(add(allTiles, index(1)), groupNumber);
  Value valueAt = add(allTiles, multiply(groupNumber, index(2)));
  eachThread(threads, [&](Value thread) {
    first(thread, [&] {
      when(isLess(index(0), inGroup), [&] {
        store(fold(load(tiles, index(0)), tiles, index(1), inGroup), inner, index(0));
      });
      when(isLast, [&] {
        Value aggregate = join(load(inner, index(0)), load(values, number));
        store(aggregate, values, valueAt);
        PublishOp::create(b, loc, integer(kAggregateState), states, stateAt);
      });
    });
  });
}

/// Lanes of the second warp wait for a group each, the first one for the nearest. That of
/// the farthest one waits until all before it are known: then there is one that has P.
void LookBackWriter::lookBack() {
  step([&](Value thread) {
    Value lane = subtract(thread, index(kLookBackGroup));
    Value lanes = least(group, index(kLookBackGroup));
    when(isLess(lane, lanes), [&] {
      Value other = subtract(subtract(groupNumber, index(1)), lane);
      Value isFarthest = isEqual(add(lane, index(1)), lanes);
      Value state = waitFor(add(add(allTiles, index(1)), other), [&](Value state) {
        Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, state, integer(0));
        Value prefix = isEqual(state, integer(kPrefixState));
        return select(isFarthest, prefix, some);
      });
      Value isPrefix = isEqual(state, integer(kPrefixState));
      Value which = select(isPrefix, index(1), index(0));
      Value at = add(add(allTiles, multiply(other, index(2))), which);
      store(load(values, at), groups, lane);
      store(state, groupStates, lane);
    });
  });
}

/// What is before the tile; of the last one of a group, what is before the next group.
void LookBackWriter::combineGroups() {
  Value isLast = isEqual(inGroup, index(kLookBackGroup - 1));
  Value stateAt = add(add(allTiles, index(1)), groupNumber);
  Value valueAt = add(allTiles, multiply(groupNumber, index(2)));
  auto publish = [&](Value prefix) {
    store(prefix, values, add(valueAt, index(1)));
    PublishOp::create(b, loc, integer(kPrefixState), states, stateAt);
  };
  auto withGroup = [&](Value base) {
    when(isLast, [&] { publish(join(base, load(values, valueAt))); });
    Value all = choose(
        isLess(index(0), inGroup), [&] { return join(base, load(inner, index(0))); },
        [&] { return base; });
    store(all, before, index(0));
  };
  step([&](Value thread) {
    first(thread, [&] {
      auto branch = scf::IfOp::create(b, loc, isLess(index(0), group), /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      auto nearest = scf::WhileOp::create(
          b, loc, TypeRange(b.getIndexType()), ValueRange(index(0)),
          [&](OpBuilder &inside, Location at, ValueRange lanes) {
            OpBuilder::InsertionGuard guard(b);
            b.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
            Value state = load(groupStates, lanes[0]);
            Value again = arith::CmpIOp::create(b, at, arith::CmpIPredicate::ne, state,
                                                integer(kPrefixState));
            scf::ConditionOp::create(b, at, again, lanes);
          },
          [&](OpBuilder &inside, Location at, ValueRange lanes) {
            OpBuilder::InsertionGuard guard(b);
            b.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
            scf::YieldOp::create(b, at, add(lanes[0], index(1)));
          });
      Value lane = nearest.getResult(0);
      // From there on to lane 0, the group before this one.
      auto along = scf::ForOp::create(b, loc, index(0), lane, index(1), load(groups, lane));
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(along.getBody());
        Value other = subtract(subtract(lane, index(1)), along.getInductionVar());
        scf::YieldOp::create(b, loc,
                             join(along.getRegionIterArg(0), load(groups, other)));
      }
      withGroup(along.getResult(0));
      b.setInsertionPointToStart(branch.elseBlock());
      if (init)
        return withGroup(load(init, {row, index(0)}));
      when(isLast, [&] { publish(load(values, valueAt)); });
      when(isLess(index(0), inGroup),
           [&] { store(load(inner, index(0)), before, index(0)); });
    });
  });
}

void LookBackWriter::write() {
  input = memory.lookup(op.getInput());
  output = memory.lookup(op.getOutput());
  init = op.getInit() ? memory.lookup(op.getInit()) : Value();
  states = memory.lookup(op.getScratch()[0]);
  values = memory.lookup(op.getScratch()[1]);
  int64_t elements = config.getBlock()[1];
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  int64_t turns = llvm::divideCeil(elements * bytes, kTurnBytes);
  tile = shared(element, elements + turns * std::max<int64_t>(1, kBankBytes / bytes));
  sums = shared(element, 2 * threads);
  tiles = shared(element, kLookBackGroup);
  groups = shared(element, kLookBackGroup);
  groupStates = shared(b.getI32Type(), kLookBackGroup);
  inner = shared(element, 1);
  before = shared(element, 1);
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
