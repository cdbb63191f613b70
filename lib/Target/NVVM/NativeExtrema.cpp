// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-native-extrema: the greater and the lesser of two numbers by max and min, where
// upstream's expansion compares twice and selects twice.
//
//   %m = arith.maxnumf %x, %y : f32          ->    max.f32
//   %m = arith.maximumf %x, %y : f32         ->    max.NaN.f32 (sm_80); before, max.f32 and
//                                                  NaN where one is
//   %m = arith.maximumf %x, 0.0 : f32        ->    before sm_80: %x > 0 or NaN ? %x : 0
//   %c = arith.cmpf ugt, %x, 0.0
//   %m = arith.select %c, %x, 0.0            ->    max.NaN.f32 (sm_80)
//
// Of zeros of both signs max takes +0, min -0 (PTX ISA, "max"). f16 and bf16 have both
// instructions from sm_80 on; f64 is left alone.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/NVVM/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace tilewright {
#define GEN_PASS_DEF_NATIVEEXTREMAPASS
#include "tilewright/Target/NVVM/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {
/// The extremum of two numbers: which, and what it makes of NaN.
struct Extremum {
  bool isMax;
  bool passesNaN;
  Value lhs, rhs;
};
} // namespace

/// The constant that `value` is, unless that is NaN.
static std::optional<APFloat> numberOf(Value value) {
  APFloat number(0.0f);
  if (!matchPattern(value, m_ConstantFloat(&number)) || number.isNaN())
    return std::nullopt;
  return number;
}

/// The predicate for exchanged operands, of those that order.
static arith::CmpFPredicate exchanged(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::OGT:
    return P::OLT;
  case P::OGE:
    return P::OLE;
  case P::OLT:
    return P::OGT;
  case P::OLE:
    return P::OGE;
  case P::UGT:
    return P::ULT;
  case P::UGE:
    return P::ULE;
  case P::ULT:
    return P::UGT;
  case P::ULE:
    return P::UGE;
  default:
    return predicate;
  }
}

/// %x > c ? %x : c in all its spellings; of %x = c, and of NaN, it is what the extremum is.
static std::optional<Extremum> matchSelect(arith::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare)
    return std::nullopt;
  arith::CmpFPredicate predicate = compare.getPredicate();
  Value x = compare.getLhs(), c = compare.getRhs();
  if (numberOf(x)) {
    std::swap(x, c);
    predicate = exchanged(predicate);
  }
  std::optional<APFloat> limit = numberOf(c);
  Value taken = select.getTrueValue(), other = select.getFalseValue();
  bool takesX = taken == x;
  // Constants of one number may be two ops.
  auto isLimit = [&](Value value) {
    std::optional<APFloat> number = numberOf(value);
    return number && limit && number->bitwiseIsEqual(*limit);
  };
  if (!limit || (takesX ? !isLimit(other) : other != x || !isLimit(taken)))
    return std::nullopt;
  using P = arith::CmpFPredicate;
  bool isUnordered = llvm::is_contained({P::UGT, P::UGE, P::ULT, P::ULE}, predicate);
  bool isGreater = llvm::is_contained({P::UGT, P::UGE, P::OGT, P::OGE}, predicate);
  bool holdsIfEqual = llvm::is_contained({P::UGE, P::OGE, P::ULE, P::OLE}, predicate);
  if (!isUnordered && !isGreater && !llvm::is_contained({P::OLT, P::OLE}, predicate))
    return std::nullopt;
  Extremum result{isGreater == takesX, isUnordered == takesX, x, c};
  // Of zeros, max is the limit if that is +0, and %x otherwise.
  bool isLimitIfEqual = holdsIfEqual != takesX;
  if (limit->isZero() && isLimitIfEqual != (limit->isNegative() != result.isMax))
    return std::nullopt;
  return result;
}

static std::optional<Extremum> matchExtremum(Operation *op) {
  auto match = [](auto op, bool isMax, bool passesNaN) {
    bool noNaN = bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::nnan);
    return Extremum{isMax, passesNaN && !noNaN, op.getLhs(), op.getRhs()};
  };
  if (auto most = dyn_cast<arith::MaxNumFOp>(op))
    return match(most, true, false);
  if (auto least = dyn_cast<arith::MinNumFOp>(op))
    return match(least, false, false);
  if (auto most = dyn_cast<arith::MaximumFOp>(op))
    return match(most, true, true);
  if (auto least = dyn_cast<arith::MinimumFOp>(op))
    return match(least, false, true);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return matchSelect(select);
  return std::nullopt;
}

/// Without instructions that pass NaN on.
static Value select(OpBuilder &b, Location loc, const Extremum &extremum) {
  auto [isMax, passesNaN, lhs, rhs] = extremum;
  if (numberOf(lhs))
    std::swap(lhs, rhs);
  if (std::optional<APFloat> limit = numberOf(rhs)) {
    using P = arith::CmpFPredicate;
    bool keepsEqual = limit->isZero() && limit->isNegative() == isMax;
    P predicate = isMax ? (keepsEqual ? P::UGE : P::UGT) : (keepsEqual ? P::ULE : P::ULT);
    Value first = arith::CmpFOp::create(b, loc, predicate, lhs, rhs);
    return arith::SelectOp::create(b, loc, first, lhs, rhs);
  }
  Value number = isMax ? LLVM::MaxNumOp::create(b, loc, lhs, rhs).getResult()
                       : LLVM::MinNumOp::create(b, loc, lhs, rhs).getResult();
  Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, lhs, rhs);
  auto type = cast<FloatType>(lhs.getType());
  Value nan = arith::ConstantOp::create(
      b, loc, b.getFloatAttr(type, APFloat::getQNaN(type.getFloatSemantics())));
  return arith::SelectOp::create(b, loc, isNaN, nan, number);
}

static Value create(OpBuilder &b, Location loc, const Extremum &extremum) {
  auto [isMax, passesNaN, lhs, rhs] = extremum;
  if (passesNaN)
    return isMax ? LLVM::MaximumOp::create(b, loc, lhs, rhs).getResult()
                 : LLVM::MinimumOp::create(b, loc, lhs, rhs).getResult();
  return isMax ? LLVM::MaxNumOp::create(b, loc, lhs, rhs).getResult()
               : LLVM::MinNumOp::create(b, loc, lhs, rhs).getResult();
}

namespace {
struct NativeExtremaPass : public tilewright::impl::NativeExtremaPassBase<NativeExtremaPass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    bool hasNaN = target && target.getFact("sm", 0) >= 80;
    getOperation()->walk([&](Operation *op) {
      Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
      if (!type || !(type.isF32() || (hasNaN && (type.isF16() || type.isBF16()))))
        return;
      std::optional<Extremum> extremum = matchExtremum(op);
      if (!extremum || (isa<arith::SelectOp>(op) && extremum->passesNaN && !hasNaN))
        return;
      OpBuilder b(op);
      Value result = extremum->passesNaN && !hasNaN ? select(b, op->getLoc(), *extremum)
                                                    : create(b, op->getLoc(), *extremum);
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    });
  }
};
} // namespace
