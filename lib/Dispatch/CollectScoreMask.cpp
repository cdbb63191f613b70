// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes what a text does to scores apart: each `hide` and `add` becomes bounds (comparisons of the
// key with the query), conditions that hide for other reasons, and terms that are added.
//
//   add(select(j <= i, 0, -inf) + %bias[i, j])     bounds: j <= i     terms: %bias[i, j]

#include "ScoreMask.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

using Expression = ElementExpression;

static double toDouble(APFloat value) {
  bool loses;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

double tilewright::lowestOf(Type type) {
  return toDouble(
      APFloat::getLargest(cast<FloatType>(type).getFloatSemantics(), /*Negative=*/true));
}

bool tilewright::hidesKeys(double number, Type type) {
  // As the type has it: bf16's is larger.
  APFloat most(-1e9);
  bool loses;
  most.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
  return number <= std::max(toDouble(most), lowestOf(type));
}

/// A comparison of coordinates that holds for all that there are.
bool ScoreMask::isAlways(const Expression &visible, bool isInverted) const {
  std::optional<Linear> sum = excess(expressions, visible, isInverted);
  if (!sum || !sum->offset.symbols.empty())
    return false;
  int64_t least = sum->offset.constant;
  for (auto [coordinate, factor] : sum->factors) {
    int64_t size = expressions.sizeOf(coordinate);
    if (factor < 0 && ShapedType::isDynamic(size))
      return false;
    least += factor < 0 ? factor * (size - 1) : 0;
  }
  return least >= 0;
}

std::optional<ScoreMask::Bound> ScoreMask::matchBound(const Condition &condition) const {
  std::optional<Linear> sum = excess(expressions, *condition.expression, condition.isInverted);
  if (!sum)
    return {};
  Bound bound{condition, 0, false, sum->offset};
  unsigned others = 0;
  int64_t ofKey = 0, ofQuery = 0;
  for (auto [coordinate, factor] : sum->factors) {
    if (factor == 0)
      continue;
    if (coordinate == key) {
      ofKey = factor;
      continue;
    }
    bound.query = coordinate;
    ofQuery = factor;
    ++others;
  }
  if (others != 1 || !expressions.isAtom(bound.query) || std::abs(ofKey) != 1 ||
      ofQuery != -ofKey)
    return {};
  bound.isLower = ofKey == 1;
  return bound;
}

void ScoreMask::hide(const Expression &visible, bool isInverted, double hidden, bool isLow) {
  if (visible.is("arith.xori"))
    for (unsigned side : {0, 1}) {
      const Expression *other = visible.operands[side];
      APInt number;
      if (other->kind == Expression::Element &&
          matchPattern(other->tensor, m_ConstantInt(&number)) && number.isOne())
        return hide(*visible.operands[1 - side], !isInverted, hidden, isLow);
    }
  // All of several hide; one that the text has twice hides once.
  if (!hiding.insert({&visible, isInverted, hidden}).second)
    return;
  if (visible.is(isInverted ? "arith.ori" : "arith.andi")) {
    hide(*visible.operands[0], isInverted, hidden, isLow);
    return hide(*visible.operands[1], isInverted, hidden, isLow);
  }
  if (isAlways(visible, isInverted))
    return;
  Condition condition{&visible, isInverted, hidden, false, steps++, isLow};
  if (auto bound = matchBound(condition))
    bounds.push_back(*bound);
  else
    conditions.push_back(condition);
}

/// Nothing but zeros and -inf, which every type has.
static bool isZeroOrInfinity(const Expression &term) {
  llvm::SetVector<const Expression *> parts;
  parts.insert(&term);
  for (size_t next = 0; next < parts.size(); ++next) {
    const Expression &part = *parts[next];
    if (std::optional<double> number = part.getConstant()) {
      if (*number != 0 && *number != -std::numeric_limits<double>::infinity())
        return false;
      continue;
    }
    bool isSelect = part.is("arith.select");
    if (!isSelect && !part.is("arith.addf") && !part.is("arith.extf") && !part.is("arith.truncf"))
      return false;
    parts.insert_range(llvm::drop_begin(part.operands, isSelect));
  }
  return true;
}

void ScoreMask::add(const Expression &term) {
  if (term.getConstant() == 0.0)
    return;
  if (term.is("arith.truncf") && isZeroOrInfinity(term))
    return add(*term.operands[0]);
  // A sum of sums has more terms than ops: the second time that the text has one, it is a term.
  if (term.is("arith.addf") && sums.insert(&term).second) {
    add(*term.operands[0]);
    return add(*term.operands[1]);
  }
  if (term.is("arith.extf") && term.operands[0]->kind != Expression::Element)
    return add(*term.operands[0]);
  // A choice between a number that hides and another, or the one times 1 or 0.
  const Expression *condition = nullptr, *other = nullptr;
  std::optional<double> hidden;
  bool isInverted = false;
  for (unsigned side : {0, 1, 2}) {
    if (side >= term.operands.size() || hidden)
      continue;
    const Expression &operand = *term.operands[side];
    bool hides = operand.getConstant() && hidesKeys(*operand.getConstant(), term.type);
    if (hides && term.is("arith.select") && side > 0) {
      hidden = operand.getConstant();
      condition = term.operands[0];
      isInverted = side == 1;
      other = term.operands[3 - side];
    } else if (hides && term.is("arith.mulf") && std::isfinite(*operand.getConstant()) &&
               term.operands[1 - side]->is("arith.uitofp") &&
               term.operands[1 - side]->operands[0]->type.isInteger(1)) {
      hidden = operand.getConstant();
      condition = term.operands[1 - side]->operands[0];
      isInverted = true;
    }
  }
  if (hidden && std::isinf(*hidden)) {
    hide(*condition, isInverted, *hidden);
    return other->getConstant() == 0.0 ? void() : add(*other);
  }
  // A finite number leaves a row of which all is hidden an average.
  if (hidden && (!other || other->getConstant() == 0.0))
    if (auto bound = matchBound({condition, isInverted, *hidden, true, steps})) {
      bound->condition.expression = &term;
      bounds.push_back(*bound);
      ++steps;
      return;
    }
  terms.push_back({&term, steps++, /*hides=*/false});
}

bool ScoreMask::choosesNumber() const {
  auto isChosen = [](const Condition &condition) {
    return !std::isinf(condition.hidden) && !condition.isAdded;
  };
  return llvm::any_of(conditions, isChosen) || llvm::any_of(bounds, [&](const Bound &bound) {
           return isChosen(bound.condition);
         });
}

bool ScoreMask::anyOf(llvm::function_ref<bool(const Expression &)> isWanted) const {
  auto isAny = [&](const auto &part) { return part.expression->anyOf(isWanted); };
  return llvm::any_of(conditions, isAny) || llvm::any_of(terms, isAny) ||
         llvm::any_of(bounds, [&](const Bound &bound) { return isAny(bound.condition); });
}

std::optional<unsigned> ScoreMask::getQuery() const {
  return bounds.empty() ? std::nullopt : std::optional(bounds.front().query);
}
