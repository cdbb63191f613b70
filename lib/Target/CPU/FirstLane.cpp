// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first lane for which a condition holds, as an argmax of a row in registers looks for the one
// that has the greatest number, is the number of zeros below the lowest bit of the condition:
//
//   %i = arith.select %c, [0, 1, 2, …], most
//   %r = vector.reduction <minsi>, %i, most
//   ->
//   %b = vector.bitcast %c
//   %r = %b == 0 ? most : math.cttz %b

#include "MathRegisters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Whether `value`, a vector, has the lanes' numbers in each of its rows, or in `row` of them.
static bool hasLaneNumbers(Value value, std::optional<int64_t> row) {
  Operation *op = value.getDefiningOp();
  DenseIntElementsAttr numbers;
  if (matchPattern(value, m_Constant(&numbers))) {
    int64_t lanes = cast<VectorType>(value.getType()).getShape().back();
    return llvm::all_of(llvm::enumerate(numbers.getValues<APInt>()), [&](auto pair) {
      return pair.value() == uint64_t(pair.index()) % uint64_t(lanes);
    });
  }
  if (isa_and_present<vector::StepOp>(op))
    return true;
  if (isa_and_present<arith::IndexCastOp, arith::IndexCastUIOp, arith::TruncIOp>(op))
    return hasLaneNumbers(op->getOperand(0), row);
  if (auto repeat = dyn_cast_if_present<vector::BroadcastOp>(op)) {
    auto source = dyn_cast<VectorType>(repeat.getSourceType());
    return source && source.getShape().back() == repeat.getResultVectorType().getShape().back() &&
           source.getRank() == 1 && hasLaneNumbers(repeat.getSource(), std::nullopt);
  }
  auto insert = dyn_cast_if_present<vector::InsertOp>(op);
  if (!insert || !row || insert.hasDynamicPosition() || insert.getStaticPosition().size() != 1)
    return false;
  return insert.getStaticPosition().front() == *row
             ? hasLaneNumbers(insert.getValueToStore(), std::nullopt)
             : hasLaneNumbers(insert.getDest(), row);
}

/// Whether all of `value` is the greatest signed integer of its type.
static bool isMost(Value value) {
  APInt number;
  DenseIntElementsAttr numbers;
  if (matchPattern(value, m_Constant(&numbers)))
    return numbers.isSplat() && numbers.getSplatValue<APInt>().isMaxSignedValue();
  return matchPattern(value, m_ConstantInt(&number)) && number.isMaxSignedValue();
}

namespace {
struct FindFirstLane : OpRewritePattern<vector::ReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ReductionOp op,
                                PatternRewriter &rewriter) const override {
    constexpr int64_t kMaxLanes = 64;
    VectorType type = op.getSourceVectorType();
    int64_t lanes = type.getNumElements();
    if (op.getKind() != vector::CombiningKind::MINSI || type.isScalable() ||
        lanes > kMaxLanes || (op.getAcc() && !isMost(op.getAcc())))
      return rewriter.notifyMatchFailure(op, "no least number of some lanes");
    Value row = op.getVector();
    std::optional<int64_t> number;
    if (auto extract = row.getDefiningOp<vector::ExtractOp>();
        extract && !extract.hasDynamicPosition() && extract.getStaticPosition().size() == 1) {
      number = extract.getStaticPosition().front();
      row = extract.getSource();
    }
    auto chosen = row.getDefiningOp<arith::SelectOp>();
    if (!chosen || !isa<VectorType>(chosen.getCondition().getType()) ||
        !isMost(chosen.getFalseValue()) || !hasLaneNumbers(chosen.getTrueValue(), number))
      return rewriter.notifyMatchFailure(op, "not of numbers of lanes");
    Location loc = op.getLoc();
    Value condition = chosen.getCondition();
    if (number)
      condition = vector::ExtractOp::create(rewriter, loc, condition, *number);
    Value bits = toBits(rewriter, loc, condition);
    auto constant = [&](Type type, const APInt &value) -> Value {
      return arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(type, value));
    };
    unsigned width = bits.getType().getIntOrFloatBitWidth();
    Value isNone = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, bits,
                                         constant(bits.getType(), APInt::getZero(width)));
    Value first = mlir::math::CountTrailingZerosOp::create(rewriter, loc, bits);
    unsigned resultWidth = op.getType().getIntOrFloatBitWidth();
    if (resultWidth > width)
      first = arith::ExtUIOp::create(rewriter, loc, op.getType(), first);
    else if (resultWidth < width)
      first = arith::TruncIOp::create(rewriter, loc, op.getType(), first);
    Value most = constant(op.getType(), APInt::getSignedMaxValue(resultWidth));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNone, most, first);
    return success();
  }

private:
  /// As an integer of at least eight bits, a power of two of them.
  static Value toBits(OpBuilder &b, Location loc, Value condition) {
    auto type = cast<VectorType>(condition.getType());
    int64_t lanes = type.getNumElements();
    int64_t width = std::max<int64_t>(8, llvm::PowerOf2Ceil(lanes));
    if (width != lanes) {
      Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
      SmallVector<int64_t> order(width, lanes);
      std::iota(order.begin(), order.begin() + lanes, 0);
      condition = vector::ShuffleOp::create(b, loc, condition, none, order);
    }
    auto bits = VectorType::get(1, b.getIntegerType(unsigned(width)));
    return vector::ExtractOp::create(b, loc, vector::BitCastOp::create(b, loc, bits, condition),
                                     int64_t(0));
  }
};
} // namespace

void tilewright::cpu::populateFirstLanePatterns(RewritePatternSet &patterns) {
  patterns.add<FindFirstLane>(patterns.getContext(), /*benefit=*/2);
}
