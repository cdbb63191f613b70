// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds and conditions of scores as attributes of tilewright.attention:
//
//   place           i - j >= 0, j - i + 4 >= 0    ->   causal = "top_left", window = [4, -1]
//   placeByLength   i - j + past >= 0             ->   causal = "bottom_right", lengths
//   takeLengths     lengths[b] - j - 1 >= 0       ->   lengths

#include "ScoreMask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

using Expression = ElementExpression;

std::optional<ScoreMask::Length> ScoreMask::matchLength(const Condition &condition,
                                                       unsigned query) const {
  if (!std::isinf(condition.hidden) || condition.isAdded || isInsideFinite(condition))
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

/// Whether each query i has a key of i - before to i + behind, the narrowest of all bounds.
bool ScoreMask::seeKeys(unsigned query, const Sizes &sizes) const {
  std::optional<int64_t> before, behind;
  for (const Bound &bound : bounds) {
    // Sizes only move what is seen further behind the query.
    bool isAtLeast = llvm::all_of(bound.offset.symbols, [&](auto part) {
      return !bound.isLower && part.second >= 0 &&
             part.first.template getDefiningOp<tensor::DimOp>();
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
  OpFoldResult ofQueries = sizes.of(query), ofKeys = sizes.of(key);
  return *before >= 0 && ofQueries && ofKeys &&
         ValueBoundsConstraintSet::compare(Size(ofQueries), ValueBoundsConstraintSet::LE,
                                           Size(ofKeys));
}

/// Whether what is added does not choose keys: a distance times a slope, say, and no number of
/// memory for each key, which may hide it, nor one that hides.
bool ScoreMask::addsNoMask(const Term &term) const {
  constexpr int64_t kHidesAsInteger = 1 << 20;
  return !term.expression->anyOf([&](const Expression &part) {
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

std::optional<double> ScoreMask::getLowest() const {
  // Numbers that are chosen take each other's place.
  double added = 0, chosen = 0;
  bool isKnown = llvm::all_of(terms, [&](const Term &term) { return addsNoMask(term); });
  auto take = [&](const Condition &condition) {
    if (std::isinf(condition.hidden))
      return;
    if (condition.isAdded)
      added += condition.hidden;
    else
      chosen = std::min(chosen, condition.hidden);
    isKnown &= condition.isAdded || llvm::all_of(terms, [&](const Term &term) {
      return term.number > condition.number;
    });
  };
  for (const Bound &bound : bounds)
    take(bound.condition);
  llvm::for_each(conditions, take);
  return isKnown ? std::optional(added + chosen) : std::nullopt;
}

/// Whether the scores of a query may all be -inf: what is added may be anything.
bool ScoreMask::mayHideAll(unsigned query, const Sizes &sizes) const {
  auto isInfinite = [](const Condition &condition) { return std::isinf(condition.hidden); };
  return llvm::any_of(conditions, isInfinite) ||
         llvm::any_of(terms, [&](const Term &term) { return !addsNoMask(term); }) ||
         (!seeKeys(query, sizes) && llvm::any_of(bounds, [&](const Bound &bound) {
           return isInfinite(bound.condition);
         }));
}

/// Whether a finite number is chosen later, in place of the -inf of `condition`.
bool ScoreMask::isInsideFinite(const Condition &condition) const {
  return llvm::any_of(conditions, [&](const Condition &other) {
    return !std::isinf(other.hidden) && other.number < condition.number;
  });
}

/// Comparisons that hide by a finite number hide as -inf does where it is low, each query sees a
/// key and nothing else hides any; else they are conditions and terms like others. So are then those
/// of -inf in place of which a finite number is chosen.
void ScoreMask::takeFiniteBounds(unsigned query, const Sizes &sizes) {
  auto isFinite = [](const Bound &bound) { return !std::isinf(bound.condition.hidden); };
  bool areLow = llvm::all_of(bounds, [](const Bound &bound) { return bound.condition.isLow; });
  if (conditions.empty() && areLow && seeKeys(query, sizes) &&
      llvm::all_of(terms, [&](const Term &term) { return addsNoMask(term); }))
    return;
  for (const Bound &bound : bounds)
    if (isFinite(bound))
      keep(bound);
  llvm::erase_if(bounds, isFinite);
  auto isInside = [&](const Bound &bound) { return isInsideFinite(bound.condition); };
  for (const Bound &bound : bounds)
    if (isInside(bound))
      keep(bound);
  llvm::erase_if(bounds, isInside);
}

/// Comparisons with the lengths of a batch, however often the text has them, and with diagonals
/// that end there.
void ScoreMask::takeLengths(OpBuilder &b, unsigned query, const Sizes &sizes, Result &result) {
  // What is left of an offset beside `factor` times the number of queries.
  auto beside = [&](const Offset &offset, int64_t factor) -> std::optional<int64_t> {
    int64_t size = expressions.sizeOf(query);
    if (!ShapedType::isDynamic(size))
      return offset.symbols.empty() ? std::optional(offset.constant - factor * size)
                                    : std::nullopt;
    if (offset.symbols.size() != 1 || offset.symbols[0].second != factor ||
        !sizes.isQueries(offset.symbols[0].first))
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

/// Puts bounds into `causal` and `window`; false if they are not of that form.
bool ScoreMask::place(unsigned query, const Sizes &sizes, Result &result) const {
  int64_t keys = expressions.sizeOf(key), queries = expressions.sizeOf(query);
  bool isKnown = !ShapedType::isDynamic(keys) && !ShapedType::isDynamic(queries);
  // How many times keys - queries an offset has, and what else.
  auto dissect = [&](const Offset &offset) -> std::optional<std::pair<int64_t, int64_t>> {
    int64_t ofKeys = 0, ofQueries = 0, rest = offset.constant;
    for (auto [symbol, factor] : offset.symbols) {
      if (sizes.isKeys(symbol))
        ofKeys += factor;
      else if (sizes.isQueries(symbol))
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
  for (const Bound &bound : bounds) {
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

/// The number of queries and how far the diagonal is past them, as a tensor of one i64.
static Value writeLength(OpBuilder &b, Location loc, OpFoldResult queries, const Offset &past) {
  auto type = RankedTensorType::get({}, b.getI64Type());
  auto known = getConstantIntValue(queries);
  if (known && past.symbols.empty())
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(type, *known + past.constant));
  Value sum = arith::AddIOp::create(
      b, loc, getValueOrCreateConstantIndexOp(b, loc, queries),
      arith::ConstantIndexOp::create(b, loc, past.constant));
  for (auto [symbol, times] : past.symbols) {
    Value term = symbol;
    if (!term.getType().isIndex())
      term = arith::IndexCastOp::create(b, loc, b.getIndexType(), term);
    if (times != 1)
      term = arith::MulIOp::create(b, loc, term, arith::ConstantIndexOp::create(b, loc, times));
    sum = arith::AddIOp::create(b, loc, sum, term);
  }
  Value length = arith::IndexCastOp::create(b, loc, b.getI64Type(), sum);
  return tensor::FromElementsOp::create(b, loc, type, length);
}

/// Puts bounds around a diagonal anywhere into `causal` and `window`: by a length that ends there.
/// Keys behind it are hidden anyway, and it may be more than there are:
///   j <= i + past   ->   causal = "bottom_right", lengths = past + queries
bool ScoreMask::placeByLength(OpBuilder &b, Location loc, unsigned query, const Sizes &sizes,
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
  result.lengths = writeLength(b, loc, sizes.of(query), *upper);
  result.isBottomRight = true;
  result.note = "a length says where the diagonal lies, which the numbers of queries and keys do "
                "not";
  return true;
}
