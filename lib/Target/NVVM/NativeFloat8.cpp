// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-native-float8: conversions of f8E4M3FN and f8E5M2, two at a time, in place of the
// dozen integer operations that ExpandFloat8 makes of each:
//
//   %a = vector.extract %v[0]   %x = arith.extf %a : f8E4M3FN to f16
//   %b = vector.extract %v[1]   %y = arith.extf %b : f8E4M3FN to f16
//        ->  cvt.rn.f16x2.e4m3x2 (sm_89); before, the bits of two f16 times 2^8
//   the same of f8E5M2
//        ->  prmt: the bytes are the upper halves of f16
//   %v = vector.from_elements (arith.truncf %x), (arith.truncf %y) : vector<2xf8E4M3FN>
//        ->  cvt.rn.satfinite.e4m3x2.f32 (sm_89) of numbers, where what is too large is NaN;
//            what is too large for f8E5M2, which the instruction makes the greatest number,
//            becomes infinity by adding one to the byte
//
// Results are those of ExpandFloat8, but for the bits of NaN. What is left (of f64, FNUZ) is
// expanded.

#include "Intrinsics.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/NVVM/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

#include <cmath>

namespace tilewright {
#define GEN_PASS_DEF_NATIVEFLOAT8PASS
#include "tilewright/Target/NVVM/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static bool isNative(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }
static bool isE4M3(Type type) { return isa<Float8E4M3FNType>(type); }

static Value integer(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
}

//===----------------------------------------------------------------------===//
// From 8 bits
//===----------------------------------------------------------------------===//

/// Two f16 that are the numbers times 2^-8 by their bits; of NaN, 480 times that.
static Value scaleBits(OpBuilder &b, Location loc, Value halves) {
  auto type = VectorType::get(2, b.getF16Type());
  auto wordType = VectorType::get(1, b.getI32Type());
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(type, b.getF16FloatAttr(value)));
  };
  Value sign = arith::AndIOp::create(b, loc, halves, integer(b, loc, 0x80008000));
  Value shifted = arith::ShRUIOp::create(b, loc, halves, integer(b, loc, 1));
  Value size = arith::AndIOp::create(b, loc, shifted, integer(b, loc, 0x3f803f80));
  Value scaled = arith::OrIOp::create(b, loc, size, sign);
  // Text: the least of them are f16 below the normal numbers, which LLVM's products take for
  // zero where f32 does (--fp=ftz).
  Value bits = LLVM::InlineAsmOp::create(b, loc, b.getI32Type(),
                                         ValueRange{scaled, integer(b, loc, 0x5c005c00)},
                                         "mul.rn.f16x2 $0, $1, $2;", "=r,r,r",
                                         /*has_side_effects=*/false, /*is_align_stack=*/false,
                                         LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
                                         /*operand_attrs=*/ArrayAttr())
                   .getResult(0);
  Value word = vector::FromElementsOp::create(b, loc, wordType, ValueRange{bits});
  Value number = vector::BitCastOp::create(b, loc, type, word);
  // 480 times 140 is infinite, 448 times that is not: zero of numbers, and NaN of NaN. No sum,
  // which could be contracted with the product in front; -0, so that zeros keep their signs.
  Value large = arith::MulFOp::create(b, loc, number, constant(140));
  Value zero = arith::MulFOp::create(b, loc, large, constant(-0.0f));
  return math::FmaOp::create(b, loc, number, zero, number);
}

/// The two f16 of a pair of bytes, the first in the low one (i16).
static Value extendPair(OpBuilder &b, Location loc, Value bytes, Type type, bool hasConversions) {
  auto pair = VectorType::get(2, b.getF16Type());
  if (isE4M3(type) && hasConversions)
    return callIntrinsic(b, loc, pair, "llvm.nvvm.e4m3x2.to.f16x2.rn", bytes);
  Value word = arith::ExtUIOp::create(b, loc, b.getI32Type(), bytes);
  // 0, the first byte, 0, the second.
  Value halves = callIntrinsic(b, loc, b.getI32Type(), "llvm.nvvm.prmt",
                               {word, integer(b, loc, 0), integer(b, loc, 0x1404)});
  if (isE4M3(type))
    return scaleBits(b, loc, halves);
  Value single = vector::FromElementsOp::create(b, loc, VectorType::get(1, b.getI32Type()),
                                                ValueRange{halves});
  return vector::BitCastOp::create(b, loc, pair, single);
}

namespace {
/// Extensions of one number, and of the one beside it.
struct Pair {
  SmallVector<arith::ExtFOp> ops[2];
};
/// Which two of a vector; a number on its own is a vector of one.
using PairKey = std::pair<Value, int64_t>;
} // namespace

static Value bytesOf(OpBuilder &b, Location loc, PairKey key) {
  auto [source, number] = key;
  auto vector = dyn_cast<VectorType>(source.getType());
  if (!vector) {
    Value byte = arith::BitcastOp::create(b, loc, b.getI8Type(), source);
    return arith::ExtUIOp::create(b, loc, b.getI16Type(), byte);
  }
  auto pairs = VectorType::get(vector.getNumElements() / 2, b.getI16Type());
  Value all = vector::BitCastOp::create(b, loc, pairs, source);
  return vector::ExtractOp::create(b, loc, all, number);
}

static void extend(PairKey key, Pair &pair, bool hasConversions) {
  // The first of them in their block.
  arith::ExtFOp first;
  for (auto &ops : pair.ops)
    for (arith::ExtFOp op : ops)
      if (!first || op->isBeforeInBlock(first))
        first = op;
  OpBuilder b(first);
  Location loc = first.getLoc();
  Value both = extendPair(b, loc, bytesOf(b, loc, key), first.getIn().getType(), hasConversions);
  for (auto [place, ops] : llvm::enumerate(pair.ops)) {
    if (ops.empty())
      continue;
    Value half = vector::ExtractOp::create(b, loc, both, int64_t(place));
    for (arith::ExtFOp op : ops) {
      Type type = op.getType();
      Value result = half;
      if (!type.isF16())
        result = arith::ExtFOp::create(b, loc, type.isBF16() ? b.getF32Type() : type, half);
      if (type.isBF16())
        result = arith::TruncFOp::create(b, loc, type, result);
      op.replaceAllUsesWith(result);
    }
  }
  for (auto &ops : pair.ops)
    for (arith::ExtFOp op : ops)
      op.erase();
}

static void extendIn(Block &block, bool hasConversions) {
  llvm::MapVector<PairKey, Pair> pairs;
  for (auto op : block.getOps<arith::ExtFOp>()) {
    Value in = op.getIn();
    if (!isNative(in.getType()))
      continue;
    auto extract = in.getDefiningOp<vector::ExtractOp>();
    VectorType source = extract ? extract.getSourceVectorType() : VectorType();
    bool isOfVector = source && source.getRank() == 1 && source.getNumElements() % 2 == 0 &&
                      !source.isScalable() && !extract.hasDynamicPosition();
    if (!isOfVector) {
      pairs[{in, 0}].ops[0].push_back(op);
      continue;
    }
    int64_t place = extract.getStaticPosition().front();
    pairs[{extract.getSource(), place / 2}].ops[place % 2].push_back(op);
  }
  for (auto &[key, pair] : pairs)
    extend(key, pair, hasConversions);
}

//===----------------------------------------------------------------------===//
// To 8 bits
//===----------------------------------------------------------------------===//

/// The absolute value of a constant.
static std::optional<double> sizeOf(Value value) {
  APFloat number(0.0f);
  if (!matchPattern(value, m_ConstantFloat(&number)) || number.isNaN())
    return std::nullopt;
  bool inexact;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return std::abs(number.convertToDouble());
}

/// True if `value` is a constant, or clamped to numbers, of at most `limit`.
static bool isWithin(Value value, double limit) {
  if (std::optional<double> size = sizeOf(value))
    return *size <= limit;
  bool isBelow = false, isAbove = false;
  for (int step = 0; step < 2; ++step) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumOperands() != 2)
      break;
    std::optional<double> bound = sizeOf(op->getOperand(1));
    if (!bound || *bound > limit)
      break;
    isBelow |= isa<arith::MinimumFOp, arith::MinNumFOp>(op);
    isAbove |= isa<arith::MaximumFOp, arith::MaxNumFOp>(op);
    value = op->getOperand(0);
  }
  return isBelow && isAbove;
}

static Value isBeyond(OpBuilder &b, Location loc, Value x, arith::CmpFPredicate predicate,
                      float limit) {
  Value bound = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(limit));
  Value size = math::AbsFOp::create(b, loc, x);
  return arith::CmpFOp::create(b, loc, predicate, size, bound);
}

/// The bytes of two numbers of f32, `low` in the low one (i16).
static Value roundPair(OpBuilder &b, Location loc, Value low, Value high, Type type) {
  // Half of a step above the greatest number, 448 or 57344; a tie goes to the even one of both.
  constexpr float kE4M3Limit = 464, kE5M2Limit = 61440;
  if (isE4M3(type)) {
    auto guard = [&](Value x) -> Value {
      if (isWithin(x, kE4M3Limit))
        return x;
      Value nan = arith::ConstantOp::create(
          b, loc, b.getFloatAttr(b.getF32Type(), APFloat::getQNaN(APFloat::IEEEsingle())));
      Value beyond = isBeyond(b, loc, x, arith::CmpFPredicate::OGT, kE4M3Limit);
      return arith::SelectOp::create(b, loc, beyond, nan, x);
    };
    return callIntrinsic(b, loc, b.getI16Type(), "llvm.nvvm.ff.to.e4m3x2.rn",
                         {guard(high), guard(low)});
  }
  Value bytes =
      callIntrinsic(b, loc, b.getI16Type(), "llvm.nvvm.ff.to.e5m2x2.rn", {high, low});
  Value word = arith::ExtUIOp::create(b, loc, b.getI32Type(), bytes);
  for (auto [x, one] : {std::pair(low, 0x1), std::pair(high, 0x100)}) {
    if (isWithin(x, std::nextafter(kE5M2Limit, 0.0f)))
      continue;
    Value beyond = isBeyond(b, loc, x, arith::CmpFPredicate::OGE, kE5M2Limit);
    Value more = arith::SelectOp::create(b, loc, beyond, integer(b, loc, one), integer(b, loc, 0));
    word = arith::AddIOp::create(b, loc, word, more);
  }
  return arith::TruncIOp::create(b, loc, b.getI16Type(), word);
}

/// What `value` is rounded from, as f32, or null.
static Value sourceOf(OpBuilder &b, Value value) {
  auto op = value.getDefiningOp<arith::TruncFOp>();
  if (!op || !isNative(op.getType()) || op.getIn().getType().isF64())
    return Value();
  return widen(b, op.getLoc(), op.getIn());
}

static void roundVector(vector::FromElementsOp op) {
  VectorType type = op.getType();
  auto isRounded = [](Value value) {
    auto rounding = value.getDefiningOp<arith::TruncFOp>();
    return rounding && !rounding.getIn().getType().isF64();
  };
  if (!isNative(type.getElementType()) || type.getRank() != 1 || type.getNumElements() % 2 ||
      !llvm::all_of(op.getElements(), isRounded))
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> pairs;
  for (int64_t i = 0; i < type.getNumElements(); i += 2)
    pairs.push_back(roundPair(b, loc, sourceOf(b, op.getElements()[i]),
                              sourceOf(b, op.getElements()[i + 1]), type.getElementType()));
  Value words = vector::FromElementsOp::create(
      b, loc, VectorType::get(int64_t(pairs.size()), b.getI16Type()), pairs);
  Value bytes = vector::BitCastOp::create(b, loc, type.clone(b.getI8Type()), words);
  op.replaceAllUsesWith(arith::BitcastOp::create(b, loc, type, bytes).getResult());
  op.erase();
}

static void roundOne(arith::TruncFOp op) {
  if (op.use_empty()) {
    op.erase();
    return;
  }
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value source = sourceOf(b, op.getResult());
  if (!source)
    return;
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value bytes = roundPair(b, loc, source, zero, op.getType());
  Value byte = arith::TruncIOp::create(b, loc, b.getI8Type(), bytes);
  op.replaceAllUsesWith(arith::BitcastOp::create(b, loc, op.getType(), byte).getResult());
  op.erase();
}

namespace {
struct NativeFloat8Pass : public tilewright::impl::NativeFloat8PassBase<NativeFloat8Pass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    bool hasConversions = target && target.getFact("sm", 0) >= 89;
    SmallVector<vector::FromElementsOp> vectors;
    SmallVector<arith::TruncFOp> roundings;
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      extendIn(*block, hasConversions);
    if (!hasConversions)
      return;
    getOperation()->walk([&](Operation *op) {
      if (auto elements = dyn_cast<vector::FromElementsOp>(op))
        vectors.push_back(elements);
      else if (auto rounding = dyn_cast<arith::TruncFOp>(op);
               rounding && isNative(rounding.getType()))
        roundings.push_back(rounding);
    });
    for (vector::FromElementsOp op : vectors)
      roundVector(op);
    for (arith::TruncFOp op : roundings)
      roundOne(op);
  }
};
} // namespace
