// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScoreMask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

using Expression = ElementExpression;

bool tilewright::hidesKeys(double number, Type type) {
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  auto toDouble = [](APFloat value) {
    bool loses;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    return value.convertToDouble();
  };
  // As the type has it: bf16's is larger.
  APFloat most(-1e9);
  bool loses;
  most.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
  return number <= std::max(toDouble(most),
                            toDouble(APFloat::getLargest(semantics, /*Negative=*/true)));
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

std::optional<ScoreMask::Length> ScoreMask::matchLength(const Condition &condition,
                                                       unsigned query) const {
  if (!std::isinf(condition.hidden) || condition.isAdded)
    return {};
  std::optional<Linear> sum =
      excess(expressions, *condition.expression, condition.isInverted, /*takesElements=*/true);
  if (!sum || sum->elements.size() != 1)
    return {};
  auto [element, ofElement] = sum->elements[0];
  int64_t ofQuery = 0;
  for (auto [coordinate, factor] : sum->factors)
    if (coordinate == query)
      ofQuery = factor;
    else if (factor != (coordinate == key ? -ofElement : 0))
      return {};
  bool isInteger = element->type.isInteger(32) || element->type.isInteger(64);
  Coordinates atoms = expressions.atomsOf(*element);
  if (!isInteger || !sum->factors.contains(key) || std::abs(ofElement) != 1 ||
      llvm::is_contained(atoms, query) || llvm::is_contained(atoms, key))
    return {};
  // The one query's number is 0.
  if (ofQuery == 0 && ofElement == -1 && expressions.sizeOf(query) == 1)
    ofQuery = -1;
  if (ofQuery == ofElement)
    return Length{element, int(ofQuery), sum->offset};
  if (ofQuery != 0 || ofElement != 1 || sum->offset.constant != -1 ||
      !sum->offset.symbols.empty())
    return {};
  return Length{element, 0, {}};
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

void ScoreMask::hide(const Expression &visible, bool isInverted, double hidden) {
  if (visible.is("arith.xori"))
    for (unsigned side : {0, 1}) {
      const Expression *other = visible.operands[side];
      APInt number;
      if (other->kind == Expression::Element &&
          matchPattern(other->tensor, m_ConstantInt(&number)) && number.isOne())
        return hide(*visible.operands[1 - side], !isInverted, hidden);
    }
  // All of several hide; one that the text has twice hides once.
  if (!hiding.insert({&visible, isInverted, hidden}).second)
    return;
  if (visible.is(isInverted ? "arith.ori" : "arith.andi")) {
    hide(*visible.operands[0], isInverted, hidden);
    return hide(*visible.operands[1], isInverted, hidden);
  }
  if (isAlways(visible, isInverted))
    return;
  Condition condition{&visible, isInverted, hidden, false};
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
    if (auto bound = matchBound({condition, isInverted, *hidden, true})) {
      bound->condition.expression = &term;
      bounds.push_back(*bound);
      return;
    }
  terms.push_back(&term);
}

std::optional<unsigned> ScoreMask::getQuery() const {
  return bounds.empty() ? std::nullopt : std::optional(bounds.front().query);
}

/// Whether each query i has a key of i - before to i + behind, the narrowest of all bounds.
bool ScoreMask::seeKeys(unsigned query,
                        llvm::function_ref<OpFoldResult(unsigned)> sizeOf) const {
  std::optional<int64_t> before, behind;
  for (const Bound &bound : bounds) {
    // Sizes only move what is seen further behind the query.
    bool isAtLeast = llvm::all_of(bound.offset.symbols, [&](auto part) {
      return !bound.isLower && part.second >= 0 && part.first.template getDefiningOp<tensor::DimOp>();
    });
    int64_t offset = bound.offset.constant;
    if (!isAtLeast || bound.query != query)
      return false;
    auto &narrowest = bound.isLower ? before : behind;
    narrowest = std::min(narrowest.value_or(offset), offset);
  }
  // The first query sees the first key; what two bounds leave is not empty.
  if (behind && (*behind < 0 || (before && *before + *behind < 0)))
    return false;
  if (!before)
    return true;
  // The last query sees the last key.
  int64_t keys = expressions.sizeOf(key), queries = expressions.sizeOf(query);
  if (!ShapedType::isDynamic(keys) && !ShapedType::isDynamic(queries))
    return queries - 1 - *before <= keys - 1;
  using Size = ValueBoundsConstraintSet::Variable;
  OpFoldResult ofQueries = sizeOf(query), ofKeys = sizeOf(key);
  return *before >= 0 && ofQueries && ofKeys &&
         ValueBoundsConstraintSet::compare(Size(ofQueries), ValueBoundsConstraintSet::LE,
                                           Size(ofKeys));
}

/// Whether what is added does not choose keys: a distance times a slope, say, and no number of
/// memory for each key, which may hide it, nor one that hides.
bool ScoreMask::addsNoMask(const Expression &term) const {
  constexpr int64_t kHidesAsInteger = 1 << 20;
  return !term.anyOf([&](const Expression &part) {
    if (std::optional<double> number = part.getConstant())
      return hidesKeys(-std::abs(*number), part.type);
    APInt integer;
    if (part.kind == Expression::Element && matchPattern(part.tensor, m_ConstantInt(&integer)))
      return integer.abs().uge(kHidesAsInteger);
    return (part.kind == Expression::Scalar && !part.isSimple()) ||
           (part.kind == Expression::Element &&
            llvm::is_contained(expressions.atomsOf(part), key));
  });
}

/// Comparisons that hide by a finite number hide as -inf does where each query sees a key and
/// nothing else hides any; else they are conditions and terms like others.
void ScoreMask::takeFiniteBounds(unsigned query,
                                 llvm::function_ref<OpFoldResult(unsigned)> sizeOf) {
  auto isFinite = [](const Bound &bound) { return !std::isinf(bound.condition.hidden); };
  if (llvm::none_of(bounds, isFinite) ||
      (conditions.empty() && seeKeys(query, sizeOf) &&
       llvm::all_of(terms, [&](const Expression *term) { return addsNoMask(*term); })))
    return;
  for (const Bound &bound : bounds) {
    if (!isFinite(bound))
      continue;
    if (bound.condition.isAdded)
      terms.push_back(bound.condition.expression);
    else
      conditions.push_back(bound.condition);
  }
  llvm::erase_if(bounds, isFinite);
}

/// Comparisons with the lengths of a batch, however often the text has them, and with diagonals
/// that end there.
void ScoreMask::takeLengths(OpBuilder &b, unsigned query,
                            llvm::function_ref<bool(Value)> isQueries, Result &result) {
  // What is left of an offset beside `factor` times the number of queries.
  auto beside = [&](const Offset &offset, int64_t factor) -> std::optional<int64_t> {
    int64_t size = expressions.sizeOf(query);
    if (!ShapedType::isDynamic(size))
      return offset.symbols.empty() ? std::optional(offset.constant - factor * size)
                                    : std::nullopt;
    if (offset.symbols.size() != 1 || offset.symbols[0].second != factor ||
        !isQueries(offset.symbols[0].first))
      return {};
    return offset.constant;
  };
  auto isDiagonal = [&](const Length &length) {
    return length.ofQuery == 1 && bounds.empty() && beside(length.offset, -1) == 0;
  };
  const Expression *found = nullptr;
  // One query's diagonal is its length.
  bool isOne = expressions.sizeOf(query) == 1 && bounds.empty();
  for (const Condition &condition : conditions) {
    std::optional<Length> length = matchLength(condition, query);
    if (!length || (length->ofQuery != 0 && !isDiagonal(*length)))
      continue;
    if (!found && (result.lengths = reshapeToAtoms(b, length->element->tensor,
                                                   length->element->coordinates, expressions,
                                                   result.lengthsAt)))
      found = length->element;
    if (found && expressions.isSame(*found, *length->element))
      result.isBottomRight |= length->ofQuery == 1;
  }
  if (!found)
    return;
  for (const Condition &condition : conditions)
    if (auto length = matchLength(condition, query); length && isOne && length->ofQuery == -1)
      result.isBottomRight |= expressions.isSame(*found, *length->element);
  llvm::erase_if(conditions, [&](const Condition &condition) {
    std::optional<Length> length = matchLength(condition, query);
    if (!length || !expressions.isSame(*found, *length->element))
      return false;
    if (length->ofQuery != -1)
      return length->ofQuery == 0 || isDiagonal(*length);
    std::optional<int64_t> before = beside(length->offset, 1);
    if (!result.isBottomRight || !before || *before < 0)
      return false;
    result.before = result.before < 0 ? *before : std::min(result.before, *before);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Attributes and masks
//===----------------------------------------------------------------------===//

/// Puts bounds into `causal` and `window`; false if they are not of that form.
bool ScoreMask::place(ArrayRef<Bound> all, unsigned query,
                      llvm::function_ref<bool(Value)> isKeys,
                      llvm::function_ref<bool(Value)> isQueries, Result &result) const {
  int64_t keys = expressions.sizeOf(key), queries = expressions.sizeOf(query);
  bool isKnown = !ShapedType::isDynamic(keys) && !ShapedType::isDynamic(queries);
  // How many times keys - queries an offset has, and what else.
  auto dissect = [&](const Offset &offset) -> std::optional<std::pair<int64_t, int64_t>> {
    int64_t ofKeys = 0, ofQueries = 0, rest = offset.constant;
    for (auto [symbol, factor] : offset.symbols) {
      if (isKeys(symbol))
        ofKeys += factor;
      else if (isQueries(symbol))
        ofQueries += factor;
      else if (factor != 0)
        return {};
    }
    // The size that is known is in the constant.
    if (ofKeys != 0 && ofQueries == 0 && !ShapedType::isDynamic(queries)) {
      rest += ofKeys * queries;
      ofQueries = -ofKeys;
    } else if (ofQueries != 0 && ofKeys == 0 && !ShapedType::isDynamic(keys)) {
      rest += ofQueries * keys;
      ofKeys = -ofQueries;
    }
    if (ofKeys != -ofQueries)
      return {};
    return std::pair(ofKeys, rest);
  };
  std::optional<std::pair<int64_t, int64_t>> upper, lower;
  for (const Bound &bound : all) {
    auto parts = dissect(bound.offset);
    auto &known = bound.isLower ? lower : upper;
    if (!parts || bound.query != query || (known && known->first != parts->first))
      return false;
    known = known ? std::pair(known->first, std::min(known->second, parts->second)) : *parts;
  }
  int64_t shift = isKnown ? keys - queries : 0; // of the diagonal, where known
  if (upper) {
    auto [times, rest] = *upper;
    if (isKnown)
      rest += times * shift;
    if (rest == 0 && (isKnown || times == 0))
      result.isTopLeft = true;
    else if (isKnown ? rest == shift : times == 1 && rest == 0)
      result.isBottomRight = true;
    else if (rest > 0 && (isKnown || times == 0))
      result.behind = rest;
    else
      return false;
  }
  if (lower) {
    auto [times, rest] = *lower;
    if (isKnown)
      rest += times * shift + (result.isBottomRight ? shift : 0);
    else if (times != (result.isBottomRight ? -1 : 0))
      return false;
    if (rest < 0)
      return false;
    result.before = rest;
  }
  return true;
}

/// Puts bounds around a diagonal anywhere into `causal` and `window`: by a length that ends there.
/// Keys behind it are hidden anyway, and it may be more than there are:
///   j <= i + past   ->   causal = "bottom_right", lengths = past + queries
bool ScoreMask::placeByLength(OpBuilder &b, Location loc, unsigned query,
                              llvm::function_ref<OpFoldResult(unsigned)> sizeOf,
                              Result &result) const {
  // Sums of offsets whose symbols go away.
  auto plus = [](const Offset &left, const Offset &right,
                 int64_t factor) -> std::optional<int64_t> {
    Offset sum = left;
    sum.constant += factor * right.constant;
    for (auto [symbol, times] : right.symbols)
      addSymbol(sum, symbol, factor * times);
    bool isConstant = llvm::all_of(sum.symbols, [](auto part) { return part.second == 0; });
    return isConstant ? std::optional(sum.constant) : std::nullopt;
  };
  const Offset *upper = nullptr;
  for (const Bound &bound : bounds) {
    if (bound.query != query)
      return false;
    if (bound.isLower)
      continue;
    std::optional<int64_t> further = upper ? plus(bound.offset, *upper, -1) : 0;
    if (!further)
      return false;
    if (!upper || *further < 0)
      upper = &bound.offset;
  }
  if (!upper)
    return false;
  // Sums of narrower integers may wrap around.
  for (auto [symbol, times] : upper->symbols)
    if (!symbol.getType().isIndex() && !symbol.getType().isInteger(64))
      return false;
  for (const Bound &bound : bounds) {
    if (!bound.isLower)
      continue;
    std::optional<int64_t> before = plus(bound.offset, *upper, 1);
    if (!before || *before < 0)
      return false;
    result.before = result.before < 0 ? *before : std::min(result.before, *before);
  }
  auto type = RankedTensorType::get({}, b.getI64Type());
  OpFoldResult queries = sizeOf(query);
  auto known = getConstantIntValue(queries);
  if (known && upper->symbols.empty()) {
    result.lengths = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, *known + upper->constant));
  } else {
    Value sum = arith::AddIOp::create(
        b, loc, getValueOrCreateConstantIndexOp(b, loc, queries),
        arith::ConstantIndexOp::create(b, loc, upper->constant));
    for (auto [symbol, times] : upper->symbols) {
      Value term = symbol;
      if (!term.getType().isIndex())
        term = arith::IndexCastOp::create(b, loc, b.getIndexType(), term);
      if (times != 1)
        term = arith::MulIOp::create(b, loc, term, arith::ConstantIndexOp::create(b, loc, times));
      sum = arith::AddIOp::create(b, loc, sum, term);
    }
    Value length = arith::IndexCastOp::create(b, loc, b.getI64Type(), sum);
    result.lengths = tensor::FromElementsOp::create(b, loc, type, length);
  }
  result.isBottomRight = true;
  result.note = "a length says where the diagonal lies, which the numbers of queries and keys do "
                "not";
  return true;
}

Refusal ScoreMask::resolve(OpBuilder &b, Location loc, unsigned query, Type queryType,
                           FloatType scoreType, llvm::function_ref<bool(Value)> isKeys,
                           llvm::function_ref<bool(Value)> isQueries,
                           llvm::function_ref<OpFoldResult(unsigned)> sizeOf, Result &result) {
  takeFiniteBounds(query, sizeOf);
  if (!place(bounds, query, isKeys, isQueries, result)) {
    result = {};
    if (!placeByLength(b, loc, query, sizeOf, result)) {
      result = {};
      for (const Bound &bound : bounds)
        if (bound.condition.isAdded)
          terms.push_back(bound.condition.expression);
        else
          conditions.push_back(bound.condition);
    }
  }
  // That diagonal would end at the length.
  if (!result.isBottomRight)
    takeLengths(b, query, isQueries, result);
  if (conditions.empty() && terms.empty())
    return {};
  auto take = [&](Value tensor, ArrayRef<unsigned> at) {
    result.mask = reshapeToAtoms(b, tensor, at, expressions, result.maskAt);
    return result.mask ? Refusal() : refuse(Refused::Unrelated, "");
  };
  bool isInfinite = llvm::all_of(
      conditions, [](const Condition &c) { return std::isinf(c.hidden); });
  if (terms.empty() && conditions.size() == 1 && isInfinite && !conditions[0].isInverted &&
      conditions[0].expression->isElement())
    return take(conditions[0].expression->tensor, conditions[0].expression->coordinates);
  if (conditions.empty() && terms.size() == 1) {
    // As it is in memory, if that is no larger than it has to be.
    const Expression *term = terms[0];
    if (term->is("arith.extf") && term->operands[0]->isElement() &&
        term->operands[0]->type == queryType)
      term = term->operands[0];
    bool isFloat = term->type == queryType || term->type == scoreType;
    if (isFloat && term->tensor && isa<RankedTensorType>(term->tensor.getType()) &&
        (term->isElement() || expressions.atomsOf(term->coordinates).size() ==
                                  expressions.atomsOf(*term).size()))
      return take(term->tensor, term->coordinates);
  }
  SmallVector<const Expression *> parts(terms);
  for (const Condition &condition : conditions)
    parts.push_back(condition.expression);
  bool isBoolean = terms.empty() && isInfinite;
  const llvm::fltSemantics &semantics = scoreType.getFloatSemantics();
  auto number = [&](OpBuilder &inner, const APFloat &value) {
    return arith::ConstantOp::create(inner, loc, b.getFloatAttr(scoreType, value));
  };
  auto write = [&](OpBuilder &inner, ValueRange values) -> Value {
    Value sum;
    for (Value term : values.take_front(terms.size())) {
      if (term.getType() != scoreType)
        term = arith::ExtFOp::create(inner, loc, scoreType, term);
      sum = sum ? arith::AddFOp::create(inner, loc, sum, term).getResult() : term;
    }
    if (!sum && !isBoolean)
      sum = number(inner, APFloat::getZero(semantics));
    Value all;
    for (auto [condition, visible] : llvm::zip(conditions, values.drop_front(terms.size()))) {
      if (condition.isInverted) {
        Value yes = arith::ConstantOp::create(inner, loc, b.getBoolAttr(true));
        visible = arith::XOrIOp::create(inner, loc, visible, yes);
      }
      if (isBoolean) {
        all = all ? arith::AndIOp::create(inner, loc, all, visible).getResult() : visible;
        continue;
      }
      // The lowest number, beside which any score is lost.
      APFloat hidden = std::isinf(condition.hidden)
                           ? APFloat::getInf(semantics, /*Negative=*/true)
                           : APFloat::getLargest(semantics, /*Negative=*/true);
      sum = arith::SelectOp::create(inner, loc, visible, sum, number(inner, hidden));
    }
    return isBoolean ? all : sum;
  };
  if (llvm::any_of(terms, [&](const Expression *term) {
        return term->type.getIntOrFloatBitWidth() > scoreType.getWidth();
      }))
    return refuse(Refused::Types, "what is added to the scores is of a wider type");
  result.mask = writeTensor(b, loc, parts, expressions,
                            isBoolean ? Type(b.getI1Type()) : scoreType, {query, key},
                            sizeOf, result.maskAt, write);
  if (!result.mask)
    return refuse(Refused::Layout,
                  "what hides keys or is added to scores cannot be computed beside them");
  result.note += result.note.empty() ? "" : "; ";
  result.note += "one op computes the mask that the text has in parts";
  return {};
}
