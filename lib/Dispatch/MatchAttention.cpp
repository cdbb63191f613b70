// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of attention that is written in linalg: softmax, masks, scale, contraction of
// queries and keys (RaiseAttention.cpp).

#include "RaiseAttention.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

using Expression = ElementExpression;

/// What `value` is a reduction of, along the keys, by an op called `combiner` or `other`,
/// and what it starts from; or null.
const Expression *AttentionRaiser::findTerm(const Expression &value, StringRef combiner,
                                   StringRef other, Value &init) {
  auto result = value.kind == Expression::Element ? dyn_cast<OpResult>(value.tensor)
                                                  : OpResult();
  auto op = result ? dyn_cast<linalg::GenericOp>(result.getOwner()) : linalg::GenericOp();
  if (!op || op.getNumReductionLoops() != 1 || op->getNumResults() != 1)
    return nullptr;
  Operation *combine = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  BlockArgument acc = op.getBody()->getArguments().back();
  if (!combine || combine->getNumOperands() != 2 ||
      !llvm::is_contained(combine->getOperands(), acc) ||
      (combine->getName().getStringRef() != combiner &&
       combine->getName().getStringRef() != other))
    return nullptr;
  init = op.getDpsInits()[0];
  Value term = combine->getOperand(combine->getOperand(0) == acc ? 1 : 0);
  return expressions.ofScalar(op, term, loopsAt(op, result, value.coordinates, key));
}

/// The same of `element`; `start` is the number that it begins with.
bool AttentionRaiser::matchReduction(const Expression &value, StringRef combiner,
                                     StringRef other, const Expression &element,
                                     double &start) {
  Value init;
  const Expression *term = findTerm(value, combiner, other, init);
  if (!term || !expressions.isSame(*term, element))
    return false;
  auto number = expressions.ofElement(init, {})->getConstant();
  start = number.value_or(0);
  return number.has_value();
}

/// Whether the op may leave out roundings to `type`: to the type that it multiplies in, and to that
/// in which it adds.
bool AttentionRaiser::isOwn(Type type) const {
  return type == element || (type.isF32() && !element.isF64());
}

/// What is behind conversions; `narrowest` is the last type that they round to.
const Expression *AttentionRaiser::withoutConversions(const Expression *expression,
                                                      Type *narrowest) {
  while (expression->is("arith.extf") || expression->is("arith.truncf")) {
    if (expression->is("arith.truncf")) {
      if (narrowest)
        *narrowest = expression->type;
      if (!isOwn(expression->type))
        foreign = expression->type;
    }
    expression = expression->operands[0];
  }
  return expression;
}

/// A softmax is read by coordinates that a body computes, or through a reshape that does not
/// say which dims it cuts: it may be repeated, which a run decides.
bool AttentionRaiser::isGathered(Value weights) {
  bool isGathered = false;
  while (Operation *op = weights.getDefiningOp()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    auto extract = generic ? generic.getBody()->getTerminator()->getOperand(0)
                                 .getDefiningOp<tensor::ExtractOp>()
                           : tensor::ExtractOp();
    if (extract)
      weights = extract.getTensor();
    else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
      weights = op->getOperand(0);
    else
      break;
    isGathered |= bool(extract);
  }
  Coordinates at;
  for (int64_t dim = 0; dim < cast<RankedTensorType>(weights.getType()).getRank(); ++dim)
    at.push_back(expressions.addCoordinate(extentOf(weights, dim)));
  const Expression *weight = withoutConversions(expressions.ofElement(weights, at));
  if (weight->is("arith.select"))
    weight = withoutConversions(weight->operands[2]);
  return isGathered && weight->is("arith.divf") && weight->operands[0]->is("math.exp");
}

/// What `expression` chooses where it is not `special`, in place of which it has a finite number,
/// not 0 if it is divided by: `x == special ? number : x`.
static const Expression *withoutGuard(const Expression *expression, double special) {
  if (!expression->is("arith.select"))
    return expression;
  auto compare = expression->operands[0]->kind == Expression::Scalar
                     ? dyn_cast<arith::CmpFOp>(expression->operands[0]->op)
                     : arith::CmpFOp();
  arith::CmpFPredicate predicate =
      compare ? compare.getPredicate() : arith::CmpFPredicate::AlwaysFalse;
  bool isEqual = predicate == arith::CmpFPredicate::OEQ ||
                 predicate == arith::CmpFPredicate::UEQ;
  if (!isEqual && predicate != arith::CmpFPredicate::UNE &&
      predicate != arith::CmpFPredicate::ONE)
    return expression;
  auto number = expression->operands[isEqual ? 1 : 2]->getConstant();
  const Expression *other = expression->operands[isEqual ? 2 : 1];
  ArrayRef<const Expression *> compared = expression->operands[0]->operands;
  for (unsigned side : {0, 1})
    if (compared[side] == other && compared[1 - side]->getConstant() == special && number &&
        std::isfinite(*number) && *number != special)
      return other;
  return expression;
}

bool AttentionRaiser::matchSoftmax(OpOperand &weights) {
  weightsAt = coordinatesOf(second, weights, order);
  const Expression *weight =
      withoutConversions(expressions.ofElement(weights.get(), weightsAt));
  guard = nullptr;
  if (weight->is("arith.select") && weight->operands[1]->getConstant() == 0.0) {
    guard = weight->operands[0];
    weight = withoutConversions(weight->operands[2]);
  }
  const Expression *part = nullptr, *sum = nullptr;
  if (weight->is("arith.divf")) {
    part = weight->operands[0];
    sum = weight->operands[1];
  } else if (weight->is("arith.mulf")) {
    for (unsigned side : {0, 1})
      if (const Expression *inverse = weight->operands[side];
          inverse->is("arith.divf") && inverse->operands[0]->getConstant() == 1.0) {
        part = weight->operands[1 - side];
        sum = inverse->operands[1];
      }
  }
  if (!part && isGathered(weights.get()))
    return refuse("the weights are read by coordinates that are computed, as where sizes of a "
                  "run decide whether a dim is repeated");
  if (!part || !part->is("math.exp") || !part->operands[0]->is("arith.subf"))
    return false;
  const Expression *difference = part->operands[0];
  shifted = difference->operands[0];
  largest = withoutGuard(difference->operands[1], -INFINITY);
  total = withoutGuard(sum, 0);
  isGuarded = guard || largest != difference->operands[1] || total != sum;
  givesZeros = guard || (largest != difference->operands[1] && total != sum);
  if (!matchReduction(*largest, "arith.maximumf", "arith.maxnumf", *shifted, largestStart) ||
      (largestStart > -1e30 && !hidesKeys(largestStart, shifted->type)))
    return false;
  // What takes the larger number begins with NaN, too.
  Value init;
  if (std::isnan(largestStart) && findTerm(*largest, "arith.maximumf", "", init))
    return false;
  double start = 0;
  return matchReduction(*total, "arith.addf", "", *part, start) && start == 0;
}

/// Where all keys of a query are hidden, the largest score must be the number that hides them, and
/// not the one that the reduction begins with. Where numbers of memory may be below that, the text
/// has 0 / 0.
bool AttentionRaiser::matchStart() {
  if (std::isnan(largestStart) || largestStart <= lowestOf(shifted->type))
    return true;
  std::optional<double> hidden = hiding->getLowest();
  mayStartAbove = !hidden && !isGuarded;
  return mayStartAbove || (hidden && largestStart <= *hidden) ||
         refuse("the largest score begins with a number that may be above those that hide keys");
}

/// Weights may be zeros where a query sees no key, as those of the op are: where the largest
/// of the scores, or of what is added to them, is -inf, or all of them are.
bool AttentionRaiser::matchGuard() {
  if (isGuarded && overflows)
    return refuse("weights are replaced where scores are -inf, which a number that is chosen is in "
                  "the type that the text rounds them to");
  if (!guard)
    return true;
  auto operandIfInfinite = [&](const Expression &compare) -> const Expression * {
    auto op = compare.kind == Expression::Scalar ? dyn_cast<arith::CmpFOp>(compare.op)
                                                 : arith::CmpFOp();
    return op && op.getPredicate() == arith::CmpFPredicate::OEQ &&
                   compare.operands[1]->getConstant() == -INFINITY
               ? withoutConversions(compare.operands[0])
               : nullptr;
  };
  auto hides = [&](const Expression &element) {
    return llvm::any_of(ArrayRef{added, shifted}, [&](const Expression *of) {
      return of && expressions.isSame(*withoutConversions(of), element);
    });
  };
  Value init;
  if (const Expression *most = operandIfInfinite(*guard)) {
    const Expression *term = findTerm(*most, "arith.maximumf", "arith.maxnumf", init);
    // A number is never so low.
    if (term && (hides(*withoutConversions(term)) ||
                 std::isfinite(term->getConstant().value_or(NAN))))
      return true;
  } else if (const Expression *term = findTerm(*guard, "arith.andi", "", init)) {
    const Expression *element = operandIfInfinite(*term);
    if (element && hides(*element))
      return true;
  }
  return refuse("weights are replaced by zeros on a condition that is not known to mean "
                "that a query sees no key");
}

/// The scores' product is in it.
bool AttentionRaiser::isOfScores(const Expression &expression) {
  return expression.anyOf([&](const Expression &part) {
    auto op = part.isElement() ? part.tensor.getDefiningOp<linalg::GenericOp>()
                               : linalg::GenericOp();
    return op && tilewright::matchProduct(op) && llvm::is_contained(part.coordinates, key);
  });
}

/// From what goes into the exponent inwards to the contraction.
bool AttentionRaiser::matchScores(const Expression &score) {
  if (score.is("arith.extf") || score.is("arith.truncf")) {
    return matchScores(*withoutConversions(&score, &rounded));
  }
  if (score.is("arith.select")) {
    for (unsigned side : {1, 2})
      if (auto number = score.operands[side]->getConstant(); number && rounded)
        overflows |= std::isfinite(*number) && std::abs(*number) > -lowestOf(rounded);
    for (unsigned side : {1, 2})
      if (auto hidden = score.operands[side]->getConstant();
          hidden && hidesKeys(*hidden, score.type)) {
        hiding->hide(*score.operands[0], side == 1, *hidden);
        return matchScores(*score.operands[3 - side]);
      }
    for (unsigned side : {1, 2})
      if (auto chosen = score.operands[side]->getConstant(); chosen && std::isfinite(*chosen)) {
        hiding->hide(*score.operands[0], side == 1, *chosen, /*isLow=*/false);
        return matchScores(*score.operands[3 - side]);
      }
    return refuse("scores are chosen between, and neither choice is a number");
  }
  if (score.is("arith.addf")) {
    for (unsigned side : {0, 1})
      if (isOfScores(*score.operands[side])) {
        if (score.type.getIntOrFloatBitWidth() < 32)
          rounded = score.type;
        if (rounded && rounded.getIntOrFloatBitWidth() < 32)
          hiding->roundSums();
        // That it is -inf says nothing where a number is chosen in place of the sum.
        if (!added && !hiding->choosesNumber())
          added = score.operands[1 - side];
        hiding->add(*score.operands[1 - side]);
        return matchScores(*score.operands[side]);
      }
    return refuse("no term of the scores is a contraction of queries and keys");
  }
  return matchScaled(score);
}

/// A mask is no part of the op where it is computed of the scores: these would be in memory, and
/// their product computed twice.
bool AttentionRaiser::matchMask() {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation *op) {
    return op == first || (op->getBlock() == first->getBlock() && first->isBeforeInBlock(op));
  };
  auto isOfScores = [&](const Expression &part) {
    Operation *op = part.isElement() ? part.tensor.getDefiningOp() : nullptr;
    llvm::SetVector<Operation *> slice;
    return op && (failed(getBackwardSlice(op, &slice, options)) || slice.contains(first));
  };
  return !hiding->anyOf(isOfScores) ||
         refuse("what hides keys or is added to the scores is computed of them");
}

bool AttentionRaiser::matchScaled(const Expression &given) {
  const Expression &score = *withoutConversions(&given, &rounded);
  if (score.is("arith.mulf") || score.is("arith.divf")) {
    bool divides = score.is("arith.divf");
    for (unsigned side : {1, 0}) {
      auto factor = score.operands[side]->getConstant();
      if (!factor || (divides && side == 0))
        continue;
      const Expression *inner = withoutConversions(score.operands[1 - side], &rounded);
      scale *= divides ? 1 / *factor : *factor;
      if (!inner->is("math.tanh"))
        return matchScaled(*inner);
      if (scale != *factor || softcap != 0 || *factor <= 0)
        return refuse("scores are bent by tanh and multiplied more than once");
      softcap = *factor;
      return matchScaled(*inner->operands[0]);
    }
    return refuse("scores are multiplied by a number that is not known when compiling");
  }
  return matchProduct(score);
}

/// What `operand` of a contraction is read from: itself, or what has only been moved,
/// repeated, converted from the same type, and multiplied by `factor`. Of what is converted from
/// another type, what has been moved since.
Place AttentionRaiser::findFactor(linalg::GenericOp op, OpOperand &operand,
                         ArrayRef<unsigned> loops, double &factor) {
  Place itself{operand.get(), coordinatesOf(op, operand, loops)};
  const Expression *read = expressions.ofElement(itself.tensor, itself.at);
  double product = 1;
  while (true) {
    // A rounding to another type stays, in front of the op.
    while (read->is("arith.extf") || (read->is("arith.truncf") && isOwn(read->type)))
      read = read->operands[0];
    std::optional<double> by;
    const Expression *inner = nullptr;
    if (read->is("arith.mulf"))
      for (unsigned side : {0, 1})
        if ((by = read->operands[side]->getConstant())) {
          inner = read->operands[1 - side];
          break;
        }
    if (read->is("arith.divf") && (by = read->operands[1]->getConstant())) {
      inner = read->operands[0];
      by = 1 / *by;
    }
    if (!inner || !by || !std::isfinite(*by))
      break;
    product *= *by;
    read = inner;
  }
  if (!read->tensor || !isa<RankedTensorType>(read->tensor.getType()) ||
      getElementTypeOrSelf(read->tensor.getType()) !=
          getElementTypeOrSelf(operand.get().getType())) {
    expressions.throughMoves(itself.tensor, itself.at);
    return itself;
  }
  factor *= product;
  return {read->tensor, read->coordinates};
}

bool AttentionRaiser::matchProduct(const Expression &score) {
  auto result = score.kind == Expression::Element ? dyn_cast<OpResult>(score.tensor)
                                                  : OpResult();
  first = result ? dyn_cast<linalg::GenericOp>(result.getOwner()) : linalg::GenericOp();
  auto product = first ? tilewright::matchProduct(first) : std::nullopt;
  if (!product || product->perElement != 1)
    return refuse("the scores are no contraction, or computed in a way that is not known");
  if (first.getNumReductionLoops() != 1)
    return refuse("the scores are sums over several loops");
  if (expressions.ofElement(first.getDpsInits()[0], {})->getConstant() != 0.0)
    return refuse("the scores do not start from zero");
  for (auto [loop, type] : llvm::enumerate(first.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      depth = expressions.addCoordinate(extentOfLoop(first, loop));
  expressions.keepWhole(depth);
  Coordinates loops = loopsAt(first, result, score.coordinates, depth);
  for (unsigned number : {product->a, product->b}) {
    OpOperand &operand = first->getOpOperand(number);
    double factor = 1;
    Place place = findFactor(first, operand, loops, factor);
    bool isKey = llvm::is_contained(coordinatesOf(first, operand, loops), key);
    (isKey ? keys : queries) = place;
    scale *= factor;
  }
  return queries.tensor && keys.tensor
             ? true
             : refuse("the keys are no loop of one operand of the scores");
}

/// `op` computes log(total) + largest.
bool AttentionRaiser::matchLogSum(linalg::GenericOp op) {
  if (logSum == op)
    return true;
  if (logSum || op.getNumReductionLoops() || op->getNumResults() != 1)
    return false;
  for (OpOperand *operand : op.getDpsInputOperands())
    for (const Expression *of : {largest, total}) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      if (operand->get() != of->tensor || !map.isPermutation())
        continue;
      Coordinates loops(op.getNumLoops());
      for (auto [expr, at] : llvm::zip_equal(map.getResults(), of->coordinates))
        loops[cast<AffineDimExpr>(expr).getPosition()] = at;
      const Expression *sum =
          expressions.ofScalar(op, op.getBody()->getTerminator()->getOperand(0), loops);
      if (!sum->is("arith.addf"))
        continue;
      for (unsigned side : {0, 1})
        if (const Expression *log = sum->operands[side];
            log->is("math.log") && expressions.isSame(*log->operands[0], *total) &&
            expressions.isSame(*sum->operands[1 - side], *largest)) {
          logSum = op;
          logSumAt = coordinatesOf(op, *op.getDpsInitOperand(0), loops);
          return true;
        }
    }
  return false;
}

/// Something behind `op` reads what comes of it and is not in front of the second
/// contraction, nor of log-sum-exps.
bool AttentionRaiser::isUsedElsewhere(Operation *op,
                                      llvm::SmallPtrSetImpl<Operation *> &seen) {
  for (Operation *reader : op->getUsers()) {
    // A body may read it, too.
    Operation *user = op->getBlock()->findAncestorOpInBlock(*reader);
    if (!user)
      return true;
    if (user == second || !seen.insert(user).second)
      continue;
    bool isInside = isa<linalg::GenericOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                        tensor::CastOp, tensor::DimOp>(user) &&
                    user->getBlock() == op->getBlock();
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (isInside && generic && matchLogSum(generic))
      continue;
    if (!isInside || (generic && tilewright::matchProduct(generic)) ||
        (!isa<tensor::DimOp>(user) && isUsedElsewhere(user, seen)))
      return true;
  }
  return false;
}

