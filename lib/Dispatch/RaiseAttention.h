// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tilewright-raise-attention knows of a contraction that may be the second of an
// attention: matched in MatchAttention.cpp, written as an op in RaiseAttention.cpp.

#ifndef TILEWRIGHT_LIB_DISPATCH_RAISEATTENTION_H
#define TILEWRIGHT_LIB_DISPATCH_RAISEATTENTION_H

#include "ScoreMask.h"
#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Dialect/Attention.h"

namespace tilewright {

/// A tensor and where its element is.
struct Place {
  mlir::Value tensor;
  Coordinates at;
};

class AttentionRaiser {
public:
  AttentionRaiser(mlir::linalg::GenericOp second, const Contraction &contraction)
      : second(second), contraction(contraction) {}
  /// Puts the op in place of `second`, and of what rounds or transposes its result; or
  /// false, with the reason in `reason` if there is a softmax in front of the contraction.
  bool raise(mlir::OpBuilder &b, TargetAttr target);

  std::string reason;

private:
  bool refuse(const llvm::Twine &why) {
    reason = why.str();
    return false;
  }
  bool isOwn(mlir::Type type) const;
  const ElementExpression *withoutConversions(const ElementExpression *expression,
                                              mlir::Type *narrowest = nullptr);
  bool isGathered(mlir::Value weights);
  bool matchSoftmax(mlir::OpOperand &weights);
  const ElementExpression *findTerm(const ElementExpression &value,
                                    llvm::StringRef combiner, llvm::StringRef other,
                                    mlir::Value &init);
  bool matchReduction(const ElementExpression &value, llvm::StringRef combiner,
                      llvm::StringRef other, const ElementExpression &element,
                      double &start);
  bool matchGuard();
  bool matchStart();
  bool matchScores(const ElementExpression &score);
  bool matchMask();
  bool matchScaled(const ElementExpression &score);
  bool matchProduct(const ElementExpression &score);
  bool isOfScores(const ElementExpression &expression);
  bool isUsedElsewhere(mlir::Operation *op,
                       llvm::SmallPtrSetImpl<mlir::Operation *> &seen);
  bool matchLogSum(mlir::linalg::GenericOp op);
  Place findFactor(mlir::linalg::GenericOp op, mlir::OpOperand &operand,
                   llvm::ArrayRef<unsigned> loops, double &factor);
  mlir::OpOperand *matchWeights();
  bool chooseLoops();
  void followResult();
  bool isSizeOf(mlir::Value value, unsigned atom) const;
  AttentionOp create(mlir::OpBuilder &b);
  AttentionOp createOp(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Value> operands,
                       const ScoreMask::Result &mask, llvm::ArrayRef<mlir::Value> outs,
                       llvm::ArrayRef<mlir::AffineMap> maps, mlir::FloatType scoreType);
  void replace(mlir::OpBuilder &b, mlir::Value result, llvm::ArrayRef<unsigned> at,
               mlir::Operation *by);

  mlir::linalg::GenericOp second, first;
  const Contraction &contraction;
  ElementExpressions expressions;
  std::optional<ScoreMask> hiding;
  unsigned key = 0, depth = 0, query = 0, column = 0;
  Coordinates weightsAt, resultAt; // of the second contraction
  Coordinates order;               // its loops, then those of the op
  Place queries, keys, values;
  const ElementExpression *shifted = nullptr; // what is in the exponent before the largest
  const ElementExpression *largest = nullptr, *total = nullptr;
  double largestStart = 0; // what the reduction to `largest` begins with
  // What is added to the scores last, if no number is chosen in place of the sum.
  const ElementExpression *added = nullptr;
  const ElementExpression *guard = nullptr; // where it is true, weights are zeros
  bool givesZeros = false; // where a query sees no key, the text gives zeros
  bool isGuarded = false;  // the largest or the sum is not taken as it is
  bool overflows = false;  // a finite number that is chosen is rounded to an infinite one
  bool mayStartAbove = false; // scores may all be below what the largest begins with
  double scale = 1, softcap = 0;
  mlir::Type rounded; // what the text rounds scores to
  mlir::Type element; // of the values
  mlir::Type foreign; // another one, that the text rounds scores or weights to
  // An op that computes log-sum-exps, if there is one.
  mlir::linalg::GenericOp logSum;
  Coordinates logSumAt;
  // What is replaced, and where its element is; the tensor that it is written to.
  mlir::Operation *last = nullptr;
  Coordinates lastAt;
  Place init;
};

} // namespace tilewright

#endif
