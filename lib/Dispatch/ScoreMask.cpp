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

/// Leaves `bound` to the mask.
void ScoreMask::keep(const Bound &bound) {
  if (bound.condition.isAdded)
    terms.push_back(bound.condition.expression);
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
  const Expression *term = terms[0];
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

/// The element of the mask: the terms' sum where the conditions let a key be seen, or whether they
/// do. `values` are those of the terms, then those of the conditions.
Value ScoreMask::writeElement(OpBuilder &b, Location loc, FloatType scoreType,
                              ValueRange values) const {
  const llvm::fltSemantics &semantics = scoreType.getFloatSemantics();
  auto number = [&](const APFloat &value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, value));
  };
  Value sum;
  for (Value term : values.take_front(terms.size())) {
    if (term.getType() != scoreType)
      term = arith::ExtFOp::create(b, loc, scoreType, term);
    sum = sum ? arith::AddFOp::create(b, loc, sum, term).getResult() : term;
  }
  bool isBoolean = this->isBoolean();
  if (!sum && !isBoolean)
    sum = number(APFloat::getZero(semantics));
  Value all;
  for (auto [condition, visible] : llvm::zip(conditions, values.drop_front(terms.size()))) {
    if (condition.isInverted) {
      Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
      visible = arith::XOrIOp::create(b, loc, visible, yes);
    }
    if (isBoolean) {
      all = all ? arith::AndIOp::create(b, loc, all, visible).getResult() : visible;
      continue;
    }
    // The lowest number, beside which any score is lost.
    APFloat hidden = std::isinf(condition.hidden)
                         ? APFloat::getInf(semantics, /*Negative=*/true)
                         : APFloat::getLargest(semantics, /*Negative=*/true);
    sum = arith::SelectOp::create(b, loc, visible, sum, number(hidden));
  }
  return isBoolean ? all : sum;
}

/// One op that computes the mask from all that is left.
Refusal ScoreMask::writeMask(OpBuilder &b, Location loc, unsigned query, FloatType scoreType,
                             const Sizes &sizes, Result &result) {
  // A row of which all is hidden has what the largest number hides, which the lowest number of a
  // type in place of each would not tell.
  std::set<double> finite;
  for (const Condition &condition : conditions)
    if (!std::isinf(condition.hidden))
      finite.insert(condition.hidden);
  if (finite.size() > 1)
    return refuse(Refused::Unrelated, "keys are hidden by several finite numbers, of which the "
                                      "largest counts where a query sees no key");
  // What is chosen last decides.
  llvm::sort(conditions, [](const Condition &left, const Condition &right) {
    return left.number > right.number;
  });
  if (llvm::any_of(terms, [&](const Expression *term) {
        return term->type.getIntOrFloatBitWidth() > scoreType.getWidth();
      }))
    return refuse(Refused::Types, "what is added to the scores is of a wider type");
  SmallVector<const Expression *> parts(terms);
  for (const Condition &condition : conditions)
    parts.push_back(condition.expression);
  result.mask = writeTensor(b, loc, parts, expressions,
                            isBoolean() ? Type(b.getI1Type()) : scoreType, {query, key},
                            sizes.of, result.maskAt, [&](OpBuilder &inner, ValueRange values) {
                              return writeElement(inner, loc, scoreType, values);
                            });
  if (!result.mask)
    return refuse(Refused::Layout,
                  "what hides keys or is added to scores cannot be computed beside them");
  result.note += result.note.empty() ? "" : "; ";
  result.note += "one op computes the mask that the text has in parts";
  return {};
}
