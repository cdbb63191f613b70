// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between scalar types, and bf16 as the upper half of an f32:
//
//   f32  s eeeeeeee mmmmmmm mmmmmmmmmmmmmmmm
//   bf16 s eeeeeeee mmmmmmm
//
// Rounding to nearest even adds 0x7fff plus the lowest bit that stays. Sources
// wider than f32 are first rounded to odd (inexact results get an odd last
// bit), so that the second rounding sees on which side the exact value lay.

#include "KernelEmitter.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;

Value KernelEmitter::convertInteger(Value value, Type to, bool isSigned) {
  Type from = value.getType();
  if (from == to)
    return value;
  if (from.isInteger(1))
    return select(value, constant(to, isSigned ? -1 : 1), constant(to, 0));
  if (to.isInteger(1))
    return make<spirv::INotEqualOp>(
        make<spirv::BitwiseAndOp>(value, constant(from, 1)), constant(from, 0));
  return isSigned ? make<spirv::SConvertOp>(to, value)
                  : make<spirv::UConvertOp>(to, value);
}

Value KernelEmitter::widenBF16(Value bits) {
  Type word = b.getI32Type();
  Value upper = make<spirv::ShiftLeftLogicalOp>(
      convertInteger(bits, word, false), constant(word, 16));
  return bitcast(upper, b.getF32Type());
}

Value KernelEmitter::narrowBF16(Value value) {
  Type word = b.getI32Type();
  auto upper = [&](Value bits) {
    return make<spirv::ShiftRightLogicalOp>(bits, constant(word, 16));
  };
  Value bits = bitcast(value, word);
  Value even = make<spirv::BitwiseAndOp>(upper(bits), constant(word, 1));
  Value rounded = make<spirv::IAddOp>(
      bits, make<spirv::IAddOp>(even, constant(word, 0x7fff)));
  // A NaN stays one, even if its payload was in the lower half.
  Value nan = make<spirv::BitwiseOrOp>(bits, constant(word, 0x400000));
  Value chosen = select(make<spirv::IsNanOp>(value), nan, rounded);
  return make<spirv::UConvertOp>(b.getIntegerType(16), upper(chosen));
}

Value KernelEmitter::roundToOddF32(Value f64) {
  Type word = b.getI32Type(), f32 = b.getF32Type();
  Value near = make<spirv::FConvertOp>(f32, f64);
  Value bits = bitcast(near, word);
  Value back = make<spirv::FConvertOp>(f64.getType(), near);
  // Step towards the exact value, if it was passed, then make the bit odd: if
  // `near` is too large in magnitude the result is its predecessor or itself,
  // whichever is odd.
  Value tooLarge = make<spirv::FOrdGreaterThanOp>(make<spirv::GLFAbsOp>(back),
                                                  make<spirv::GLFAbsOp>(f64));
  Value stepped =
      select(tooLarge, make<spirv::ISubOp>(bits, constant(word, 1)), bits);
  Value odd = make<spirv::BitwiseOrOp>(stepped, constant(word, 1));
  Value inexact = make<spirv::FOrdNotEqualOp>(back, f64);
  return bitcast(select(inexact, odd, bits), f32);
}

Value KernelEmitter::emitCast(Operation *op, Value arg, Type from, Type to) {
  Type type = registerType(to);
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return convertInteger(arg, type, /*isSigned=*/false);
  if (isa<arith::ExtSIOp, arith::IndexCastOp, arith::TruncIOp>(op))
    return convertInteger(arg, type, /*isSigned=*/true);
  if (isa<arith::BitcastOp>(op)) {
    if (arg.getType().isInteger(1) || type.isInteger(1))
      return arg.getType() == type ? arg : Value();
    return bitcast(arg, type);
  }
  if (isa<arith::ExtFOp>(op)) {
    Value wide = from.isBF16() ? widenBF16(arg) : arg;
    return wide.getType() == type ? wide : make<spirv::FConvertOp>(type, wide);
  }
  if (auto trunc = dyn_cast<arith::TruncFOp>(op)) {
    if (trunc.getRoundingmode().value_or(
            arith::RoundingMode::to_nearest_even) !=
        arith::RoundingMode::to_nearest_even)
      return {};
    if (to.isBF16())
      return narrowBF16(from.isF64() ? roundToOddF32(arg) : arg);
    if (from.isF64() && to.isF16()) // drivers round twice
      arg = roundToOddF32(arg);
    return make<spirv::FConvertOp>(type, arg);
  }
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    bool isSigned = isa<arith::SIToFPOp>(op);
    Type f = to.isBF16() ? b.getF32Type() : type;
    Value result;
    if (arg.getType().isInteger(1)) {
      result =
          select(arg, constantFloat(f, isSigned ? -1 : 1), constantFloat(f, 0));
    } else {
      result = isSigned ? make<spirv::ConvertSToFOp>(f, arg)
                        : make<spirv::ConvertUToFOp>(f, arg);
    }
    return to.isBF16() ? narrowBF16(result) : result;
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    Value source = from.isBF16() ? widenBF16(arg) : arg;
    Type integer = type.isInteger(1) ? Type(b.getI32Type()) : type;
    Value result = isa<arith::FPToSIOp>(op)
                       ? make<spirv::ConvertFToSOp>(integer, source)
                       : make<spirv::ConvertFToUOp>(integer, source);
    return convertInteger(result, type, /*isSigned=*/true);
  }
  return {};
}
