// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives tilewright.attention what was collected of a text's mask: attributes where these say it
// (PlaceScoreBounds.cpp), a tensor in memory as it is, else one that an op computes.

#include "ScoreMask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

using Expression = ElementExpression;

/// Scores of some thousands are lost in f32 beside numbers up to this one.
static constexpr double kLosesScores = -1e12;

/// Leaves `bound` to the mask.
void ScoreMask::keep(const Bound &bound) {
  if (bound.condition.isAdded)
    terms.push_back({bound.condition.expression, bound.condition.number, /*hides=*/true});
  else
    conditions.push_back(bound.condition);
}

Refusal ScoreMask::resolve(OpBuilder &b, Location loc, unsigned query, Type queryType,
                           FloatType scoreType, const Sizes &sizes, Result &result) {
  bool mayHide = mayHideAll(query, sizes);
  takeFiniteBounds(query, sizes);
  if (!place(query, sizes, result)) {
    result = {};
    if (!placeByLength(b, loc, query, sizes, result)) {
      result = {};
      for (const Bound &bound : bounds)
        keep(bound);
    }
  }
  result.mayHideAll = mayHide;
  // That diagonal would end at the length.
  if (!result.isBottomRight)
    takeLengths(b, query, sizes, result);
  if (conditions.empty() && terms.empty())
    return {};
  if (const Expression *inMemory = findInMemory(queryType, scoreType)) {
    result.mask = reshapeToAtoms(b, inMemory->tensor, inMemory->coordinates, expressions,
                                 result.maskAt);
    return result.mask ? Refusal() : refuse(Refused::Unrelated, "");
  }
  return writeMask(b, loc, query, scoreType, sizes, result);
}

/// Whether all that is left hides keys by -inf: the mask is of i1 then.
bool ScoreMask::isBoolean() const {
  return terms.empty() && llvm::all_of(conditions, [](const Condition &condition) {
           return std::isinf(condition.hidden);
         });
}

/// What is left, if it is one tensor in memory that can be the mask as it is.
const Expression *ScoreMask::findInMemory(Type queryType, FloatType scoreType) const {
  if (isBoolean() && conditions.size() == 1 && !conditions[0].isInverted &&
      conditions[0].expression->isElement())
    return conditions[0].expression;
  if (!conditions.empty() || terms.size() != 1)
    return nullptr;
  const Expression *term = terms[0].expression;
  if (term->is("arith.extf") && term->operands[0]->isElement() &&
      term->operands[0]->type == queryType)
    term = term->operands[0];
  bool isFloat = term->type == queryType || term->type == scoreType;
  if (!isFloat || !term->tensor || !isa<RankedTensorType>(term->tensor.getType()))
    return nullptr;
  // If it is no larger than it has to be.
  if (!term->isElement() && expressions.atomsOf(term->coordinates).size() !=
                                expressions.atomsOf(*term).size())
    return nullptr;
  return term;
}

/// What is done first comes first. Where nothing but -inf is chosen, the order does not matter.
SmallVector<ScoreMask::Part> ScoreMask::getParts() const {
  SmallVector<Part> parts;
  for (const Term &term : terms)
    parts.push_back({nullptr, &term});
  for (const Condition &condition : conditions)
    parts.push_back({&condition, nullptr});
  auto isFinite = [](const Condition &condition) { return !std::isinf(condition.hidden); };
  if (llvm::any_of(conditions, isFinite))
    llvm::sort(parts, [](const Part &left, const Part &right) {
      return left.number() > right.number();
    });
  return parts;
}

/// Whether the text rounds a sum of the finite number of `condition` and what is added to it, which
/// may be lost then; the op adds in the type of the scores.
bool ScoreMask::isInRoundedSum(const Condition &condition) const {
  return !std::isinf(condition.hidden) && condition.hidden > kLosesScores &&
         llvm::any_of(terms, [&](const Term &term) {
           return term.number >= roundedFrom && term.number < condition.number;
         });
}

/// Whether a number that is chosen in the place of scores counts: where it does not hide keys, and
/// in a row of which all is hidden, if there are other such numbers, or anything is added beside it
/// that hides keys, too, or tells them apart.
bool ScoreMask::needsKeep(FloatType scoreType) const {
  std::set<double> finite;
  for (const Condition &condition : conditions)
    if (!std::isinf(condition.hidden)) {
      finite.insert(condition.hidden);
      if (!condition.isLow)
        return true;
    }
  auto isBeside = [&](const Term &term) {
    return term.hides || (scoreType.isF32() && !addsNoMask(term)) ||
           llvm::any_of(conditions, [&](const Condition &condition) {
             return !std::isinf(condition.hidden) && term.number < condition.number;
           });
  };
  return finite.size() > 1 || (!finite.empty() && *finite.begin() > kLosesScores &&
                               llvm::any_of(terms, isBeside));
}

/// The number in the mask for what `condition` hides: the text's own where the mask takes the
/// score's place. Else it is added to the score, which the text replaces: beside the lowest number
/// any score is lost. Beside terms that may hide keys, too, it is the text's own, where scores are
/// lost beside that.
double ScoreMask::getWritten(const Condition &condition, FloatType scoreType) const {
  if (needsKeep(scoreType))
    return condition.hidden;
  bool mayTermsHide =
      llvm::any_of(terms, [&](const Term &term) { return !addsNoMask(term); });
  if (std::isinf(condition.hidden) ||
      (mayTermsHide && scoreType.isF32() && condition.hidden <= kLosesScores))
    return condition.hidden;
  return lowestOf(scoreType);
}

/// The element of the mask: the terms' sum where the conditions let a key be seen, or whether they
/// do. `values` are those of `parts`.
Value ScoreMask::writeElement(OpBuilder &b, Location loc, FloatType scoreType,
                              ArrayRef<Part> parts, ValueRange values) const {
  auto number = [&](double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, value));
  };
  bool isBoolean = this->isBoolean();
  Value sum, all;
  for (auto [part, value] : llvm::zip_equal(parts, values)) {
    if (part.term) {
      if (value.getType() != scoreType)
        value = arith::ExtFOp::create(b, loc, scoreType, value);
      sum = sum ? arith::AddFOp::create(b, loc, sum, value).getResult() : value;
      continue;
    }
    if (part.condition->isInverted) {
      Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
      value = arith::XOrIOp::create(b, loc, value, yes);
    }
    if (isBoolean) {
      all = all ? arith::AndIOp::create(b, loc, all, value).getResult() : value;
      continue;
    }
    if (!sum)
      sum = number(0);
    sum = arith::SelectOp::create(b, loc, value, sum,
                                  number(getWritten(*part.condition, scoreType)));
  }
  return isBoolean ? all : sum;
}

/// Where no number is chosen in the place of a score: a tensor in memory, or an op computes it.
Refusal ScoreMask::writeKeep(OpBuilder &b, Location loc, unsigned query, const Sizes &sizes,
                             Result &result) {
  SmallVector<const Condition *> finite;
  for (const Condition &condition : conditions)
    if (!std::isinf(condition.hidden))
      finite.push_back(&condition);
  const Expression *first = finite[0]->expression;
  if (finite.size() == 1 && !finite[0]->isInverted && first->isElement())
    result.keep = reshapeToAtoms(b, first->tensor, first->coordinates, expressions, result.keepAt);
  if (result.keep)
    return {};
  SmallVector<const Expression *> elements;
  for (const Condition *condition : finite)
    elements.push_back(condition->expression);
  result.keep = writeTensor(
      b, loc, elements, expressions, b.getI1Type(), {query, key}, sizes.of, result.keepAt,
      [&](OpBuilder &inner, ValueRange values) {
        Value all;
        for (auto [condition, value] : llvm::zip_equal(finite, values)) {
          if (condition->isInverted) {
            Value yes = arith::ConstantOp::create(inner, loc, inner.getBoolAttr(true));
            value = arith::XOrIOp::create(inner, loc, value, yes);
          }
          all = all ? arith::AndIOp::create(inner, loc, all, value).getResult() : value;
        }
        return all;
      });
  if (!result.keep)
    return refuse(Refused::Layout, "what chooses between scores and a number cannot be computed "
                                   "beside them");
  return {};
}

/// One op that computes the mask from all that is left.
Refusal ScoreMask::writeMask(OpBuilder &b, Location loc, unsigned query, FloatType scoreType,
                             const Sizes &sizes, Result &result) {
  if (llvm::any_of(terms, [&](const Term &term) {
        return term.expression->type.getIntOrFloatBitWidth() > scoreType.getWidth();
      }))
    return refuse(Refused::Types, "what is added to the scores is of a wider type");
  if (llvm::any_of(conditions,
                   [&](const Condition &condition) { return isInRoundedSum(condition); }))
    return refuse(Refused::Types, "keys are hidden by a finite number that is chosen, and the text "
                                  "rounds sums of it and what is added");
  SmallVector<Part> parts = getParts();
  SmallVector<const Expression *> elements;
  for (const Part &part : parts)
    elements.push_back(part.condition ? part.condition->expression : part.term->expression);
  result.mask = writeTensor(b, loc, elements, expressions,
                            isBoolean() ? Type(b.getI1Type()) : scoreType, {query, key},
                            sizes.of, result.maskAt, [&](OpBuilder &inner, ValueRange values) {
                              return writeElement(inner, loc, scoreType, parts, values);
                            });
  if (!result.mask)
    return refuse(Refused::Layout,
                  "what hides keys or is added to scores cannot be computed beside them");
  result.note += result.note.empty() ? "" : "; ";
  result.note += "one op computes the mask that the text has in parts";
  if (!needsKeep(scoreType))
    return {};
  result.note += "; where the text chooses a number, the mask takes the score's place";
  return writeKeep(b, loc, query, sizes, result);
}
