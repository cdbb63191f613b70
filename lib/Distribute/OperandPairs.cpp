// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a warpgroup computes its operand of 16-bit floats by, two elements at a time, as
// the instruction takes them:
//
//   %a0 = arith.mulf %f0, %s                   %f = vector<2xf16> of %q0, %q1
//   %a1 = arith.mulf %f1, %s            ->     %t = vector.from_elements %s, %s
//   vector.from_elements %a0, %a1              arith.mulf %f, %t
//
// Bytes, and halves of bytes, become floats by their bits: of f16, 0x6400 is 1024, whose
// last bit counts one, so that 0x6400 | n is 1024 + n for n below 1024. A number with a
// sign is made one without by its top bit. Nothing is rounded:
//
//   %f = (n ^ 8 | 0x6400) - 1032               for n of four bits, in [-8, 8)
//
// which takes two instructions for two elements; conversions have a quarter of the rate.

#include "OperandWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// What an element is converted from: a byte, or a half of one.
struct Source {
  enum Part { Low, High, Whole };
  Value byte;
  Part part = Whole;
  bool isUnsigned = false;
};
} // namespace

static std::optional<Source> sourceOf(Value converted) {
  Operation *op = converted.getDefiningOp();
  if (!isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(op) ||
      !op->getOperand(0).getType().isInteger(8))
    return std::nullopt;
  Value number = op->getOperand(0);
  bool isUnsigned = isa<arith::UIToFPOp>(op);
  if (auto low = number.getDefiningOp<arith::AndIOp>(); low && isConstantIntValue(low.getRhs(), 15))
    return Source{low.getLhs(), Source::Low, true};
  if (auto high = number.getDefiningOp<arith::ShRUIOp>(); high && isConstantIntValue(high.getRhs(), 4))
    return Source{high.getLhs(), Source::High, true};
  if (auto shift = number.getDefiningOp<arith::ShRSIOp>();
      shift && isConstantIntValue(shift.getRhs(), 4) && !isUnsigned) {
    auto left = shift.getLhs().getDefiningOp<arith::ShLIOp>();
    if (left && isConstantIntValue(left.getRhs(), 4))
      return Source{left.getLhs(), Source::Low, false};
    return Source{shift.getLhs(), Source::High, false};
  }
  return Source{number, Source::Whole, isUnsigned};
}

/// Two bytes or halves as floats, or null where their bits do not fit.
static Value convertPair(OpBuilder &b, Location loc, const Source &first,
                         const Source &second, FloatType type) {
  bool isWhole = first.part == Source::Whole;
  bool isOneByte = first.byte == second.byte && first.part == Source::Low &&
                   second.part == Source::High;
  if (first.isUnsigned != second.isUnsigned ||
      (!isOneByte && first.part != second.part) ||
      !(type.isF16() || (type.isBF16() && !isWhole)))
    return {};
  Type i32 = b.getI32Type();
  auto constant = [&](int64_t half) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(half << 16 | half));
  };
  auto shifted = [&](Value word, int64_t by, bool left) -> Value {
    Value bits = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(by));
    return left ? arith::ShLIOp::create(b, loc, word, bits).getResult()
                : arith::ShRUIOp::create(b, loc, word, bits).getResult();
  };
  Value word;
  if (isOneByte) {
    word = arith::ExtUIOp::create(b, loc, i32, first.byte);
    word = arith::OrIOp::create(b, loc, word, shifted(word, 12, /*left=*/true));
  } else {
    SmallVector<Value> halves;
    for (Value byte : {first.byte, second.byte})
      halves.push_back(arith::ExtUIOp::create(b, loc, b.getI16Type(), byte));
    word = vector::FromElementsOp::create(b, loc, VectorType::get(2, b.getI16Type()),
                                          halves);
    word = vector::BitCastOp::create(b, loc, VectorType::get(1, i32), word);
    word = vector::ExtractOp::create(b, loc, word, 0);
    if (first.part == Source::High)
      word = shifted(word, 4, /*left=*/false);
  }
  if (!isWhole)
    word = arith::AndIOp::create(b, loc, word, constant(15));
  // The float whose last bit counts one, and the bit that makes a sign one more bit.
  int64_t exponent = type.isF16() ? 0x6400 : 0x4300, one = type.isF16() ? 1024 : 128;
  int64_t sign = first.isUnsigned ? 0 : isWhole ? 128 : 8;
  word = arith::XOrIOp::create(b, loc, word, constant(exponent | sign));
  auto pair = VectorType::get(2, type);
  Value floats =
      vector::FromElementsOp::create(b, loc, VectorType::get(1, i32), ValueRange(word));
  floats = vector::BitCastOp::create(b, loc, pair, floats);
  Value less = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(pair, b.getFloatAttr(type, one + sign).getValue()));
  return arith::SubFOp::create(b, loc, floats, less);
}

Value tilewright::computePair(OpBuilder &b, Location loc, Value first, Value second) {
  auto type = dyn_cast<FloatType>(first.getType());
  Operation *one = first.getDefiningOp(), *other = second.getDefiningOp();
  auto pair = VectorType::get(2, first.getType());
  auto plain = [&]() -> Value {
    return vector::FromElementsOp::create(b, loc, pair, ValueRange{first, second});
  };
  if (!type || !one || !other || one->getName() != other->getName())
    return plain();
  if (isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(one) &&
      one->getAttrDictionary() == other->getAttrDictionary()) {
    Value left = computePair(b, loc, one->getOperand(0), other->getOperand(0));
    Value right = computePair(b, loc, one->getOperand(1), other->getOperand(1));
    OperationState state(loc, one->getName(), ValueRange{left, right}, TypeRange(pair),
                         one->getAttrs());
    return b.create(state)->getResult(0);
  }
  if (auto select = dyn_cast<arith::SelectOp>(one)) {
    auto with = cast<arith::SelectOp>(other);
    if (select.getCondition() != with.getCondition())
      return plain();
    Value left = computePair(b, loc, select.getTrueValue(), with.getTrueValue());
    Value right = computePair(b, loc, select.getFalseValue(), with.getFalseValue());
    return arith::SelectOp::create(b, loc, select.getCondition(), left, right);
  }
  std::optional<Source> from = sourceOf(first), to = sourceOf(second);
  if (from && to)
    if (Value converted = convertPair(b, loc, *from, *to, type))
      return converted;
  return plain();
}
