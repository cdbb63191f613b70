// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Float arithmetic of arith and math.
//
// Multiplications and additions are decorated NoContraction unless
// `tilewright.fp` (or the op) allows contraction; math.fma becomes the fused
// GLSL.std.450 Fma, decorated too: it then counts as one operation.
//
// Minima and maxima. GLSL's FMin and FMax say nothing about NaN or the order of
// zeros, so these are comparisons:
//
//   maxnumf(a, b)   a > b or isnan(b) ? a : b
//   maximumf(a, b)  NaN if one is, and -0 < +0:
//       m = unordered a > b ? a : b       a NaN: a;  both NaN: a
//       m = isnan(b) ? b : m
//       a == b ? a & b : m                (bits: the only equals that differ
//       are
//                                          the zeros)
// and with a constant that is not NaN (relu), one comparison:
//   maximumf(a, c)  unordered a > c ? a : c       (>= where c is -0)

#include "KernelEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;

Value KernelEmitter::emitCompare(arith::CmpFPredicate predicate, Value lhs,
                                 Value rhs) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return constant(b.getI1Type(), 0);
  case P::AlwaysTrue:
    return constant(b.getI1Type(), 1);
  case P::OEQ:
    return make<spirv::FOrdEqualOp>(lhs, rhs);
  case P::OGT:
    return make<spirv::FOrdGreaterThanOp>(lhs, rhs);
  case P::OGE:
    return make<spirv::FOrdGreaterThanEqualOp>(lhs, rhs);
  case P::OLT:
    return make<spirv::FOrdLessThanOp>(lhs, rhs);
  case P::OLE:
    return make<spirv::FOrdLessThanEqualOp>(lhs, rhs);
  case P::ONE:
    return make<spirv::FOrdNotEqualOp>(lhs, rhs);
  case P::UEQ:
    return make<spirv::FUnordEqualOp>(lhs, rhs);
  case P::UGT:
    return make<spirv::FUnordGreaterThanOp>(lhs, rhs);
  case P::UGE:
    return make<spirv::FUnordGreaterThanEqualOp>(lhs, rhs);
  case P::ULT:
    return make<spirv::FUnordLessThanOp>(lhs, rhs);
  case P::ULE:
    return make<spirv::FUnordLessThanEqualOp>(lhs, rhs);
  case P::UNE:
    return make<spirv::FUnordNotEqualOp>(lhs, rhs);
  case P::ORD:
  case P::UNO: { // OpOrdered needs a capability that Vulkan lacks
    Value nan = make<spirv::LogicalOrOp>(make<spirv::IsNanOp>(lhs),
                                         make<spirv::IsNanOp>(rhs));
    return predicate == P::UNO ? nan : make<spirv::LogicalNotOp>(nan);
  }
  }
  return {};
}

/// The value of a float constant, or nothing.
static std::optional<APFloat> constantValue(Value value) {
  if (auto constant = value.getDefiningOp<spirv::ConstantOp>())
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      return number.getValue();
  return std::nullopt;
}

Value KernelEmitter::emitMinMax(Operation *op, Value lhs, Value rhs) {
  using P = arith::CmpFPredicate;
  bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp>(op);
  auto flags = arith::FastMathFlags::none;
  if (auto fast =
          cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr())
    flags = fast.getValue();
  bool noNaN = arith::bitEnumContainsAny(flags, arith::FastMathFlags::nnan);
  bool anyZero = arith::bitEnumContainsAny(flags, arith::FastMathFlags::nsz);

  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op)) {
    Value first = emitCompare(isMax ? P::OGT : P::OLT, lhs, rhs);
    if (!noNaN)
      first = make<spirv::LogicalOrOp>(first, make<spirv::IsNanOp>(rhs));
    return select(first, lhs, rhs);
  }

  if (constantValue(lhs))
    std::swap(lhs, rhs);
  std::optional<APFloat> limit = constantValue(rhs);
  if (limit && !limit->isNaN()) {
    // Equal values take the constant, except a zero that the other zero beats.
    bool keepsEqual = limit->isZero() && limit->isNegative() == isMax;
    P predicate =
        isMax ? (keepsEqual ? P::UGE : P::UGT) : (keepsEqual ? P::ULE : P::ULT);
    return select(emitCompare(predicate, lhs, rhs), lhs, rhs);
  }
  Value result =
      select(emitCompare(isMax ? P::UGT : P::ULT, lhs, rhs), lhs, rhs);
  if (!noNaN)
    result = select(make<spirv::IsNanOp>(rhs), rhs, result);
  if (anyZero)
    return result;
  Type bits = b.getIntegerType(lhs.getType().getIntOrFloatBitWidth());
  Value l = bitcast(lhs, bits), r = bitcast(rhs, bits);
  Value merged =
      isMax ? make<spirv::BitwiseAndOp>(l, r) : make<spirv::BitwiseOrOp>(l, r);
  return select(emitCompare(P::OEQ, lhs, rhs), bitcast(merged, lhs.getType()),
                result);
}

Value KernelEmitter::emitFloat(Operation *op, ValueRange args) {
  Value lhs = args[0], rhs = args.size() > 1 ? args[1] : Value();
  Type type = lhs.getType();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::AddFOp) { return makeExact<spirv::FAddOp>(lhs, rhs); })
      .Case([&](arith::SubFOp) { return makeExact<spirv::FSubOp>(lhs, rhs); })
      .Case([&](arith::MulFOp) { return makeExact<spirv::FMulOp>(lhs, rhs); })
      .Case([&](arith::DivFOp) { return makeExact<spirv::FDivOp>(lhs, rhs); })
      .Case([&](arith::RemFOp) { return makeExact<spirv::FRemOp>(lhs, rhs); })
      .Case([&](arith::NegFOp) { return make<spirv::FNegateOp>(lhs); })
      .Case([&](arith::CmpFOp compare) {
        return emitCompare(compare.getPredicate(), lhs, rhs);
      })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp>(
          [&](Operation *minMax) { return emitMinMax(minMax, lhs, rhs); })
      .Case([&](math::FmaOp) {
        Value fused = make<spirv::GLFmaOp>(type, lhs, rhs, args[2]);
        fused.getDefiningOp()->setAttr("no_contraction", b.getUnitAttr());
        return fused;
      })
      .Case([&](math::AbsFOp) { return make<spirv::GLFAbsOp>(lhs); })
      .Case([&](math::SqrtOp) { return make<spirv::GLSqrtOp>(lhs); })
      .Case([&](math::RsqrtOp) { return make<spirv::GLInverseSqrtOp>(lhs); })
      .Case([&](math::FloorOp) { return make<spirv::GLFloorOp>(lhs); })
      .Case([&](math::CeilOp) { return make<spirv::GLCeilOp>(lhs); })
      .Case([&](math::RoundEvenOp) { return make<spirv::GLRoundEvenOp>(lhs); })
      .Case([&](math::TruncOp) { // the dialect has no GL.Trunc
        Value negative =
            emitCompare(arith::CmpFPredicate::OLT, lhs, constantFloat(type, 0));
        // floor keeps the sign of zeros; ceil(-0.5) is -0.
        return select(negative, make<spirv::GLCeilOp>(lhs),
                      make<spirv::GLFloorOp>(lhs));
      })
      .Case([&](math::CopySignOp) {
        unsigned width = type.getIntOrFloatBitWidth();
        Type bits = b.getIntegerType(width);
        APInt mask = APInt::getSignMask(width);
        Value sign = make<spirv::BitwiseAndOp>(
            bitcast(rhs, bits), constant(b.getIntegerAttr(bits, mask)));
        Value magnitude = make<spirv::BitwiseAndOp>(
            bitcast(lhs, bits), constant(b.getIntegerAttr(bits, ~mask)));
        return bitcast(make<spirv::BitwiseOrOp>(magnitude, sign), type);
      })
      .Default([](Operation *) { return Value(); });
}
