// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of attention on a CPU. Its vectors lie along the queries, a panel of W of them
// (`thread`), so that keys and values are read an element at a time, as they lie in memory,
// and what is done for each query needs no sum across a vector. With R rows of a register
// tile:
//
//   for %p = panels of the block:  queries[%p] = transposed read W x d
//   for %j = first key to last key step bk
//     keys = read bk x d;  values = read bk x e     in f32, zeros behind the last one
//     for %p = panels of the block
//       for %i = 0 to bk step R
//         scores[%i] = R x W, keys[%i] * queries[%p]    hidden where a key is not seen
//       %x' = largest of each column of scores, and of %x
//       %a = exp2(what %x' is more than %x)
//       scores[*] = exp2(what they are less than %x');  %l = %l * %a + their sum
//       for %c = 0 to e step R
//         results[%p, %c] = results[%p, %c] * %a + values[*, %c] * scores
//   write transposed results / %l
//
// Sums are taken a block of keys at a time, and then added to those before: that is more
// exact than one long chain.

#include "AttentionBlock.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

/// Steps of a sum that the body of its loop has.
static constexpr int64_t kSteps = 8;
/// Rows that are copied at a time, and those whose powers are taken, so that all of their
/// steps stay in registers.
static constexpr int64_t kCopiedRows = 4, kPowerRows = 2;

//===----------------------------------------------------------------------===//
// Memory and loops
//===----------------------------------------------------------------------===//

Value AttentionPanels::allocate(ArrayRef<int64_t> shape, Type element) {
  return memref::AllocOp::create(b, loc, MemRefType::get(shape, element),
                                 b.getI64IntegerAttr(64));
}

/// Of f32.
Value AttentionPanels::load(Value memory, ValueRange indices, ArrayRef<int64_t> shape) {
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  return vector::TransferReadOp::create(b, loc, floats(shape), memory, indices, zero,
                                        SmallVector<bool>(shape.size(), true));
}

void AttentionPanels::store(Value vector, Value memory, ValueRange indices) {
  int64_t rank = cast<VectorType>(vector.getType()).getRank();
  vector::TransferWriteOp::create(b, loc, vector, memory, indices,
                                  SmallVector<bool>(rank, true));
}

AttentionBlock::Carried AttentionPanels::loadState(Value panel) {
  Carried state;
  Value zero = constant(0);
  largestOf(state, load(largestMemory, {panel, zero}, plan.panel));
  state.sum = load(sumMemory, {panel, zero}, plan.panel);
  return state;
}

void AttentionPanels::storeState(const Carried &state, Value panel) {
  Value zero = constant(0);
  store(state.largest, largestMemory, {panel, zero});
  store(state.sum, sumMemory, {panel, zero});
}

SmallVector<Value> AttentionPanels::forEach(Value begin, Value end, int64_t step,
                                            ValueRange carried, Body body) {
  auto loop = scf::ForOp::create(b, loc, begin, end, constant(step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> after = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(b, loc, after);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> AttentionPanels::forEach(int64_t end, int64_t step,
                                            ValueRange carried, Body body) {
  return forEach(constant(0), constant(end), step, carried, body);
}

void AttentionPanels::allocateOperands() {
  Type element = b.getF32Type();
  queryMemory = allocate({plan.queries / plan.panel, plan.depth, plan.panel}, element);
  keyMemory = allocate({plan.keys, plan.depth}, element);
  valueMemory = allocate({plan.keys, plan.columns}, element);
}

void AttentionPanels::allocateAll() {
  int64_t count = plan.queries / plan.panel;
  Type element = b.getF32Type();
  allocateOperands();
  scoreMemory = allocate({plan.keys, plan.panel}, element);
  resultMemory = allocate({count, plan.columns, plan.panel}, element);
  largestMemory = allocate({count, plan.panel}, element);
  sumMemory = allocate({count, plan.panel}, element);
  panels = constant(count);
  unsigned loop = group.value_or(op.getQueryLoop());
  if (isInside(loop, plan.queries))
    return;
  Value left = subtract(extent(loop), group ? head : query);
  if (group)
    left = arith::MulIOp::create(b, loc, left, constant(plan.headQueries));
  left = arith::CeilDivUIOp::create(b, loc, left, constant(plan.panel));
  panels = arith::MinUIOp::create(b, loc, panels, left);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The longest piece of a row, at most `most`, that rows of `size` consist of.
static int64_t pieceOf(int64_t size, int64_t most) {
  return std::gcd(size, most);
}

/// The panel's queries are read and written next.
void AttentionPanels::placePanel(Value panel) {
  placeRows(arith::MulIOp::create(b, loc, panel, constant(plan.panel)));
}

void AttentionPanels::packQueries(Value rows, Value panel, Value depth) {
  rows = convert(rows, b.getF32Type());
  rows = vector::TransposeOp::create(b, loc, rows, ArrayRef<int64_t>{1, 0});
  store(rows, queryMemory, {panel, depth, constant(0)});
}

/// Queries are packed, and nothing has been seen of keys.
void AttentionPanels::startPanels() {
  int64_t piece = pieceOf(plan.depth, 8);
  Value zero = constant(0);
  forEach(zero, panels, 1, {}, [&](Value panel, ValueRange) {
    placePanel(panel);
    forEach(plan.depth, piece, {}, [&](Value depth, ValueRange) {
      position[op.getDepthLoop()] = depth;
      Value rows = read(op.getQuery(), op.getQueryMap(), op.getQueryLoop(),
                        op.getDepthLoop(), {plan.panel, piece});
      packQueries(rows, panel, depth);
      return SmallVector<Value>();
    });
    storeState(start(floats(plan.panel)), panel);
    forEach(plan.columns, plan.rows, {}, [&](Value column, ValueRange) {
      store(splat(floats({plan.rows, plan.panel}), 0), resultMemory,
            {panel, column, zero});
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
  position[op.getDepthLoop()] = zero;
}

/// Rows of a page, which is entered here where a block of keys has several.
void AttentionPanels::enterRows(Value key) {
  position[op.getKeyLoop()] = key;
  if (op.getPageSize() < plan.keys)
    enterKeys(key);
}

/// A block of keys, or of values: `loop` is that of their rows' elements.
void AttentionPanels::copyRows(Value tensor, AffineMap map, unsigned loop, Value to) {
  auto type = cast<MemRefType>(to.getType());
  int64_t size = type.getDimSize(1);
  int64_t piece = pieceOf(size, 2 * plan.panel);
  Value key = position[op.getKeyLoop()];
  forEach(plan.keys, kCopiedRows, {}, [&](Value row, ValueRange) {
    enterRows(add(key, row));
    forEach(size, piece, {}, [&](Value element, ValueRange) {
      position[loop] = element;
      Value rows = read(tensor, map, op.getKeyLoop(), loop, {kCopiedRows, piece});
      store(convert(rows, type.getElementType()), to, {row, element});
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
  position[loop] = constant(0);
  position[op.getKeyLoop()] = key;
}

void AttentionPanels::copyValues() {
  copyRows(op.getValue(), op.getValueMap(), op.getColumnLoop(), valueMemory);
}

//===----------------------------------------------------------------------===//
// A panel and a block of keys
//===----------------------------------------------------------------------===//

/// A register tile: the sum over `terms` of R numbers, `left(row, term)`, by a vector along
/// the queries, `right(term)`.
Value AttentionPanels::multiply(int64_t terms,
                                function_ref<Value(int64_t, Value)> left,
                                function_ref<Value(Value)> right) {
  AffineExpr m = b.getAffineDimExpr(0), n = b.getAffineDimExpr(1),
             k = b.getAffineDimExpr(2);
  auto map = [&](AffineExpr row, AffineExpr column) {
    return AffineMap::get(3, 0, {row, column}, b.getContext());
  };
  ArrayAttr maps = b.getAffineMapArrayAttr({map(m, k), map(k, n), map(m, n)});
  int64_t steps = pieceOf(terms, kSteps);
  Value none = splat(floats({plan.rows, plan.panel}), 0);
  return forEach(terms, steps, none, [&](Value first, ValueRange carried) {
    Value sum = carried.front();
    for (int64_t step = 0; step < steps; ++step) {
      Value term = add(first, constant(step));
      SmallVector<Value> numbers;
      for (int64_t row = 0; row < plan.rows; ++row)
        numbers.push_back(left(row, term));
      Value column = vector::FromElementsOp::create(b, loc, floats({plan.rows, 1}), numbers);
      sum = MmaOp::create(b, loc, column, right(term), sum, maps, ArrayAttr(), StringAttr());
    }
    return SmallVector<Value>{sum};
  }).front();
}

/// Scores of keys from `first` on as they are compared: what a query does not see is hidden.
Value AttentionPanels::finishScores(Value values, Value first) {
  auto type = cast<VectorType>(values.getType());
  Scores tile{type.getDimSize(1), type.getDimSize(0), /*keysFirst=*/true};
  Value key = position[op.getKeyLoop()];
  position[op.getKeyLoop()] = add(key, first);
  values = maskScores(scaleScores(values), tile);
  if (Value isWhole = isWholeStep(step, /*isPeeled=*/false)) {
    auto choice = scf::IfOp::create(b, loc, type, isWhole, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b, loc, values);
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, loc, hideKeys(values, tile));
    values = choice.getResult(0);
  } else {
    values = hideKeys(values, tile);
  }
  position[op.getKeyLoop()] = key;
  return values;
}

/// The largest of each column, and of `others`; of NaN and a number the latter, as one
/// instruction of x86 has it.
Value AttentionPanels::largestRow(Value values, Value others) {
  SmallVector<Value> rows;
  for (int64_t row = 0; row < cast<VectorType>(values.getType()).getDimSize(0); ++row)
    rows.push_back(vector::ExtractOp::create(b, loc, values, row));
  auto larger = [&](Value left, Value right) -> Value {
    Value more =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, left, right);
    return arith::SelectOp::create(b, loc, more, left, right);
  };
  // Pairs of pairs, so that few wait for each other.
  for (; rows.size() > 1; rows.resize(rows.size() / 2))
    for (size_t i = 0, half = rows.size() / 2; i < half; ++i)
      rows[i] = larger(rows[i], rows[half + i]);
  return larger(rows.front(), others);
}

/// Scores of the block's keys; returns the largest of each query.
Value AttentionPanels::buildScores(Value panel, Value largest) {
  Value zero = constant(0);
  return forEach(plan.keys, plan.rows, largest, [&](Value first, ValueRange carried) {
    Value values = multiply(
        plan.depth,
        [&](int64_t row, Value term) -> Value {
          return memref::LoadOp::create(b, loc, keyMemory,
                                        ValueRange{add(first, constant(row)), term});
        },
        [&](Value term) {
          return load(queryMemory, {panel, term, zero}, {1, plan.panel});
        });
    values = finishScores(values, first);
    store(values, scoreMemory, {first, zero});
    return SmallVector<Value>{largestRow(values, carried.front())};
  }).front();
}

void AttentionPanels::storePowers(Value powers, Value first) {
  store(powers, scoreMemory, {first, constant(0)});
}

/// Powers in place of the scores; returns the sum of each query.
Value AttentionPanels::buildPowers(const Carried &after) {
  Scores tile{plan.panel, kPowerRows, /*keysFirst=*/true};
  Value zero = constant(0), none = splat(floats(plan.panel), 0);
  return forEach(plan.keys, kPowerRows, none, [&](Value first, ValueRange carried) {
    Value values = load(scoreMemory, {first, zero}, tile.shape());
    Value powers = powersOf(values, after, tile);
    storePowers(powers, first);
    Value sum = vector::MultiDimReductionOp::create(b, loc, powers, carried.front(),
                                                    {true, false},
                                                    vector::CombiningKind::ADD);
    return SmallVector<Value>{sum};
  }).front();
}

void AttentionPanels::buildResult(Value panel, Value shrink) {
  int64_t shape[] = {plan.rows, plan.panel};
  Value zero = constant(0);
  forEach(plan.columns, plan.rows, {}, [&](Value column, ValueRange) {
    Value sum = multiply(
        plan.keys,
        [&](int64_t row, Value term) -> Value {
          return memref::LoadOp::create(b, loc, valueMemory,
                                        ValueRange{term, add(column, constant(row))});
        },
        [&](Value term) { return load(scoreMemory, {term, zero}, {1, plan.panel}); });
    Value before = load(resultMemory, {panel, column, zero}, shape);
    Value factor = vector::BroadcastOp::create(b, loc, floats(shape), shrink);
    Value after = mlir::math::FmaOp::create(b, loc, before, factor, sum);
    store(after, resultMemory, {panel, column, zero});
    return SmallVector<Value>();
  });
}

void AttentionPanels::buildPanel(Value panel) {
  placePanel(panel);
  Carried before = loadState(panel), after;
  largestOf(after, buildScores(panel, before.largest));
  Value sum = buildPowers(after), shrink = shrinkOf(differenceOf(before, after));
  after.sum = mlir::math::FmaOp::create(b, loc, before.sum, shrink, sum);
  storeState(after, panel);
  buildResult(panel, shrink);
}

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionPanels::finish() {
  int64_t shape[] = {plan.rows, plan.panel};
  Value zero = constant(0);
  SmallVector<Value> outputs(op.getOutputs());
  return forEach(zero, panels, 1, outputs, [&](Value panel, ValueRange carried) {
    placePanel(panel);
    Carried last = loadState(panel);
    Value isEmpty, inverse = inverseOf(last.sum, isEmpty);
    SmallVector<Value> results = forEach(
        plan.columns, plan.rows, carried.front(), [&](Value column, ValueRange written) {
          position[op.getColumnLoop()] = column;
          Value tile = load(resultMemory, {panel, column, zero}, shape);
          Value factor = vector::BroadcastOp::create(b, loc, floats(shape), inverse);
          tile = arith::MulFOp::create(b, loc, tile, factor);
          tile = convert(tile, getElementTypeOrSelf(op.getOutputs()[0].getType()));
          tile = vector::TransposeOp::create(b, loc, tile, ArrayRef<int64_t>{1, 0});
          return SmallVector<Value>{write(tile, written.front(), op.getOutputMap(),
                                          {op.getQueryLoop(), op.getColumnLoop()})};
        });
    if (op.hasLogSumExp())
      results.push_back(write(logSumExp(last, isEmpty), carried.back(), op.getOutputMap(1),
                              {op.getQueryLoop()}));
    return results;
  });
}

SmallVector<Value> AttentionPanels::buildLoop() {
  allocateAll();
  startPanels();
  forEach(firstKey, endKey, plan.keys, {}, [&](Value walked, ValueRange) {
    step = walked;
    Value key = position[op.getKeyLoop()] = keyOf(step);
    if (op.getPageSize() >= plan.keys)
      enterKeys(key);
    copyRows(op.getKey(), op.getKeyMap(), op.getDepthLoop(), keyMemory);
    copyValues();
    forEach(constant(0), panels, 1, {}, [&](Value panel, ValueRange) {
      buildPanel(panel);
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
  return finish();
}
