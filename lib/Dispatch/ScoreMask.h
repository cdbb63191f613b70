// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What hides keys from queries, and what is added to scores: collected from a program's
// text term by term, then put into what tilewright.attention has for it.
//
//   select(j <= i, 0, -inf) + select(%seen[b, j], 0, -inf) + %bias[i, j]
//     ->  causal = "top_left", mask = select(%seen[b, j], %bias[i, j], -inf)
//   select(%seen[b, j], score, -1e4) + %bias[i, j]
//     ->  keep = %seen, mask = select(%seen[b, j], 0, -1e4) + %bias[i, j]
//
// Comparisons of coordinates become `causal` and `window`, with `lengths` where the numbers of
// queries and keys do not give the diagonal; of keys with a number of their batch, `lengths`; one
// tensor of i1 or of floats is the mask as it is; all else is computed into a tensor over the
// coordinates that it depends on.

#ifndef TILEWRIGHT_LIB_DISPATCH_SCOREMASK_H
#define TILEWRIGHT_LIB_DISPATCH_SCOREMASK_H

#include "ScoreComparisons.h"
#include "tilewright/Support/Refusal.h"

#include <set>

namespace tilewright {

class ScoreMask {
public:
  ScoreMask(ElementExpressions &expressions, unsigned key)
      : expressions(expressions), key(key) {}

  /// Scores are `hidden` where `visible` is false (where it is true, if inverted). `isLow`: beside
  /// any score its exponential is zero.
  void hide(const ElementExpression &visible, bool isInverted, double hidden, bool isLow = true);
  /// `term` is added to the scores.
  void add(const ElementExpression &term);
  /// The text rounds sums of what comes from here on to a type that is narrower than the scores'.
  void roundSums() { roundedFrom = std::min(roundedFrom, steps); }
  /// Whether a finite number is chosen in the place of what comes from here on.
  bool choosesNumber() const;
  /// Whether something that the mask is computed from `isWanted`.
  bool anyOf(llvm::function_ref<bool(const ElementExpression &)> isWanted) const;

  /// The coordinate that a comparison compares keys with, which is that of the queries.
  std::optional<unsigned> getQuery() const;

  /// The lowest finite number that a hidden score may be, 0 if there is none; nothing where it is
  /// in memory.
  std::optional<double> getLowest() const;

  /// What the op gets.
  struct Result {
    bool isTopLeft = false, isBottomRight = false;
    int64_t before = -1, behind = -1; // window, -1: no limit
    mlir::Value mask, keep, lengths;
    Coordinates maskAt, keepAt, lengthsAt; // atoms
    bool mayHideAll = false; // keys of a query, by -inf
    std::string note; // for --explain
  };
  /// Which values are the numbers of keys and of queries, and the size of an atom.
  struct Sizes {
    llvm::function_ref<bool(mlir::Value)> isKeys, isQueries;
    llvm::function_ref<mlir::OpFoldResult(unsigned)> of;
  };
  /// Refused if something cannot be computed.
  Refusal resolve(mlir::OpBuilder &b, mlir::Location loc, unsigned query, mlir::Type queryType,
                  mlir::FloatType scoreType, const Sizes &sizes, Result &result);

private:
  /// Something in place of which there is `hidden`: -inf or a finite number, which hide keys, or
  /// (not isLow) another number, which may be larger than scores.
  struct Condition {
    const ElementExpression *expression;
    bool isInverted;
    double hidden;
    bool isAdded; // 0 or `hidden` is added
    unsigned number = 0; // from what is done last inwards, among terms, too
    bool isLow = true;   // beside any score, the exponential of `hidden` is zero
  };
  /// Something that is added.
  struct Term {
    const ElementExpression *expression;
    unsigned number;
    bool hides; // 0 or a finite number
  };
  /// A step towards an element of the mask: one of the two.
  struct Part {
    const Condition *condition;
    const Term *term;
    unsigned number() const { return condition ? condition->number : term->number; }
  };
  /// Keys at most `offset` behind the query, or (isLower) at most before it.
  struct Bound {
    Condition condition;
    unsigned query;
    bool isLower;
    Offset offset;
  };

  // CollectScoreMask.cpp.
  bool isAlways(const ElementExpression &visible, bool isInverted) const;
  std::optional<Bound> matchBound(const Condition &condition) const;

  // PlaceScoreBounds.cpp.
  void takeFiniteBounds(unsigned query, const Sizes &sizes);
  bool isInsideFinite(const Condition &condition) const;
  bool seeKeys(unsigned query, const Sizes &sizes) const;
  bool addsNoMask(const Term &term) const;
  bool mayHideAll(unsigned query, const Sizes &sizes) const;
  bool place(unsigned query, const Sizes &sizes, Result &result) const;
  bool placeByLength(mlir::OpBuilder &b, mlir::Location loc, unsigned query, const Sizes &sizes,
                     Result &result) const;
  /// Keys less than an element (`ofQuery` 0), at most `offset` behind query + element (1), or at most
  /// before it (-1).
  struct Length {
    const ElementExpression *element;
    int ofQuery;
    Offset offset;
  };
  std::optional<Length> matchLength(const Condition &condition, unsigned query) const;
  void takeLengths(mlir::OpBuilder &b, unsigned query, const Sizes &sizes, Result &result);

  // ScoreMask.cpp.
  void keep(const Bound &bound);
  bool isBoolean() const;
  llvm::SmallVector<Part> getParts() const;
  const ElementExpression *findInMemory(mlir::Type queryType, mlir::FloatType scoreType) const;
  bool isInRoundedSum(const Condition &condition) const;
  bool needsKeep(mlir::FloatType scoreType) const;
  double getWritten(const Condition &condition, mlir::FloatType scoreType) const;
  mlir::Value writeElement(mlir::OpBuilder &b, mlir::Location loc, mlir::FloatType scoreType,
                           llvm::ArrayRef<Part> parts, mlir::ValueRange values) const;
  Refusal writeKeep(mlir::OpBuilder &b, mlir::Location loc, unsigned query, const Sizes &sizes,
                    Result &result);
  Refusal writeMask(mlir::OpBuilder &b, mlir::Location loc, unsigned query,
                    mlir::FloatType scoreType, const Sizes &sizes, Result &result);

  ElementExpressions &expressions;
  unsigned key;
  /// What has been taken apart.
  std::set<std::tuple<const ElementExpression *, bool, double>> hiding;
  llvm::SmallPtrSet<const ElementExpression *, 4> sums;
  llvm::SmallVector<Bound> bounds;
  llvm::SmallVector<Condition> conditions;
  llvm::SmallVector<Term> terms;
  unsigned steps = 0;         // what conditions and terms are numbered by
  unsigned roundedFrom = ~0u; // sums with terms from this number on are rounded
};

/// Numbers that hide a key: their exponentials are zeros beside that of any score.
bool hidesKeys(double number, mlir::Type type);

/// The lowest number of `type` that is finite.
double lowestOf(mlir::Type type);

} // namespace tilewright

#endif
