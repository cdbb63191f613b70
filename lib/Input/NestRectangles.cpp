// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A statement whose loops go as far as others say, or that stands under a condition, gets a
// nest of its own, a rectangle, and a condition that says which of it is carried out:
//
//   affine.for %i = 0 to 64 { affine.for %j = %i to 64 { store %x, %a[%i, %j] } }
// becomes
//   affine.for %i = 0 to 64 { affine.for %j = 0 to 64 {
//     affine.if (j - i >= 0) { store %x, %a[%i, %j] } } }
//
// 1. Bounds that depend on loops become conditions, and bounds the extremes of them.
// 2. Conditions on one loop alone are bounds of that loop again.
// 3. Loops end where they would reach beyond a memref: there the condition does not hold.
// What is left of the conditions is a choice in the body of the structured op.

#include "NestRaiser.h"

#include "mlir/Dialect/Affine/Analysis/AffineAnalysis.h"
#include "mlir/Dialect/Affine/Analysis/Utils.h"
#include "mlir/Dialect/Affine/IR/AffineValueMap.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// A sum of multiples of loops of a nest, and a rest that is the same in all iterations.
struct Sum {
  AffineExpr rest;
  SmallVector<std::pair<affine::AffineForOp, int64_t>> terms;
};
} // namespace

static bool dependsOnLoops(ValueRange operands) {
  return llvm::any_of(operands,
                      [](Value value) { return affine::isAffineForInductionVar(value); });
}

/// With all that operands are computed from, as dims only.
static void compose(AffineMap &map, SmallVectorImpl<Value> &operands) {
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  affine::canonicalizeMapAndOperands(&map, &operands);
  SmallVector<AffineExpr> symbols;
  for (unsigned number = map.getNumDims(); number < operands.size(); ++number)
    symbols.push_back(getAffineDimExpr(number, map.getContext()));
  map = map.replaceDimsAndSymbols({}, symbols, operands.size(), 0);
}

/// `expr` over `operands`; nothing where it is no such sum.
static std::optional<Sum> sumOf(AffineExpr expr, ArrayRef<Value> operands) {
  SmallVector<int64_t> flat;
  Sum sum;
  if (failed(getFlattenedAffineExpr(expr, operands.size(), 0, &flat)))
    return std::nullopt;
  if (flat.size() != operands.size() + 1) {
    // Quotients and remainders are the same everywhere if their operands are.
    for (auto [number, operand] : llvm::enumerate(operands))
      if (affine::isAffineForInductionVar(operand) && expr.isFunctionOfDim(number))
        return std::nullopt;
    sum.rest = expr;
    return sum;
  }
  sum.rest = getAffineConstantExpr(flat.back(), expr.getContext());
  for (auto [number, operand] : llvm::enumerate(operands))
    if (affine::AffineForOp loop = affine::getForInductionVarOwner(operand)) {
      if (flat[number])
        sum.terms.push_back({loop, flat[number]});
    } else {
      sum.rest = sum.rest + getAffineDimExpr(number, expr.getContext()) * flat[number];
    }
  return sum;
}

bool NestRaiser::isRectangle(const Statement &statement) {
  return statement.ifs.empty() &&
         llvm::all_of(statement.loops, [](affine::AffineForOp loop) {
           SmallVector<Value> operands(loop.getUpperBoundOperands());
           AffineMap map = loop.getUpperBoundMap();
           compose(map, operands);
           return loop.hasConstantLowerBound() && loop.getConstantLowerBound() == 0 &&
                  loop.getStepAsInt() == 1 && !dependsOnLoops(operands);
         });
}

/// The largest that `map` gives, in front of the nest.
Value NestRaiser::largestOf(AffineMap map, ValueRange operands) {
  b.setInsertionPoint(nest);
  OpFoldResult made = affine::makeComposedFoldedAffineMax(b, nest->getLoc(), map,
                                                          getAsOpFoldResult(operands));
  if (auto value = dyn_cast<Value>(made))
    return standInFor(value);
  return arith::ConstantIndexOp::create(b, nest->getLoc(), *getConstantIntValue(made));
}

/// The largest or smallest that each result of a bound becomes over all iterations of the
/// loops around, which begin at 0. Several results stay several: of an upper bound the
/// smallest counts, of a lower one the largest.
static bool takeExtremes(AffineMap &map, SmallVectorImpl<Value> &operands, bool largest) {
  while (dependsOnLoops(operands)) {
    SmallVector<AffineExpr> results;
    SmallVector<Value> inputs(operands.begin(), operands.end());
    for (AffineExpr expr : map.getResults()) {
      std::optional<Sum> sum = sumOf(expr, operands);
      if (!sum)
        return false;
      if (sum->terms.empty()) {
        results.push_back(sum->rest);
        continue;
      }
      // One loop at a time; the others stay.
      auto [loop, factor] = sum->terms.front();
      AffineExpr rest = sum->rest;
      for (auto [other, times] : ArrayRef(sum->terms).drop_front()) {
        unsigned number = llvm::find(operands, other.getInductionVar()) - operands.begin();
        rest = rest + getAffineDimExpr(number, map.getContext()) * times;
      }
      if ((factor > 0) != largest) {
        results.push_back(rest);
        continue;
      }
      AffineMap upper = loop.getUpperBoundMap();
      SmallVector<Value> ends(loop.getUpperBoundOperands());
      compose(upper, ends);
      upper = upper.shiftDims(inputs.size());
      inputs.append(ends.begin(), ends.end());
      for (AffineExpr end : upper.getResults())
        results.push_back(rest + (end - 1) * factor);
    }
    map = AffineMap::get(inputs.size(), 0, results, map.getContext());
    operands = inputs;
    compose(map, operands);
  }
  return true;
}

/// Bounds of `loop` that depend on others become a condition around its body.
bool NestRaiser::makeRectangle(affine::AffineForOp loop) {
  AffineMap lower = loop.getLowerBoundMap(), upper = loop.getUpperBoundMap();
  SmallVector<Value> lowerOperands(loop.getLowerBoundOperands()),
      upperOperands(loop.getUpperBoundOperands());
  compose(lower, lowerOperands);
  compose(upper, upperOperands);
  SmallVector<AffineExpr> constraints;
  if (dependsOnLoops(lowerOperands) || dependsOnLoops(upperOperands)) {
    SmallVector<Value> operands(lowerOperands);
    operands.append(upperOperands);
    operands.push_back(loop.getInductionVar());
    AffineExpr at = b.getAffineDimExpr(operands.size() - 1);
    for (AffineExpr bound : lower.getResults())
      constraints.push_back(at - bound);
    for (AffineExpr bound : upper.shiftDims(lowerOperands.size()).getResults())
      constraints.push_back(bound - 1 - at);
    if (!takeExtremes(lower, lowerOperands, /*largest=*/false) ||
        !takeExtremes(upper, upperOperands, /*largest=*/true))
      return false;
    b.setInsertionPointToStart(loop.getBody());
    auto choice = affine::AffineIfOp::create(
        b, loop.getLoc(),
        IntegerSet::get(operands.size(), 0, constraints,
                        SmallVector<bool>(constraints.size(), false)),
        operands, /*withElseRegion=*/false);
    Block *body = loop.getBody();
    choice.getThenBlock()->getOperations().splice(
        choice.getThenBlock()->begin(), body->getOperations(),
        std::next(choice->getIterator()), body->getTerminator()->getIterator());
  }
  if (lower.getNumResults() > 1) {
    lowerOperands = {largestOf(lower, lowerOperands)};
    lower = b.getMultiDimIdentityMap(1);
  }
  loop.setLowerBound(lowerOperands, lower);
  loop.setUpperBound(upperOperands, upper);
  return succeeded(affine::normalizeAffineFor(loop, /*promoteSingleIter=*/false));
}

/// Has `loop` begin at `from`, if that is more than 0; conditions and places follow.
void NestRaiser::beginAt(affine::AffineForOp loop, AffineExpr from, ArrayRef<Value> operands) {
  AffineMap map = AffineMap::get(operands.size(), 0, {from, b.getAffineConstantExpr(0)},
                                 b.getContext());
  Value begin = largestOf(map, operands);
  loop.setLowerBound(ValueRange(begin), b.getMultiDimIdentityMap(1));
  (void)affine::normalizeAffineFor(loop, /*promoteSingleIter=*/false);
}

/// Has `loop` end at `end`, if that is less than before.
static void endAt(affine::AffineForOp loop, AffineExpr end, ArrayRef<Value> operands) {
  AffineMap map = loop.getUpperBoundMap();
  SmallVector<Value> all(loop.getUpperBoundOperands());
  compose(map, all);
  SmallVector<AffineExpr> results(map.getResults());
  results.push_back(end.shiftDims(operands.size(), all.size()));
  all.append(operands.begin(), operands.end());
  map = AffineMap::get(all.size(), 0, results, map.getContext());
  affine::canonicalizeMapAndOperands(&map, &all);
  loop.setUpperBound(all, map);
}

/// Constraint `number` of `choice`, by what its operands are computed from.
static std::pair<AffineMap, SmallVector<Value>> constraintOf(affine::AffineIfOp choice,
                                                             unsigned number) {
  IntegerSet set = choice.getIntegerSet();
  AffineMap map =
      AffineMap::get(set.getNumDims(), set.getNumSymbols(), set.getConstraint(number));
  SmallVector<Value> operands(choice.getOperands());
  compose(map, operands);
  return {map, operands};
}

/// Conditions on one loop become bounds of it; the others stay.
void NestRaiser::narrowByConditions(Statement &statement, DoneSet &done) {
  auto narrowOne = [&] {
    for (Operation *around : statement.ifs) {
      auto choice = dyn_cast<affine::AffineIfOp>(around);
      if (!choice)
        continue;
      IntegerSet set = choice.getIntegerSet();
      for (unsigned number = 0; number < set.getNumConstraints(); ++number) {
        if (done.contains({around, number}))
          continue;
        auto [map, operands] = constraintOf(choice, number);
        std::optional<Sum> sum = sumOf(map.getResult(0), operands);
        if (!sum || sum->terms.size() != 1)
          continue;
        auto [loop, factor] = sum->terms.front();
        if (!llvm::is_contained(statement.loops, loop) ||
            (set.isEq(number) && std::abs(factor) != 1))
          continue;
        done.insert({around, number});
        // factor * i + rest >= 0, or = 0
        AffineExpr bound = factor > 0 ? (-sum->rest).ceilDiv(factor)
                                      : sum->rest.floorDiv(-factor);
        if (factor < 0 || set.isEq(number))
          endAt(loop, bound + 1, operands);
        if (factor > 0 || set.isEq(number))
          beginAt(loop, bound, operands);
        return true;
      }
    }
    return false;
  };
  while (narrowOne()) {
  }
}

void NestRaiser::collectConditions(Statement &statement, const DoneSet &done) {
  conditions.clear();
  for (Operation *around : statement.ifs) {
    auto choice = dyn_cast<affine::AffineIfOp>(around);
    if (!choice) {
      conditions.push_back(
          {AffineMap(), {cast<scf::IfOp>(around).getCondition()}, /*isEquality=*/false});
      continue;
    }
    IntegerSet set = choice.getIntegerSet();
    for (unsigned number = 0; number < set.getNumConstraints(); ++number) {
      if (done.contains({around, number}))
        continue;
      auto [map, operands] = constraintOf(choice, number);
      conditions.push_back({map, operands, set.isEq(number)});
    }
  }
}

/// Whether `expr` is never negative.
bool NestRaiser::isNatural(AffineExpr expr, ArrayRef<Value> operands) {
  expr = simplifyAffineExpr(expr, operands.size(), 0);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  SmallVector<Value> real;
  for (Value operand : operands) {
    for (auto [standIn, value] : standIns)
      if (operand == standIn)
        operand = value;
    real.push_back(operand);
  }
  AffineMap map = AffineMap::get(operands.size(), 0, expr);
  affine::canonicalizeMapAndOperands(&map, &real);
  using Bounds = ValueBoundsConstraintSet;
  return Bounds::compare(
      Bounds::Variable(map, ValueRange(real)), Bounds::ComparisonOperator::GE,
      Bounds::Variable(OpFoldResult(b.getIndexAttr(0))));
}

/// Loops do not reach beyond what is stored or loaded. Where they would, the condition does
/// not hold, since it is around the access, too.
std::optional<NestRefusal> NestRaiser::narrowByMemref(Operation *access, Statement &statement) {
  Value memref = affine::MemRefAccess(access).memref;
  auto type = cast<MemRefType>(memref.getType());
  bool always = access->hasAttr(kAlwaysLoaded);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    affine::AffineValueMap places;
    affine::MemRefAccess(access).getAccessMap(&places);
    AffineMap map = places.getAffineMap().getSubMap({unsigned(dim)});
    SmallVector<Value> operands(places.getOperands());
    compose(map, operands);
    std::optional<Sum> sum = sumOf(map.getResult(0), operands);
    if (!sum)
      return refuse(access, kNoSumOfLoops);
    // The last place of all iterations, and how many elements are behind it.
    AffineMap last = map;
    SmallVector<Value> inputs(operands.begin(), operands.end());
    if (llvm::any_of(sum->terms, [](auto term) { return term.second < 0; }) ||
        !takeExtremes(last, inputs, /*largest=*/true))
      return refuse(access, kGoesBackwards);
    AffineExpr size = b.getAffineConstantExpr(type.getDimSize(dim));
    Value extent;
    if (type.isDynamicDim(dim)) {
      b.setInsertionPoint(nest);
      extent = standInFor(memref::DimOp::create(b, access->getLoc(), memref, dim));
    }
    auto behind = [&](AffineExpr place, SmallVectorImpl<Value> &values) {
      if (extent) {
        size = b.getAffineDimExpr(values.size());
        values.push_back(extent);
      }
      return size - 1 - place;
    };
    bool fromBegin = isNatural(sum->rest, operands), toEnd = false;
    for (AffineExpr place : last.getResults()) {
      SmallVector<Value> values(inputs.begin(), inputs.end());
      AffineExpr expr = behind(place, values);
      toEnd |= isNatural(expr, values);
    }
    if (fromBegin && toEnd)
      continue;
    if (always || sum->terms.size() != 1)
      return refuse(access, "may be beyond its memref where the condition around it does "
                            "not hold");
    auto [loop, factor] = sum->terms.front();
    if (!toEnd) {
      SmallVector<Value> values(operands.begin(), operands.end());
      AffineExpr expr = behind(sum->rest, values);
      endAt(loop, expr.floorDiv(factor) + 1, values);
    }
    if (!fromBegin)
      beginAt(loop, (-sum->rest).ceilDiv(factor), operands);
  }
  return std::nullopt;
}

static bool isConditional(Operation *op, Operation *nest) {
  while (op != nest && !isa<affine::AffineIfOp, scf::IfOp>(op))
    op = op->getParentOp();
  return op != nest;
}

/// The statement in a nest of its own, which is a rectangle.
std::optional<NestRefusal> NestRaiser::isolate(Statement &statement) {
  IRMapping mapping;
  b.setInsertionPoint(nest);
  Operation *copy = b.clone(*nest, mapping);
  copies.push_back(copy);
  auto store = cast<affine::AffineStoreOp>(mapping.lookup(statement.store.getOperation()));
  for (affine::AffineForOp loop : statement.loops) {
    auto own = cast<affine::AffineForOp>(mapping.lookup(loop.getOperation()));
    if (!makeRectangle(own))
      return refuse(own, "has bounds that are no sums of loops and sizes");
  }
  statement = statementOf(store, copy);
  DoneSet done;
  narrowByConditions(statement, done);
  SmallVector<Operation *> accesses{store};
  for (Operation *op : statement.slice)
    if (isa<affine::AffineLoadOp>(op))
      accesses.push_back(op);
  for (Operation *access : accesses)
    if (access->hasAttr(kAlwaysLoaded) || isConditional(access, copy))
      if (std::optional<NestRefusal> refusal = narrowByMemref(access, statement))
        return refusal;
  statement = statementOf(store, copy);
  collectConditions(statement, done);
  return std::nullopt;
}
