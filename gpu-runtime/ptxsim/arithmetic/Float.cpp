// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Correctly rounded floating-point arithmetic: add, sub, mul, fma, div, rcp, sqrt, min, max, abs, neg, copysign.
// Directed rounding of f32 and f64 uses the host's rounding mode around the whole instruction (this file is compiled
// with -frounding-math); the 16-bit types round in their store().

#include "arithmetic/Families.h"
#include "arithmetic/FloatTypes.h"
#include "machine/LaneLoops.h"

#include <cfenv>

namespace tilewright::ptxsim {
namespace {

void withRounding(ExecContext &context, const Inst &inst) {
  std::fesetround(inst.rounding == Rounding::Zero   ? FE_TOWARDZERO
                  : inst.rounding == Rounding::Down ? FE_DOWNWARD
                                                    : FE_UPWARD);
  inst.inner(context, inst);
  std::fesetround(FE_TONEAREST);
}

template <typename Value> Value clampUnit(Value value) { return value > 0 ? (value < 1 ? value : Value(1)) : Value(0); }

template <typename Format> uint64_t finish(typename Format::Value value, const Inst &inst) {
  using Value = typename Format::Value;
  if (inst.sat)
    value = clampUnit(value);
  if (inst.relu && !(value != value) && !(value > 0))
    value = Value(0);
  return Format::store(value, inst.ftz, inst.rounding);
}

template <typename Format> uint64_t add(uint64_t a, uint64_t b, const Inst &inst) {
  return finish<Format>(Format::add(Format::load(a, inst.ftz), Format::load(b, inst.ftz)), inst);
}
template <typename Format> uint64_t sub(uint64_t a, uint64_t b, const Inst &inst) {
  return finish<Format>(Format::add(Format::load(a, inst.ftz), -Format::load(b, inst.ftz)), inst);
}
template <typename Format> uint64_t mul(uint64_t a, uint64_t b, const Inst &inst) {
  return finish<Format>(Format::mul(Format::load(a, inst.ftz), Format::load(b, inst.ftz)), inst);
}
template <typename Format> uint64_t fma(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  return finish<Format>(Format::fma(Format::load(a, inst.ftz), Format::load(b, inst.ftz), Format::load(c, inst.ftz)),
                        inst);
}
template <typename Format> uint64_t divide(uint64_t a, uint64_t b, const Inst &inst) {
  return finish<Format>(Format::load(a, inst.ftz) / Format::load(b, inst.ftz), inst);
}
/// Division by a reciprocal: divisors beyond 2^126 count as infinite, as the ISA documents.
uint64_t divideApprox(uint64_t a, uint64_t b, const Inst &inst) {
  float x = F32::load(a, inst.ftz), y = F32::load(b, inst.ftz);
  if (std::isfinite(y) && std::fabs(y) > 0x1p126f)
    return F32::store(std::isinf(x) ? NAN
                                    : std::copysign(0.0f, std::signbit(x) != std::signbit(y) ? -1.0f : 1.0f) *
                                          (x != x ? x : 1.0f),
                      inst.ftz, inst.rounding);
  return F32::store(x / y, inst.ftz, inst.rounding);
}
template <typename Format> uint64_t reciprocal(uint64_t a, const Inst &inst) {
  return finish<Format>(1 / Format::load(a, inst.ftz), inst);
}
/// rcp.approx.ftz.f64: only the upper 32 bits of the operand and the result count.
uint64_t reciprocalHigh(uint64_t a, const Inst &) {
  double value = bitCast<double>(a & 0xffffffff00000000ull);
  if (std::fabs(value) < DBL_MIN)
    value = std::copysign(0.0, value);
  double result = 1 / value;
  if (std::fabs(result) < DBL_MIN)
    result = std::copysign(0.0, result);
  return result != result ? 0x7fffffff00000000ull : bitCast<uint64_t>(result) & 0xffffffff00000000ull;
}
template <typename Format> uint64_t squareRoot(uint64_t a, const Inst &inst) {
  return finish<Format>(std::sqrt(Format::load(a, inst.ftz)), inst);
}

template <typename Value> Value pickMinMax(Value x, Value y, bool isMax) {
  if (x == 0 && y == 0) // -0 is less than +0
    return std::signbit(x) == isMax ? y : x;
  return isMax ? (x > y ? x : y) : (x < y ? x : y);
}
template <typename Format, bool IsMax> uint64_t minMax(uint64_t a, uint64_t b, const Inst &inst) {
  using Value = typename Format::Value;
  Value x = Format::load(a, inst.ftz), y = Format::load(b, inst.ftz);
  bool sign = false;
  if (inst.xorSign) {
    sign = std::signbit(x) != std::signbit(y);
    x = std::fabs(x);
    y = std::fabs(y);
  }
  Value result;
  if (x != x || y != y)
    result = inst.nan || (x != x && y != y) ? static_cast<Value>(NAN) : x != x ? y : x;
  else
    result = pickMinMax(x, y, IsMax);
  if (sign && result == result)
    result = -result;
  return Format::store(result, inst.ftz, Rounding::Nearest);
}

template <uint64_t (*Half)(uint64_t, const Inst &)> uint64_t pair1(uint64_t a, const Inst &inst) {
  return Half(a & 0xffff, inst) | Half(a >> 16 & 0xffff, inst) << 16;
}
template <uint64_t (*Half)(uint64_t, uint64_t, const Inst &)> uint64_t pair2(uint64_t a, uint64_t b, const Inst &inst) {
  return Half(a & 0xffff, b & 0xffff, inst) | Half(a >> 16 & 0xffff, b >> 16 & 0xffff, inst) << 16;
}
template <uint64_t (*Half)(uint64_t, uint64_t, uint64_t, const Inst &)>
uint64_t pair3(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  return Half(a & 0xffff, b & 0xffff, c & 0xffff, inst) |
         Half(a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff, inst) << 16;
}

/// Sign operations work on the bits; `mode` 0 clears the sign, 1 flips it.
template <unsigned Bits> uint64_t changeSign(uint64_t a, const Inst &inst) {
  if (inst.ftz) {
    if (inst.type == ScalarType::F32)
      a = bitCast<uint32_t>(F32::load(a, true));
    else if (Bits == 16 && (a & 0x7c00) == 0)
      a &= 0x8000;
  }
  uint64_t sign = 1ull << (Bits - 1);
  return inst.mode ? a ^ sign : a & ~sign;
}
template <unsigned Bits> uint64_t copySign(uint64_t a, uint64_t b, const Inst &) {
  uint64_t sign = 1ull << (Bits - 1);
  return (a & sign) | (b & ~sign);
}

/// Handlers of one operation for each type; empty where the type has none.
struct ByType {
  Handler f32 = nullptr, f64 = nullptr, f16 = nullptr, bf16 = nullptr, f16x2 = nullptr, bf16x2 = nullptr;
  Handler at(ScalarType type) const {
    switch (type) {
    case ScalarType::F32:
      return f32;
    case ScalarType::F64:
      return f64;
    case ScalarType::F16:
      return f16;
    case ScalarType::BF16:
      return bf16;
    case ScalarType::F16x2:
      return f16x2;
    case ScalarType::BF16x2:
      return bf16x2;
    default:
      return nullptr;
    }
  }
};

bool floatOperands(InstDecoder &d, const ByType &handlers, size_t count) {
  Inst &inst = d.inst;
  inst.run = handlers.at(inst.type);
  if (!inst.run)
    return d.unsupported("this type");
  bool isHalf = inst.type != ScalarType::F32 && inst.type != ScalarType::F64;
  if (isHalf && inst.rounding != Rounding::Nearest)
    return d.unsupported("this rounding mode for a 16-bit type");
  if (inst.type == ScalarType::F64 && (inst.ftz || inst.sat))
    return d.unsupported(".ftz or .sat for f64");
  wrapRounding(inst);
  return d.expectOperands(count + 1) && d.destination(0, inst.type) && d.sameTypeSources(1, count, inst.type);
}

void takeArithmeticModifiers(InstDecoder &d) {
  d.takeRounding();
  d.takeFtz();
  d.takeSat();
}

constexpr ByType addHandlers = {binary<add<F32>>,  binary<add<F64>>,        binary<add<F16>>,
                                binary<add<BF16>>, binary<pair2<add<F16>>>, binary<pair2<add<BF16>>>};
constexpr ByType subHandlers = {binary<sub<F32>>,  binary<sub<F64>>,        binary<sub<F16>>,
                                binary<sub<BF16>>, binary<pair2<sub<F16>>>, binary<pair2<sub<BF16>>>};
constexpr ByType mulHandlers = {binary<mul<F32>>,  binary<mul<F64>>,        binary<mul<F16>>,
                                binary<mul<BF16>>, binary<pair2<mul<F16>>>, binary<pair2<mul<BF16>>>};
constexpr ByType fmaHandlers = {ternary<fma<F32>>,  ternary<fma<F64>>,        ternary<fma<F16>>,
                                ternary<fma<BF16>>, ternary<pair3<fma<F16>>>, ternary<pair3<fma<BF16>>>};
template <bool IsMax>
constexpr ByType minMaxHandlers = {binary<minMax<F32, IsMax>>,        binary<minMax<F64, IsMax>>,
                                   binary<minMax<F16, IsMax>>,        binary<minMax<BF16, IsMax>>,
                                   binary<pair2<minMax<F16, IsMax>>>, binary<pair2<minMax<BF16, IsMax>>>};
constexpr ByType signHandlers = {unary<changeSign<32>>, unary<changeSign<64>>,        unary<changeSign<16>>,
                                 unary<changeSign<16>>, unary<pair1<changeSign<16>>>, unary<pair1<changeSign<16>>>};

} // namespace

void wrapRounding(Inst &inst) {
  bool native = inst.type == ScalarType::F32 || inst.type == ScalarType::F64;
  if (!native || inst.rounding == Rounding::Nearest)
    return;
  inst.inner = inst.run;
  inst.run = withRounding;
}

bool decodeFloatAddSub(InstDecoder &d, bool isSub) {
  takeArithmeticModifiers(d);
  return floatOperands(d, isSub ? subHandlers : addHandlers, 2);
}

bool decodeFloatMul(InstDecoder &d) {
  takeArithmeticModifiers(d);
  return floatOperands(d, mulHandlers, 2);
}

bool decodeFma(InstDecoder &d) {
  takeArithmeticModifiers(d);
  d.inst.relu = d.take("relu");
  d.inst.type = d.takeType();
  return floatOperands(d, fmaHandlers, 3);
}

bool decodeFloatDiv(InstDecoder &d) {
  bool isApprox = d.take("approx"), isFull = d.take("full");
  takeArithmeticModifiers(d);
  if ((isApprox || isFull) && d.inst.type != ScalarType::F32)
    return d.unsupported("this type");
  ByType handlers;
  handlers.f32 = isApprox ? binary<divideApprox> : binary<divide<F32>>;
  handlers.f64 = binary<divide<F64>>;
  return floatOperands(d, handlers, 2);
}

bool decodeRcp(InstDecoder &d) {
  bool isApprox = d.take("approx");
  takeArithmeticModifiers(d);
  d.inst.type = d.takeType();
  ByType handlers;
  handlers.f32 = unary<reciprocal<F32>>;
  handlers.f64 = unary<reciprocal<F64>>;
  if (isApprox && d.inst.type == ScalarType::F64) {
    handlers.f64 = unary<reciprocalHigh>;
    d.inst.ftz = false;
  }
  return floatOperands(d, handlers, 1);
}

bool decodeSqrt(InstDecoder &d) {
  d.take("approx");
  takeArithmeticModifiers(d);
  d.inst.type = d.takeType();
  ByType handlers;
  handlers.f32 = unary<squareRoot<F32>>;
  handlers.f64 = unary<squareRoot<F64>>;
  return floatOperands(d, handlers, 1);
}

bool decodeFloatMinMax(InstDecoder &d, bool isMax) {
  Inst &inst = d.inst;
  d.takeFtz();
  inst.nan = d.take("NaN");
  inst.xorSign = d.take("xorsign");
  if (inst.xorSign && !d.take("abs"))
    return d.fail(".xorsign comes with .abs");
  return floatOperands(d, isMax ? minMaxHandlers<true> : minMaxHandlers<false>, 2);
}

bool decodeFloatAbs(InstDecoder &d) {
  d.takeFtz();
  return floatOperands(d, signHandlers, 1);
}

bool decodeFloatNeg(InstDecoder &d) {
  d.takeFtz();
  d.inst.mode = 1;
  return floatOperands(d, signHandlers, 1);
}

bool decodeCopysign(InstDecoder &d) {
  d.inst.type = d.takeType();
  ByType handlers;
  handlers.f32 = binary<copySign<32>>;
  handlers.f64 = binary<copySign<64>>;
  return floatOperands(d, handlers, 2);
}

} // namespace tilewright::ptxsim
