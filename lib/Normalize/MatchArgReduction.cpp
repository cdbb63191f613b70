// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises reductions to the best element and its place; see MatchArgReduction.h.

#include "MatchArgReduction.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

/// Whether `value` is computed without the accumulators of `op`.
static bool isOfElements(linalg::GenericOp op, Value value) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
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
    return llvm::any_of(inner->getOperands(), isAccumulator);
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

/// What a comparison says of an element and the best so far, the element first.
template <typename Compare, typename Invert>
static auto elementFirst(Compare compare, Value best, Invert invert,
                         Value &element) {
  bool isSwapped = compare.getLhs() == best;
  element = isSwapped ? compare.getRhs() : compare.getLhs();
  return isSwapped ? invert(compare.getPredicate()) : compare.getPredicate();
}

static bool matchFloats(ArgReduction &match, arith::CmpFOp compare,
                        Value best) {
  using P = arith::CmpFPredicate;
  auto swap = [](P predicate) {
    switch (predicate) {
    case P::OGT:
      return P::OLT;
    case P::OLT:
      return P::OGT;
    case P::OGE:
      return P::OLE;
    case P::OLE:
      return P::OGE;
    case P::UGT:
      return P::ULT;
    case P::ULT:
      return P::UGT;
    default:
      return P::AlwaysFalse;
    }
  };
  P predicate = elementFirst(compare, best, swap, match.element);
  match.isMax =
      predicate == P::OGT || predicate == P::OGE || predicate == P::UGT;
  match.lastWins = predicate == P::OGE || predicate == P::OLE;
  if (predicate == P::UGT || predicate == P::ULT)
    match.nans = Nans::FirstWins;
  else if (match.isMax || match.lastWins || predicate == P::OLT)
    match.nans = Nans::PassedOver;
  else
    return false;
  return true;
}

static bool matchIntegers(ArgReduction &match, arith::CmpIOp compare,
                          Value best) {
  using P = arith::CmpIPredicate;
  auto swap = [](P predicate) {
    switch (predicate) {
    case P::sgt:
      return P::slt;
    case P::slt:
      return P::sgt;
    case P::sge:
      return P::sle;
    case P::sle:
      return P::sge;
    case P::ugt:
      return P::ult;
    case P::ult:
      return P::ugt;
    case P::uge:
      return P::ule;
    case P::ule:
      return P::uge;
    default:
      return P::eq;
    }
  };
  P predicate = elementFirst(compare, best, swap, match.element);
  match.isSigned = predicate == P::sgt || predicate == P::sge ||
                   predicate == P::slt || predicate == P::sle;
  match.isMax = predicate == P::sgt || predicate == P::sge ||
                predicate == P::ugt || predicate == P::uge;
  match.lastWins = predicate == P::sge || predicate == P::sle ||
                   predicate == P::uge || predicate == P::ule;
  return predicate != P::eq && predicate != P::ne;
}

/// The comparison that decides, of `element` with `best`.
static bool matchCondition(ArgReduction &match, Value condition, Value best) {
  if (auto compare = condition.getDefiningOp<arith::CmpIOp>())
    return matchIntegers(match, compare, best);
  if (auto compare = condition.getDefiningOp<arith::CmpFOp>())
    return matchFloats(match, compare, best) && match.nans == Nans::PassedOver;
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both)
    return false;
  for (unsigned side : {0, 1}) {
    auto compare = both->getOperand(side).getDefiningOp<arith::CmpFOp>();
    auto ordered = both->getOperand(1 - side).getDefiningOp<arith::CmpFOp>();
    if (compare && ordered &&
        ordered.getPredicate() == arith::CmpFPredicate::ORD &&
        ordered.getLhs() == best && ordered.getRhs() == best)
      return matchFloats(match, compare, best) && match.nans == Nans::FirstWins;
  }
  return false;
}

/// Whether `value` is the better one of `element` and `best`, by `condition`.
static bool matchValue(ArgReduction &match, Value value, Value condition,
                       Value best) {
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return select.getCondition() == condition &&
           select.getTrueValue() == match.element &&
           select.getFalseValue() == best;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2 ||
      !((op->getOperand(0) == match.element && op->getOperand(1) == best) ||
        (op->getOperand(1) == match.element && op->getOperand(0) == best)))
    return false;
  if (!match.isFloat())
    return match.isSigned ? (match.isMax ? isa<arith::MaxSIOp>(op)
                                         : isa<arith::MinSIOp>(op))
                          : (match.isMax ? isa<arith::MaxUIOp>(op)
                                         : isa<arith::MinUIOp>(op));
  if (match.isMax ? isa<arith::MaxNumFOp>(op) : isa<arith::MinNumFOp>(op))
    return match.nans == Nans::PassedOver;
  if (!(match.isMax ? isa<arith::MaximumFOp>(op) : isa<arith::MinimumFOp>(op)))
    return false;
  if (match.nans == Nans::FirstWins)
    return true;
  match.nans = Nans::EndIndex;
  return !match.lastWins;
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
  Operation *yield = op.getBody()->getTerminator();
  for (unsigned index : {1, 0}) {
    ArgReduction match;
    match.op = op;
    match.index = index;
    match.value = 1 - index;
    BlockArgument best = op.getRegionOutputArgs()[match.value];
    BlockArgument at = op.getRegionOutputArgs()[index];
    auto choice = yield->getOperand(index).getDefiningOp<arith::SelectOp>();
    if (!choice || choice.getFalseValue() != at || !at.hasOneUse() ||
        !isPosition(op, choice.getTrueValue()) ||
        !at.getType().isSignlessInteger() ||
        at.getType().getIntOrFloatBitWidth() < 32)
      continue;
    match.position = choice.getTrueValue();
    Type type = best.getType();
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8 ||
        (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 16) ||
        !matchCondition(match, choice.getCondition(), best) ||
        !isOfElements(op, match.element) ||
        !matchValue(match, yield->getOperand(match.value),
                    choice.getCondition(), best) ||
        !mayBegin(match.init(match.value)))
      continue;
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (map != op.getMatchingIndexingMap(op.getDpsInitOperand(1)) ||
        !map.isProjectedPermutation())
      continue;
    return match;
  }
  return std::nullopt;
}
