// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises reductions to the best element and its place; see MatchArgReduction.h.
//
// A body is not compared with spellings but evaluated, on each case of how an element and
// its place may stand to the best so far and to the place of that:
//
//   element   less, equal, greater; is a NaN, the best is one, both are
//   place     in front of that of the best, the same, behind it
//
// What a case yields is one of the four values. The table of the cases then says what the
// reduction looks for, whichever comparisons, selects, `and`s, minima it is written with.

#include "MatchArgReduction.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;

/// Whether `value` is computed without the accumulators of `op`.
static bool isOfElements(linalg::GenericOp op, Value value) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  auto isAccumulator = [&](Value used) {
    auto argument = dyn_cast<BlockArgument>(used);
    return argument && argument.getOwner() == op.getBody() &&
           argument.getArgNumber() >= op.getNumDpsInputs();
  };
  options.filter = [&](Operation *inner) {
    return inner->getBlock() == op.getBody();
  };
  if (isAccumulator(value))
    return false;
  if (Operation *def = value.getDefiningOp())
    if (def->getBlock() == op.getBody()) {
      if (failed(getBackwardSlice(def, &slice, options)))
        return false;
      slice.insert(def);
    }
  return llvm::none_of(slice, [&](Operation *inner) {
    SetVector<Value> used(inner->operand_begin(), inner->operand_end());
    getUsedValuesDefinedAbove(inner->getRegions(), used);
    return llvm::any_of(used, isAccumulator);
  });
}

/// Whether `value` counts the reduction loop: its index, cast.
static bool isPosition(linalg::GenericOp op, Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index && op.getIteratorTypesArray()[index.getDim()] ==
                      utils::IteratorType::reduction;
}

namespace {
/// Of two elements, or of two places.
enum Order { Less, Equal, Greater, Unordered };

struct Case {
  Order elements;
  /// Where they are unordered.
  bool isElementNan = false, isBestNan = false;
  Order places = Greater;
};

/// What is known of a value of the body in a case.
struct Known {
  enum Kind { Nothing, Flag, Element, Best, AnyNan, Position, At, Number } kind = Nothing;
  bool flag = false;

  Known(Kind kind = Nothing) : kind(kind) {}
  Known(bool flag) : kind(Flag), flag(flag) {}
  bool isOfElements() const { return kind == Element || kind == Best || kind == AnyNan; }
  bool isPlace() const { return kind == Position || kind == At; }
};

/// Evaluates values of the body of a reduction that may be one to the best element.
class Evaluator {
public:
  Evaluator(linalg::GenericOp op, Value element, Value best, Value at, bool isSigned)
      : op(op), element(element), best(best), at(at), isSigned(isSigned) {}

  /// What `value` is where the case is `now`.
  Known evaluate(Value value, const Case &now) {
    known.clear();
    return find(value, now);
  }

private:
  Known find(Value value, const Case &now);
  Known findNew(Value value, const Case &now);
  Known select(arith::SelectOp op, const Case &now);
  Known compare(arith::CmpFOp op, const Case &now);
  Known compare(arith::CmpIOp op, const Case &now);
  Known minimum(Operation *inner, const Case &now);
  Known logic(Operation *inner, const Case &now);

  /// How `x` stands to `y`; both are elements, or places.
  Order order(Known x, Known y, const Case &now) const;
  bool isNan(Known x, const Case &now) const {
    return x.kind == Known::AnyNan || (x.kind == Known::Element && now.isElementNan) ||
           (x.kind == Known::Best && now.isBestNan);
  }

  linalg::GenericOp op;
  Value element, best, at;
  bool isSigned;
  /// Of the case that is evaluated.
  llvm::DenseMap<Value, Known> known;
};
} // namespace

static Order swapped(Order order) {
  return order == Less ? Greater : order == Greater ? Less : order;
}

Order Evaluator::order(Known x, Known y, const Case &now) const {
  if (x.isPlace())
    return x.kind == y.kind ? Equal : x.kind == Known::Position ? now.places : swapped(now.places);
  if (isNan(x, now) || isNan(y, now))
    return Unordered;
  if (x.kind == y.kind)
    return Equal;
  return x.kind == Known::Element ? now.elements : swapped(now.elements);
}

Known Evaluator::find(Value value, const Case &now) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Known found = findNew(value, now);
  known[value] = found;
  return found;
}

Known Evaluator::findNew(Value value, const Case &now) {
  if (value == element)
    return Known::Element;
  if (value == best)
    return Known::Best;
  if (value == at)
    return Known::At;
  if (isPosition(op, value))
    return Known::Position;
  APInt number;
  APFloat constant(0.0);
  if (matchPattern(value, m_ConstantInt(&number)))
    return value.getType().isInteger(1) ? Known(!number.isZero()) : Known(Known::Nothing);
  if (matchPattern(value, m_ConstantFloat(&constant)))
    return constant.isNaN() ? Known::Nothing : Known::Number;
  Operation *inner = value.getDefiningOp();
  if (!inner || inner->getBlock() != op.getBody())
    return Known::Nothing;
  if (auto choice = dyn_cast<arith::SelectOp>(inner))
    return select(choice, now);
  if (auto floats = dyn_cast<arith::CmpFOp>(inner))
    return compare(floats, now);
  if (auto integers = dyn_cast<arith::CmpIOp>(inner))
    return compare(integers, now);
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(inner))
    return logic(inner, now);
  return minimum(inner, now);
}

Known Evaluator::select(arith::SelectOp choice, const Case &now) {
  Known condition = find(choice.getCondition(), now);
  if (condition.kind != Known::Flag)
    return Known::Nothing;
  return find(condition.flag ? choice.getTrueValue() : choice.getFalseValue(), now);
}

Known Evaluator::compare(arith::CmpFOp compare, const Case &now) {
  using P = arith::CmpFPredicate;
  Known x = find(compare.getLhs(), now), y = find(compare.getRhs(), now);
  P predicate = compare.getPredicate();
  // With a number, only whether there is a NaN is known.
  if ((x.kind == Known::Number || y.kind == Known::Number) &&
      (predicate == P::ORD || predicate == P::UNO)) {
    Known other = x.kind == Known::Number ? y : x;
    if (!other.isOfElements())
      return Known::Nothing;
    return Known(isNan(other, now) == (predicate == P::UNO));
  }
  if (!x.isOfElements() || !y.isOfElements())
    return Known::Nothing;
  return Known([&](Order is) {
    bool unordered = is == Unordered;
    switch (predicate) {
    case P::AlwaysFalse: return false;
    case P::OEQ: return is == Equal;
    case P::OGT: return is == Greater;
    case P::OGE: return is == Greater || is == Equal;
    case P::OLT: return is == Less;
    case P::OLE: return is == Less || is == Equal;
    case P::ONE: return is == Less || is == Greater;
    case P::ORD: return !unordered;
    case P::UEQ: return unordered || is == Equal;
    case P::UGT: return unordered || is == Greater;
    case P::UGE: return unordered || is != Less;
    case P::ULT: return unordered || is == Less;
    case P::ULE: return unordered || is != Greater;
    case P::UNE: return is != Equal;
    case P::UNO: return unordered;
    case P::AlwaysTrue: return true;
    }
    llvm_unreachable("all predicates are named");
  }(order(x, y, now)));
}

Known Evaluator::compare(arith::CmpIOp compare, const Case &now) {
  using P = arith::CmpIPredicate;
  Known x = find(compare.getLhs(), now), y = find(compare.getRhs(), now);
  bool places = x.isPlace() && y.isPlace();
  if (!places && !(x.isOfElements() && y.isOfElements()))
    return Known::Nothing;
  P predicate = compare.getPredicate();
  Order is = order(x, y, now);
  if (predicate == P::eq || predicate == P::ne)
    return Known((is == Equal) == (predicate == P::eq));
  bool asSigned = predicate == P::slt || predicate == P::sle || predicate == P::sgt ||
                  predicate == P::sge;
  // Places are counted from zero; what they begin with may be less.
  if (asSigned != (places || isSigned))
    return Known::Nothing;
  if (predicate == P::slt || predicate == P::ult)
    return Known(is == Less);
  if (predicate == P::sle || predicate == P::ule)
    return Known(is != Greater);
  if (predicate == P::sgt || predicate == P::ugt)
    return Known(is == Greater);
  return Known(is != Less);
}

Known Evaluator::logic(Operation *inner, const Case &now) {
  Known x = find(inner->getOperand(0), now), y = find(inner->getOperand(1), now);
  if (x.kind != Known::Flag || y.kind != Known::Flag)
    return Known::Nothing;
  if (isa<arith::AndIOp>(inner))
    return Known(x.flag && y.flag);
  return Known(isa<arith::OrIOp>(inner) ? x.flag || y.flag : x.flag != y.flag);
}

/// The larger or smaller of two elements or places.
Known Evaluator::minimum(Operation *inner, const Case &now) {
  bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp, arith::MaxUIOp>(inner);
  if (!isMax &&
      !isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp, arith::MinUIOp>(inner))
    return Known::Nothing;
  Known x = find(inner->getOperand(0), now), y = find(inner->getOperand(1), now);
  bool places = x.isPlace() && y.isPlace();
  if (!places && !(x.isOfElements() && y.isOfElements()))
    return Known::Nothing;
  if (isa<arith::MaxSIOp, arith::MinSIOp>(inner) ? !(places || isSigned)
      : isa<arith::MaxUIOp, arith::MinUIOp>(inner) ? places || isSigned
                                                   : false)
    return Known::Nothing;
  Order is = order(x, y, now);
  if (is == Unordered) {
    bool xIsNan = isNan(x, now);
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(inner) || (xIsNan && isNan(y, now)))
      return Known::AnyNan;
    return xIsNan ? y : x;
  }
  return (is == Greater) == isMax ? x : y;
}

/// What the body does, case by case.
static bool readCases(ArgReduction &match, Evaluator &body, Value newBest, Value newAt) {
  auto valueIn = [&](const Case &now) { return body.evaluate(newBest, now).kind; };
  auto placeIn = [&](const Case &now) { return body.evaluate(newAt, now).kind; };
  constexpr Order kPlaces[] = {Less, Equal, Greater};
  // The same wherever the places are; where they are one, either is.
  auto alwaysPlace = [&](Case now, Known::Kind wanted) {
    return llvm::all_of(kPlaces, [&](Order places) {
      now.places = places;
      Known::Kind place = placeIn(now);
      return place == wanted || (places == Equal && Known(place).isPlace());
    });
  };
  auto alwaysValue = [&](Case now, auto isWanted) {
    return llvm::all_of(kPlaces, [&](Order places) {
      now.places = places;
      return isWanted(valueIn(now));
    });
  };
  auto isElement = [](Known::Kind kind) { return kind == Known::Element; };
  auto isBest = [](Known::Kind kind) { return kind == Known::Best; };

  match.isMax = alwaysValue({Greater}, isElement);
  Case better{match.isMax ? Greater : Less}, worse{match.isMax ? Less : Greater}, tie{Equal};
  if (!alwaysValue(better, isElement) || !alwaysPlace(better, Known::Position) ||
      !alwaysValue(worse, isBest) || !alwaysPlace(worse, Known::At) ||
      !alwaysValue(tie, [&](Known::Kind kind) { return isElement(kind) || isBest(kind); }))
    return false;
  Case before = tie, behind = tie;
  before.places = Less;
  Known::Kind inFront = placeIn(before), after = placeIn(behind);
  if (!Known(inFront).isPlace() || !Known(after).isPlace() ||
      !(alwaysPlace(tie, after) || inFront != after))
    return false;
  match.lastWins = after == Known::Position;
  match.tiesByPlace = inFront != after;
  if (!match.isFloat())
    return true;

  // The best is a NaN only behind one, whose place is in front of the element's.
  Case first{Unordered, true, false}, behindOne{Unordered, false, true},
      another{Unordered, true, true};
  auto isNan = [](Known::Kind kind) { return kind == Known::AnyNan; };
  if (alwaysValue(first, isBest)) {
    match.nans = Nans::PassedOver;
    return alwaysPlace(first, Known::At);
  }
  if (!alwaysValue(first, [&](Known::Kind kind) { return isElement(kind) || isNan(kind); }) ||
      !(isBest(valueIn(behindOne)) || isNan(valueIn(behindOne))) ||
      !(isBest(valueIn(another)) || isElement(valueIn(another)) || isNan(valueIn(another))) ||
      placeIn(behindOne) != Known::At)
    return false;
  bool picks = alwaysPlace(first, Known::Position);
  Known::Kind next = placeIn(another);
  auto isBestOrNan = [&](Known::Kind kind) { return isBest(kind) || isNan(kind); };
  auto isAny = [&](Known::Kind kind) { return isBestOrNan(kind) || isElement(kind); };
  // Where NaNs leave the place alone it may be that of the beginning, wherever that lies.
  if (!picks && !(alwaysPlace(first, Known::At) && alwaysPlace(behindOne, Known::At) &&
                  alwaysPlace(another, Known::At) && alwaysValue(behindOne, isBestOrNan) &&
                  alwaysValue(another, isAny)))
    return false;
  if (!Known(next).isPlace() || (next == Known::Position && !picks))
    return false;
  match.nans = !picks                    ? Nans::EndIndex
               : next == Known::Position ? Nans::LastWins
                                         : Nans::FirstWins;
  // One search then looks for the last of equals and the first NaN.
  return !match.lastWins || match.nans == Nans::LastWins;
}

/// The one element that `value`, the better of it and `best`, is chosen from.
static Value findElement(linalg::GenericOp op, Value value, Value best) {
  Value element;
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Value, 8> seen;
  while (!open.empty()) {
    Value choice = open.pop_back_val();
    if (choice == best || !seen.insert(choice).second)
      continue;
    if (isOfElements(op, choice)) {
      if (element && element != choice)
        return {};
      element = choice;
      continue;
    }
    Operation *inner = choice.getDefiningOp();
    if (auto select = dyn_cast_or_null<arith::SelectOp>(inner))
      open.append({select.getTrueValue(), select.getFalseValue()});
    else if (inner && inner->getNumOperands() == 2)
      llvm::append_range(open, inner->getOperands());
    else
      return {};
  }
  return element;
}

/// The index of the reduction loop, of the type that is looked for.
static Value findPosition(linalg::GenericOp op, Type type) {
  Value position;
  op.getBody()->walk([&](Operation *inner) {
    if (inner->getNumResults() == 1 && inner->getResult(0).getType() == type &&
        isPosition(op, inner->getResult(0)))
      position = inner->getResult(0);
  });
  return position;
}

/// A float that everything is compared with from the beginning on is known, and
/// no NaN.
static bool mayBegin(Value init) {
  if (!isa<FloatType>(getElementTypeOrSelf(init.getType())))
    return true;
  auto fill = init.getDefiningOp<linalg::FillOp>();
  FloatAttr value;
  return fill && matchPattern(fill.getInputs()[0], m_Constant(&value)) &&
         !value.getValue().isNaN();
}

std::optional<ArgReduction> tilewright::matchArgReduction(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr) ||
      op.getNumDpsInits() != 2 || op.getNumReductionLoops() != 1 ||
      op.getNumDpsInputs() == 0)
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (map != op.getMatchingIndexingMap(op.getDpsInitOperand(1)) || !map.isProjectedPermutation())
    return std::nullopt;
  Operation *yield = op.getBody()->getTerminator();
  for (unsigned index : {1, 0}) {
    ArgReduction match;
    match.op = op;
    match.index = index;
    match.value = 1 - index;
    BlockArgument best = op.getRegionOutputArgs()[match.value];
    BlockArgument at = op.getRegionOutputArgs()[index];
    Type type = best.getType(), placeType = at.getType();
    if (!placeType.isSignlessInteger() || placeType.getIntOrFloatBitWidth() < 32 ||
        !type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8 ||
        (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 16) ||
        !mayBegin(match.init(match.value)))
      continue;
    Value newBest = yield->getOperand(match.value);
    match.position = findPosition(op, placeType);
    match.element = findElement(op, newBest, best);
    if (!match.position || !match.element)
      continue;
    for (bool isSigned : {true, false}) {
      match.isSigned = isSigned;
      Evaluator body(op, match.element, best, at, isSigned);
      if (readCases(match, body, newBest, yield->getOperand(index)))
        return match;
    }
  }
  return std::nullopt;
}
