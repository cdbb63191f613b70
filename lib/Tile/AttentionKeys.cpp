// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which keys a block of attention walks along, and in which of its steps some are hidden.
//
// Keys that no query of the block sees, and those of other partitions, are left out by the loop's
// bounds. Of the steps that are left, those between `startOfWhole` and `endOfWhole` hide nothing:
//
//   64 queries from 128 on, causal, steps of 64 keys:
//     keys     0 …  63   64 … 127   128 … 191   192 …
//                whole      whole    diagonal   left out

#include "AttentionBlock.h"

#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

/// The keys of the block's part that any of its queries sees; the first is that of a
/// block of keys.
void AttentionBlock::placeKeys() {
  Value begin = constant(0), end = numKeys;
  Value first = add(query, diagonal); // the first query's own key
  if (int64_t behind = op.getKeysBehind(); behind >= 0) {
    // In front of the first key where no query sees any: a loop without steps.
    Value last = add(first, constant(plan.headQueries + behind));
    end = arith::MinSIOp::create(b, loc, end, last);
  }
  if (int64_t before = op.getKeysBefore(); before >= 0) {
    Value seen = arith::MaxSIOp::create(b, loc, constant(0),
                                        subtract(first, constant(before)));
    Value block = arith::DivUIOp::create(b, loc, seen, constant(plan.keys));
    begin = arith::MulIOp::create(b, loc, block, constant(plan.keys));
  }
  if (op.getKeyParts()) {
    Value length = createPartLength(b, op, numKeys);
    Value first = arith::MulIOp::create(b, loc, position.front(), length);
    begin = arith::MaxSIOp::create(b, loc, begin, first);
    end = arith::MinSIOp::create(b, loc, end, add(first, length));
  }
  // Windows and parts may lie behind the last key.
  if (op.getKeysBefore() >= 0 || op.getKeyParts())
    end = arith::MaxSIOp::create(b, loc, end, begin);
  firstKey = begin;
  endKey = end;
  findWholeSteps();
}

/// Finds the steps whose keys all queries of the block see: those on the left edge of a window are
/// in front of them, those on the diagonal and the last one behind them. Where just the last block
/// of a known number has hidden keys, steps walk from it to the first: as straight code behind the
/// loop of the others, its mask would hold registers in there.
void AttentionBlock::findWholeSteps() {
  int64_t before = op.getKeysBefore(), behind = op.getKeysBehind();
  bool endsEarly = behind >= 0 || !isInside(op.getKeyLoop(), plan.keys);
  int64_t queries = plan.headQueries, most = extents[op.getQueryLoop()];
  if (ShapedType::isStatic(most))
    queries = std::min(queries, most);
  if (before < 0 && !endsEarly)
    return;
  // At most one block of keys is in the windows of all queries: not worth loops of their own.
  if (before >= 0 && behind >= 0 && before + behind + 1 < queries - 1 + 2 * plan.keys)
    return;
  auto blocksTo = [&](Value end) -> Value {
    Value keys = arith::MaxSIOp::create(b, loc, constant(0), subtract(end, firstKey));
    return arith::DivUIOp::create(b, loc, keys, constant(plan.keys));
  };
  auto stepOf = [&](Value block) {
    return add(firstKey, arith::MulIOp::create(b, loc, block, constant(plan.keys)));
  };
  Value first = add(query, diagonal); // the first query's own key
  Value end = endKey;
  if (behind >= 0)
    end = arith::MinSIOp::create(b, loc, end, add(first, constant(behind + 1)));
  Value whole = blocksTo(end);
  if (before < 0 && behind < 0 && !op.getLengths() && !op.getKeyParts() &&
      ShapedType::isStatic(extents[op.getKeyLoop()])) {
    lastBlock = stepOf(whole);
    startOfWhole = stepOf(constant(1));
    return;
  }
  if (endsEarly)
    endOfWhole = stepOf(whole);
  if (before < 0)
    return;
  // The first key that the last query sees, rounded up to a block.
  Value seen = add(first, constant(queries - 1 - before + plan.keys - 1));
  startOfWhole = stepOf(arith::MinUIOp::create(b, loc, whole, blocksTo(seen)));
}

/// The first key of a step of the walk.
Value AttentionBlock::keyOf(Value step) {
  return lastBlock ? subtract(lastBlock, step) : step;
}

/// Whether all queries of the block see all of the keys of `step`. Of `isPeeled`,
/// `pipeline` makes loops of their own of such steps. Null where each step may hide some.
Value AttentionBlock::isWholeStep(Value step, bool isPeeled) {
  Value all;
  auto require = [&](arith::CmpIPredicate predicate, Value limit) {
    if (!limit)
      return;
    auto inside = arith::CmpIOp::create(b, loc, predicate, step, limit);
    if (isPeeled)
      inside->setAttr(kWholeAttr, b.getUnitAttr());
    all = all ? arith::AndIOp::create(b, loc, all, inside).getResult() : inside.getResult();
  };
  require(arith::CmpIPredicate::slt, endOfWhole);
  require(arith::CmpIPredicate::sge, startOfWhole);
  return all;
}
