// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What blocks of a scan in one pass tell each other: a tile's state is published, and those of
// the tiles before it are observed; see LookBack.cpp.

#include "LookBackWriter.h"

using namespace mlir;
using namespace tilewright;

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
  auto storeOwn = [&](Value column) {
    Value last = subtract(add(index(result * threads), used), index(1));
    if (columns > 1)
      last = add(index(result * threads), ofColumn(subtract(used, index(1)), column));
    store(load(sums, last), values, ofColumn(number, column));
  };
  if (columns > 1)
    step([&](Value thread) { firsts(thread, storeOwn); });
  // The tiles of the group that are before this one.
  Value firstOfGroup = subtract(number, inGroup);
  step([&](Value thread) {
    first(thread, [&] {
      if (columns == 1)
        storeOwn(index(0));
      publish(kAggregateState, add(number, index(1)));
    });
    when(isLess(thread, inGroup), [&] {
      Value other = add(firstOfGroup, thread);
      waitFor(add(other, index(1)), [&](Value state) {
        return isEqual(state, integer(kAggregateState));
      });
      if (columns == 1)
        store(load(values, other), tiles, thread);
    });
  });
  if (columns > 1)
    step([&](Value thread) {
      copyColumns(thread, inGroup, tiles,
                  [&](Value lane) { return add(firstOfGroup, lane); });
    });
}

/// What has been published of so many tiles or groups, all columns of it: from `values` at
/// `from(number)` to shared memory.
void LookBackWriter::copyColumns(Value thread, Value count, Value to,
                                 llvm::function_ref<Value(Value number)> from) {
  Value of = column(thread);
  auto copy = [&] {
    loop(thread, multiply(count, index(columns)), threads, [&](Value i) {
      store(load(values, ofColumn(from(divide(i, columns)), of)), to, i);
    });
  };
  if (Value inside = inColumns(of, Value()))
    when(inside, copy);
  else
    copy();
}

void LookBackWriter::combineGroup() {
  Value isLast = isEqual(inGroup, index(kLookBackGroup - 1));
  Value stateAt = add(add(allTiles, index(1)), groupNumber);
  Value valueAt = add(allTiles, multiply(groupNumber, index(2)));
  auto combineColumn = [&](Value column) {
    when(isLess(index(0), inGroup), [&] {
      Value nearest = load(tiles, ofColumn(index(0), column));
      store(fold(nearest, tiles, index(1), inGroup, column), inner, column);
    });
    when(isLast, [&] {
      Value aggregate = join(load(inner, column), load(values, ofColumn(number, column)));
      store(aggregate, values, ofColumn(valueAt, column));
      if (columns == 1)
        publish(kAggregateState, stateAt);
    });
  };
  if (columns == 1)
    return eachThread(threads, [&](Value thread) { firsts(thread, combineColumn); });
  step([&](Value thread) { firsts(thread, combineColumn); });
  eachThread(threads, [&](Value thread) {
    first(thread, [&] { when(isLast, [&] { publish(kAggregateState, stateAt); }); });
  });
}

/// Where a group has what it has published with `state`: A, or P.
Value LookBackWriter::publishedBy(Value group, Value state) {
  Value isPrefix = isEqual(state, integer(kPrefixState));
  Value which = select(isPrefix, index(1), index(0));
  return add(add(allTiles, multiply(group, index(2))), which);
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
      if (columns == 1)
        store(load(values, publishedBy(other, state)), groups, lane);
      store(state, groupStates, lane);
    });
  });
  if (columns > 1)
    step([&](Value thread) {
      Value lanes = least(group, index(kLookBackGroup));
      copyColumns(thread, lanes, groups, [&](Value lane) {
        Value other = subtract(subtract(groupNumber, index(1)), lane);
        return publishedBy(other, load(groupStates, lane));
      });
    });
}

/// The nearest group before that has P, as a lane of those that looked for it.
Value LookBackWriter::nearestPrefix() {
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
  return nearest.getResult(0);
}

/// What is before the tile; of the last one of a group, what is before the next group.
void LookBackWriter::combineGroups() {
  Value isLast = isEqual(inGroup, index(kLookBackGroup - 1));
  Value stateAt = add(add(allTiles, index(1)), groupNumber);
  Value valueAt = add(allTiles, multiply(groupNumber, index(2)));
  auto storePrefix = [&](Value prefix, Value column) {
    store(prefix, values, ofColumn(add(valueAt, index(1)), column));
    if (columns == 1)
      publish(kPrefixState, stateAt);
  };
  auto withGroup = [&](Value base, Value column) {
    when(isLast, [&] {
      storePrefix(join(base, load(values, ofColumn(valueAt, column))), column);
    });
    Value all = choose(
        isLess(index(0), inGroup), [&] { return join(base, load(inner, column)); },
        [&] { return base; });
    store(all, before, column);
  };
  auto combineColumn = [&](Value column) {
    auto branch = scf::IfOp::create(b, loc, isLess(index(0), group), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value lane = nearestPrefix();
    // From there on to lane 0, the group before this one.
    auto along = scf::ForOp::create(b, loc, index(0), lane, index(1),
                                    load(groups, ofColumn(lane, column)));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(along.getBody());
      Value other = subtract(subtract(lane, index(1)), along.getInductionVar());
      scf::YieldOp::create(b, loc,
                           join(along.getRegionIterArg(0), load(groups, ofColumn(other, column))));
    }
    withGroup(along.getResult(0), column);
    b.setInsertionPointToStart(branch.elseBlock());
    if (init)
      return withGroup(load(init, {outer, add(firstColumn, column)}), column);
    when(isLast, [&] { storePrefix(load(values, ofColumn(valueAt, column)), column); });
    when(isLess(index(0), inGroup), [&] { store(load(inner, column), before, column); });
  };
  step([&](Value thread) { firsts(thread, combineColumn); });
  if (columns > 1)
    eachThread(threads, [&](Value thread) {
      first(thread, [&] { when(isLast, [&] { publish(kPrefixState, stateAt); }); });
    });
}
