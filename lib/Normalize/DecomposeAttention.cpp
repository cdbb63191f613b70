// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %o, %lse = tilewright.attention ins(%q, %k, %v) mask(%m) …
// becomes, over loops (batch, i, j, d, e),
//   %k, %v = what a table of pages and lengths say that they are, zeros behind the last key
//   %s = contraction of %q and %k over d           : batch x i x j, f32
//   %t = scaled, capped, masked %s                 (-inf where a key is not seen)
//   %x = largest of %t along j, at least the lowest finite number
//   %p = exp(%t - %x)
//   %l = sum of %p along j
//   %w = %p / %l, zeros where %l is zero           : the type of the values
//   %o = contraction of %w and %v over j
//   %lse = %x + log(%l), -inf where %l is zero
//
// Starting from the lowest finite number makes a row of nothing but -inf one of zeros,
// not of NaN.

#include "tilewright/Normalize/DecomposeAttention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace {

class Decomposition {
public:
  Decomposition(OpBuilder &b, AttentionOp op, bool branches)
      : b(b), op(op), loc(op.getLoc()), type(op.getScoreType()), branches(branches) {
    for (unsigned loop = 0; loop < op.getNumBatchLoops(); ++loop)
      batch.push_back(loop);
    rows = batch;
    rows.push_back(op.getQueryLoop());
    scores = rows;
    scores.push_back(op.getKeyLoop());
  }
  SmallVector<Value> write();

private:
  using Loops = ArrayRef<unsigned>;
  using Body = llvm::function_ref<Value(ValueRange)>;

  OpFoldResult extent(unsigned loop) {
    int64_t size = op.getLoopExtents()[loop];
    if (ShapedType::isStatic(size))
      return b.getIndexAttr(size);
    return createExtent(b, op, loop);
  }
  Value empty(Loops loops, Type element) {
    SmallVector<OpFoldResult> sizes;
    for (unsigned loop : loops)
      sizes.push_back(extent(loop));
    return tensor::EmptyOp::create(b, loc, sizes, element);
  }
  Value fill(Value value, Value into) {
    return linalg::FillOp::create(b, loc, value, into).getResult(0);
  }
  Value constant(const APFloat &value) {
    APFloat converted = value;
    bool loses;
    converted.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, converted));
  }
  Value constant(double value) { return constant(APFloat(value)); }
  Value lowest() {
    return constant(APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true));
  }
  Value minusInfinity() {
    return constant(APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
  }
  Value extend(Value value) {
    return value.getType() == type
               ? value
               : arith::ExtFOp::create(b, loc, type, value).getResult();
  }
  Value narrow(Value value, Type to) {
    return value.getType() == to ? value
                                 : arith::TruncFOp::create(b, loc, to, value).getResult();
  }
  /// A dim of the result for each loop that is its own.
  SmallVector<unsigned> loopsOf(AffineMap map) {
    SmallVector<unsigned> loops;
    for (AffineExpr expr : map.getResults())
      loops.push_back(cast<AffineDimExpr>(expr).getPosition());
    return loops;
  }

  Value generic(Loops loops, ArrayRef<std::pair<Value, SmallVector<unsigned>>> inputs,
                Value init, Loops initLoops, Body body);
  Value rowwise(Value values, Value init, Body body);
  Value contract(Value left, Loops leftLoops, Value right, Loops rightLoops,
                 Loops outLoops, unsigned reduced, Value init);
  Value maskScores(Value values);
  /// Keys, or values, of each batch index, over `loops`, where a table and lengths say which
  /// these are.
  Value gatherKeys(unsigned number, SmallVectorImpl<unsigned> &loops);
  Value elementOf(Value tensor, AffineMap map);
  Value hide(Value score, Value length);
  Value divide(Value part, Value sum);

  OpBuilder &b;
  AttentionOp op;
  Location loc;
  FloatType type;
  SmallVector<unsigned> batch, rows, scores;
  /// Of a body, by loop of the op.
  DenseMap<unsigned, Value> bodyIndices;
  /// What is not there is not read. Else it is, moved inside as any gather is.
  bool branches;
  Value mostKeys, numPages, numQueries;
};

} // namespace

/// A generic over `loops`, in this order; those that the init lacks are reduced.
Value Decomposition::generic(
    Loops loops, ArrayRef<std::pair<Value, SmallVector<unsigned>>> inputs, Value init,
    Loops initLoops, Body body) {
  auto mapOf = [&](Loops own) {
    SmallVector<AffineExpr> exprs;
    for (unsigned loop : own)
      exprs.push_back(b.getAffineDimExpr(llvm::find(loops, loop) - loops.begin()));
    return AffineMap::get(loops.size(), 0, exprs, b.getContext());
  };
  SmallVector<AffineMap> maps;
  SmallVector<Value> values;
  for (const auto &[value, own] : inputs) {
    values.push_back(value);
    maps.push_back(mapOf(own));
  }
  maps.push_back(mapOf(initLoops));
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop : loops)
    iterators.push_back(llvm::is_contained(initLoops, loop)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             b, loc, init.getType(), values, init, maps, iterators,
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               OpBuilder::InsertionGuard guard(b);
               b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
               Value result = body(arguments);
               linalg::YieldOp::create(b, at, result);
             })
      .getResult(0);
}

/// A reduction of scores along the keys.
Value Decomposition::rowwise(Value values, Value init, Body body) {
  return generic(scores, {{values, scores}}, init, rows, body);
}

Value Decomposition::contract(Value left, Loops leftLoops, Value right,
                              Loops rightLoops, Loops outLoops, unsigned reduced,
                              Value init) {
  SmallVector<unsigned> loops(outLoops);
  loops.push_back(reduced);
  return generic(loops,
                 {{left, SmallVector<unsigned>(leftLoops)},
                  {right, SmallVector<unsigned>(rightLoops)}},
                 init, outLoops, [&](ValueRange x) -> Value {
                   Value product =
                       arith::MulFOp::create(b, loc, extend(x[0]), extend(x[1]));
                   return arith::AddFOp::create(b, loc, x[2], product);
                 });
}

/// The element of a table or of lengths for the indices of a body.
Value Decomposition::elementOf(Value tensor, AffineMap map) {
  SmallVector<Value> indices;
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      indices.push_back(bodyIndices[dim.getPosition()]);
      continue;
    }
    Value size = arith::ConstantIndexOp::create(b, loc, op.getPageSize());
    indices.push_back(
        arith::DivUIOp::create(b, loc, bodyIndices[op.getKeyLoop()], size));
  }
  return tensor::ExtractOp::create(b, loc, tensor, indices);
}

Value Decomposition::gatherKeys(unsigned number, SmallVectorImpl<unsigned> &loops) {
  Value tensor = op->getOperand(number);
  AffineMap map = op.getMap(number);
  auto isNeeded = [&](unsigned loop) {
    return map.isFunctionOfDim(loop) ||
           (op.getTable() && op.getTableMap().isFunctionOfDim(loop)) ||
           (op.getLengths() && op.getLengthsMap().isFunctionOfDim(loop));
  };
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (isNeeded(loop))
      loops.push_back(loop);
  Type element = getElementTypeOrSelf(tensor.getType());
  int64_t size = op.getPageSize();
  return generic(loops, {}, empty(loops, element), loops, [&](ValueRange) -> Value {
    for (auto [position, loop] : llvm::enumerate(loops))
      bodyIndices[loop] = linalg::IndexOp::create(b, loc, position);
    Value key = bodyIndices[op.getKeyLoop()], keys = mostKeys;
    if (op.getLengths())
      keys = createNumKeys(b, loc, elementOf(op.getLengths(), op.getLengthsMap()), mostKeys);
    Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, key, keys);
    Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
    scf::IfOp choice;
    OpBuilder::InsertionGuard guard(b);
    if (branches) {
      choice = scf::IfOp::create(b, loc, element, isThere, /*withElseRegion=*/true);
      OpBuilder otherwise = choice.getElseBodyBuilder();
      scf::YieldOp::create(otherwise, loc, none);
      b.setInsertionPointToStart(choice.thenBlock());
    }
    AffineExpr page = b.getAffineDimExpr(op.getKeyLoop());
    page = size ? page.floorDiv(size) : page;
    SmallVector<Value> indices;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (size && expr == page)
        indices.push_back(
            createPage(b, loc, elementOf(op.getTable(), op.getTableMap()), numPages));
      else if (dim)
        indices.push_back(bodyIndices[dim.getPosition()]);
      else
        indices.push_back(arith::RemUIOp::create(
            b, loc, key, arith::ConstantIndexOp::create(b, loc, size)));
    }
    Value value = tensor::ExtractOp::create(b, loc, tensor, indices);
    if (!branches)
      return arith::SelectOp::create(b, loc, isThere, value, none);
    scf::YieldOp::create(b, loc, value);
    return choice.getResult(0);
  });
}

/// -inf where the length, causal, window or the part hide a key.
Value Decomposition::hide(Value score, Value length) {
  int64_t before = op.getKeysBefore(), behind = op.getKeysBehind();
  Value numKeys = length ? createNumKeys(b, loc, length, mostKeys) : mostKeys;
  if (length) {
    Value j = linalg::IndexOp::create(b, loc, batch.size() + 1);
    Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, j, numKeys);
    score = arith::SelectOp::create(b, loc, isThere, score, minusInfinity());
  }
  if (op.getKeyParts()) {
    Value partLength = createPartLength(b, op, numKeys);
    Value own = linalg::IndexOp::create(b, loc, 0);
    Value j = linalg::IndexOp::create(b, loc, batch.size() + 1);
    Value part = arith::DivUIOp::create(b, loc, j, partLength);
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part, own);
    score = arith::SelectOp::create(b, loc, inside, score, minusInfinity());
  }
  if (before < 0 && behind < 0)
    return score;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value i = linalg::IndexOp::create(b, loc, batch.size());
  Value j = linalg::IndexOp::create(b, loc, batch.size() + 1);
  if (op.isBottomRight()) {
    Value end = length ? createDiagonalEnd(b, loc, length) : mostKeys;
    i = arith::AddIOp::create(b, loc, i, arith::SubIOp::create(b, loc, end, numQueries));
  }
  auto hideWhere = [&](arith::CmpIPredicate visible, Value bound) {
    Value inside = arith::CmpIOp::create(b, loc, visible, j, bound);
    score = arith::SelectOp::create(b, loc, inside, score, minusInfinity());
  };
  if (behind >= 0)
    hideWhere(arith::CmpIPredicate::sle,
              arith::AddIOp::create(b, loc, i, index(behind)));
  if (before >= 0)
    hideWhere(arith::CmpIPredicate::sge,
              arith::SubIOp::create(b, loc, i, index(before)));
  return score;
}

Value Decomposition::maskScores(Value values) {
  SmallVector<std::pair<Value, SmallVector<unsigned>>> inputs{{values, scores}};
  if (op.getMask())
    inputs.push_back({op.getMask(), loopsOf(op.getMaskMap())});
  if (op.getKeep())
    inputs.push_back({op.getKeep(), loopsOf(op.getKeepMap())});
  if (op.getLengths())
    inputs.push_back({op.getLengths(), loopsOf(op.getLengthsMap())});
  return generic(scores, inputs, empty(scores, type), scores, [&](ValueRange x) {
    double scale = op.getScaleValue(), cap = op.getSoftcapValue();
    Value score = x[0];
    if (cap == 0) {
      score = arith::MulFOp::create(b, loc, score, constant(scale));
    } else {
      Value part = arith::MulFOp::create(b, loc, score, constant(scale / cap));
      score = arith::MulFOp::create(b, loc, math::TanhOp::create(b, loc, part),
                                    constant(cap));
    }
    if (op.getKeep())
      score = arith::SelectOp::create(b, loc, x[2], score, constant(0.0));
    if (op.getMask() && isa<FloatType>(x[1].getType()))
      score = arith::AddFOp::create(b, loc, score, extend(x[1]));
    else if (op.getMask())
      score = arith::SelectOp::create(b, loc, x[1], score, minusInfinity());
    return hide(score, op.getLengths() ? x[inputs.size() - 1] : Value());
  });
}

/// part / sum, or zero of nothing.
Value Decomposition::divide(Value part, Value sum) {
  Value zero = constant(0.0);
  Value isEmpty =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, sum, zero);
  Value quotient = arith::DivFOp::create(b, loc, part, sum);
  return arith::SelectOp::create(b, loc, isEmpty, zero, quotient);
}

SmallVector<Value> Decomposition::write() {
  Value zero = constant(0.0);
  mostKeys = createMostKeys(b, op);
  numQueries = createExtent(b, op, op.getQueryLoop());
  numPages = op.getTable() ? createNumPages(b, op) : Value();
  Value keys = op.getKey(), values = op.getValue();
  SmallVector<unsigned> keyLoops, valueLoops;
  if (op.getTable())
    keys = gatherKeys(1, keyLoops);
  else
    keyLoops = loopsOf(op.getKeyMap());
  // What is behind a length may be no number, which a weight of zero would not hide.
  if (op.getTable() || op.getLengths())
    values = gatherKeys(2, valueLoops);
  else
    valueLoops = loopsOf(op.getValueMap());
  Value products = contract(op.getQuery(), loopsOf(op.getQueryMap()), keys, keyLoops, scores,
                            op.getDepthLoop(), fill(zero, empty(scores, type)));
  Value masked = maskScores(products);
  Value largest = rowwise(masked, fill(lowest(), empty(rows, type)), [&](ValueRange x) {
    return arith::MaximumFOp::create(b, loc, x[1], x[0]).getResult();
  });
  Value powers = generic(
      scores, {{masked, scores}, {largest, rows}}, empty(scores, type), scores,
      [&](ValueRange x) {
        Value below = arith::SubFOp::create(b, loc, x[0], x[1]);
        return math::ExpOp::create(b, loc, below).getResult();
      });
  Value sums = rowwise(powers, fill(zero, empty(rows, type)), [&](ValueRange x) {
    return arith::AddFOp::create(b, loc, x[1], x[0]).getResult();
  });
  Type element = getElementTypeOrSelf(op.getValue().getType());
  Value weights =
      generic(scores, {{powers, scores}, {sums, rows}}, empty(scores, element), scores,
              [&](ValueRange x) { return narrow(divide(x[0], x[1]), element); });

  SmallVector<unsigned> outLoops = loopsOf(op.getOutputMap());
  Type outType = getElementTypeOrSelf(op.getOutputs()[0].getType());
  Value sumInit = outType == type ? op.getOutputs()[0] : empty(outLoops, type);
  Value out = contract(weights, scores, values, valueLoops, outLoops, op.getKeyLoop(),
                       fill(zero, sumInit));
  if (outType != type)
    out = generic(outLoops, {{out, outLoops}}, op.getOutputs()[0], outLoops,
                  [&](ValueRange x) { return narrow(x[0], outType); });
  SmallVector<Value> results{out};
  if (op.hasLogSumExp()) {
    SmallVector<unsigned> loops = loopsOf(op.getOutputMap(1));
    results.push_back(generic(
        loops, {{largest, rows}, {sums, rows}}, op.getOutputs()[1], loops,
        [&](ValueRange x) -> Value {
          Value sum = arith::AddFOp::create(b, loc, x[0],
                                            math::LogOp::create(b, loc, x[1]));
          Value isEmpty = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x[1],
                                                constant(0.0));
          return arith::SelectOp::create(b, loc, isEmpty, minusInfinity(), sum);
        }));
  }
  return results;
}

SmallVector<Value> tilewright::decomposeAttention(OpBuilder &b, AttentionOp op,
                                                  bool branches) {
  return Decomposition(b, op, branches).write();
}
