// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt between all scalar types, and to and from packed pairs. A value passes through one of two exact forms: 64-bit
// integers, or double. Only 64-bit integers do not fit in double exactly; those are rounded to odd on the way, so that
// the rounding to the result type remains the only one.

#include "arithmetic/Families.h"
#include "arithmetic/FloatTypes.h"
#include "decode/Decoder.h"
#include "machine/LaneLoops.h"

#include <algorithm>
#include <cfenv>

namespace tilewright::ptxsim {
namespace {

/// inst.mode of a conversion.
enum Mode : uint8_t { Plain = 0, IntegerRounding = 1, SaturateFinite = 2 };

int64_t signExtend(uint64_t bits, unsigned width) { return static_cast<int64_t>(bits << (64 - width)) >> (64 - width); }

uint64_t extendToRegister(uint64_t value, ScalarType type, unsigned registerBits) {
  unsigned width = bitWidth(type);
  value &= lowBits(width);
  if (isSigned(type) && registerBits > width)
    value = static_cast<uint64_t>(signExtend(value, width)) & lowBits(registerBits);
  return value;
}

double roundToInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return std::nearbyint(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::NearestAway:
    return std::round(value);
  }
  return value;
}

double loadFloat(uint64_t bits, ScalarType type, bool ftz) {
  switch (type) {
  case ScalarType::F16:
    return F16::load(bits, false);
  case ScalarType::BF16:
    return BF16::load(bits, false);
  case ScalarType::F32:
  case ScalarType::TF32:
    return F32::load(bits, ftz);
  default:
    return bitCast<double>(bits);
  }
}

uint64_t roundToF32(double value, Rounding rounding) {
  if (value != value)
    return 0x7fffffff;
  float nearest = static_cast<float>(value);
  // Correct the nearest result towards the wanted side; comparisons with the exact double decide.
  if (rounding == Rounding::Zero)
    rounding = value < 0 ? Rounding::Up : Rounding::Down;
  if (rounding == Rounding::Down && static_cast<double>(nearest) > value)
    nearest = std::nextafter(nearest, -INFINITY);
  else if (rounding == Rounding::Up && static_cast<double>(nearest) < value)
    nearest = std::nextafter(nearest, INFINITY);
  return bitCast<uint32_t>(nearest);
}

uint64_t storeFloat(double value, const Inst &inst) {
  if (inst.sat)
    value = value > 0 ? std::min(value, 1.0) : 0.0;
  if (inst.relu && !(value != value) && !(value > 0))
    value = 0;
  bool finite = inst.mode & SaturateFinite;
  switch (inst.type) {
  case ScalarType::F16:
    return doubleToSmall(value, f16Format, inst.rounding, finite);
  case ScalarType::BF16:
    return doubleToSmall(value, bf16Format, inst.rounding, finite);
  case ScalarType::TF32:
    return uint64_t(doubleToSmall(value, tf32Format, inst.rounding, finite)) << 13 | (value != value ? 0x1fff : 0);
  case ScalarType::F32: {
    uint64_t bits = roundToF32(value, inst.rounding);
    return inst.ftz ? bitCast<uint32_t>(F32::flush(bitCast<float>(static_cast<uint32_t>(bits)))) : bits;
  }
  default:
    return F64::store(value, false, inst.rounding);
  }
}

uint64_t integerToInteger(uint64_t a, const Inst &inst) {
  unsigned fromBits = bitWidth(inst.fromType), toBits = bitWidth(inst.type);
  uint64_t value = isSigned(inst.fromType) ? static_cast<uint64_t>(signExtend(a, fromBits)) : a & lowBits(fromBits);
  if (inst.sat) {
    bool negative = isSigned(inst.fromType) && static_cast<int64_t>(value) < 0;
    if (isSigned(inst.type)) {
      int64_t high = static_cast<int64_t>(lowBits(toBits - 1)), low = -high - 1;
      if (negative)
        value = static_cast<uint64_t>(std::max(static_cast<int64_t>(value), low));
      else
        value = std::min(value, static_cast<uint64_t>(high));
    } else {
      value = negative ? 0 : std::min(value, lowBits(toBits));
    }
  }
  return extendToRegister(value, inst.type, inst.dstBits);
}

uint64_t floatToInteger(uint64_t a, const Inst &inst) {
  double value = loadFloat(a, inst.fromType, inst.ftz);
  unsigned bits = bitWidth(inst.type);
  if (value != value)
    return inst.fromType == ScalarType::F64 || bits == 64
               ? extendToRegister(1ull << (bits - 1), inst.type, inst.dstBits)
               : 0;
  value = roundToInteger(value, inst.rounding);
  uint64_t result;
  if (isSigned(inst.type)) {
    double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
    result = value >= limit   ? lowBits(bits - 1)
             : value < -limit ? 1ull << (bits - 1)
                              : static_cast<uint64_t>(static_cast<int64_t>(value));
  } else {
    double limit = std::ldexp(1.0, static_cast<int>(bits));
    result = value >= limit ? lowBits(bits) : value <= 0 ? 0 : static_cast<uint64_t>(value);
  }
  return extendToRegister(result, inst.type, inst.dstBits);
}

double toOddDouble(uint64_t magnitude, bool negative) {
  if (magnitude >> 53) {
    unsigned drop = 11 - static_cast<unsigned>(__builtin_clzll(magnitude));
    bool sticky = (magnitude & lowBits(drop)) != 0;
    magnitude = (magnitude >> drop | sticky) << drop;
  }
  double value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

uint64_t integerToFloat(uint64_t a, const Inst &inst) {
  unsigned bits = bitWidth(inst.fromType);
  bool negative = isSigned(inst.fromType) && (a >> (bits - 1) & 1);
  uint64_t magnitude =
      negative ? static_cast<uint64_t>(0) - static_cast<uint64_t>(signExtend(a, bits)) : a & lowBits(bits);
  if (inst.type != ScalarType::F64)
    return storeFloat(toOddDouble(magnitude, negative), inst);
  // To f64 the value itself is rounded.
  double low = static_cast<double>(magnitude);
  if (inst.rounding != Rounding::Nearest && magnitude >> 53) {
    unsigned drop = 11 - static_cast<unsigned>(__builtin_clzll(magnitude));
    low = static_cast<double>(magnitude >> drop << drop);
    bool away = inst.rounding == (negative ? Rounding::Down : Rounding::Up);
    if (away && (magnitude & lowBits(drop)) != 0)
      low = std::nextafter(low, INFINITY);
  }
  return bitCast<uint64_t>(negative ? -low : low);
}

uint64_t floatToFloat(uint64_t a, const Inst &inst) {
  double value = loadFloat(a, inst.fromType, inst.ftz);
  if (inst.mode & IntegerRounding) {
    Inst exact = inst;
    exact.rounding = Rounding::Nearest;
    return storeFloat(roundToInteger(value, inst.rounding), exact);
  }
  return storeFloat(value, inst);
}

/// d = {a, b}: the first source becomes the upper element.
template <const SmallFormat &Format, unsigned Bits> uint64_t packFloats(uint64_t a, uint64_t b, const Inst &inst) {
  auto half = [&](uint64_t bits) -> uint64_t {
    double value = F32::load(bits, inst.ftz);
    if (inst.relu && !(value != value) && !(value > 0))
      value = 0;
    return doubleToSmall(value, Format, inst.rounding, inst.mode & SaturateFinite);
  };
  return half(a) << Bits | half(b);
}
template <const SmallFormat &Format> uint64_t packHalves(uint64_t a, const Inst &inst) {
  auto element = [&](uint64_t bits) -> uint64_t {
    double value = halfToDouble(bits);
    if (inst.relu && !(value != value) && !(value > 0))
      value = 0;
    return doubleToSmall(value, Format, inst.rounding, true);
  };
  return element(a >> 16) << 8 | element(a);
}
template <const SmallFormat &Format> uint64_t unpackToHalves(uint64_t a, const Inst &inst) {
  auto element = [&](uint64_t bits) -> uint64_t {
    double value = smallToDouble(bits & 0xff, Format);
    if (inst.relu && !(value != value) && !(value > 0))
      value = 0;
    return doubleToSmall(value, f16Format);
  };
  return element(a >> 8) << 16 | element(a);
}

/// cvt.pack.sat: two s32 become the low elements; the rest comes from c, shifted up.
uint64_t packIntegers(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  unsigned bits = bitWidth(inst.fromType);
  auto element = [&](uint64_t value) -> uint64_t {
    int64_t wide = static_cast<int32_t>(value);
    int64_t low = isSigned(inst.fromType) ? -(int64_t(1) << (bits - 1)) : 0;
    int64_t high = static_cast<int64_t>(lowBits(isSigned(inst.fromType) ? bits - 1 : bits));
    return static_cast<uint64_t>(std::clamp(wide, low, high)) & lowBits(bits);
  };
  return (c << 2 * bits | element(a) << bits | element(b)) & 0xffffffff;
}

bool decodePack(InstDecoder &d) {
  Inst &inst = d.inst;
  if (!d.take("sat"))
    return d.fail("cvt.pack needs .sat");
  inst.fromType = d.takeType();
  ScalarType from = d.takeType();
  ScalarType rest = d.takeType();
  bool threeOperands = rest != ScalarType::None;
  if (from != ScalarType::S32 || !isInteger(inst.fromType) || bitWidth(inst.fromType) > 16)
    return d.unsupported("this type");
  inst.type = ScalarType::B32;
  inst.run = ternary<packIntegers>;
  if (!d.expectOperands(threeOperands ? 4 : 3) || !d.destination(0, inst.type) ||
      !d.sameTypeSources(1, 2, ScalarType::S32))
    return false;
  if (threeOperands)
    return d.source(3, ScalarType::B32);
  d.constant(0);
  return true;
}

bool isBytes(ScalarType type) { return type == ScalarType::E4M3x2 || type == ScalarType::E5M2x2; }

bool decodePacked(InstDecoder &d) {
  Inst &inst = d.inst;
  // sm_89 followed sm_90 in PTX 8.1.
  if ((isBytes(inst.type) || isBytes(inst.fromType)) && d.decoder.module.version < 81 && !d.needs(78, 90))
    return false;
  if (inst.type == ScalarType::F16x2 && inst.fromType != ScalarType::F32) {
    inst.run = inst.fromType == ScalarType::E4M3x2   ? unary<unpackToHalves<e4m3Format>>
               : inst.fromType == ScalarType::E5M2x2 ? unary<unpackToHalves<e5m2Format>>
                                                     : nullptr;
    return d.expectOperands(2) && d.destination(0, inst.type) && d.source(1, inst.fromType);
  }
  if (inst.fromType == ScalarType::F16x2) {
    inst.run = inst.type == ScalarType::E4M3x2   ? unary<packHalves<e4m3Format>>
               : inst.type == ScalarType::E5M2x2 ? unary<packHalves<e5m2Format>>
                                                 : nullptr;
    return d.expectOperands(2) && d.destination(0, inst.type) && d.source(1, inst.fromType);
  }
  if (inst.fromType != ScalarType::F32)
    return d.unsupported("this pair of types");
  switch (inst.type) {
  case ScalarType::F16x2:
    inst.run = binary<packFloats<f16Format, 16>>;
    break;
  case ScalarType::BF16x2:
    inst.run = binary<packFloats<bf16Format, 16>>;
    break;
  case ScalarType::E4M3x2:
    inst.run = binary<packFloats<e4m3Format, 8>>;
    break;
  case ScalarType::E5M2x2:
    inst.run = binary<packFloats<e5m2Format, 8>>;
    break;
  default:
    break;
  }
  return d.expectOperands(3) && d.destination(0, inst.type) && d.sameTypeSources(1, 2, ScalarType::F32);
}

bool takeIntegerRounding(InstDecoder &d) {
  static constexpr struct {
    std::string_view name;
    Rounding mode;
  } modes[] = {{"rni", Rounding::Nearest}, {"rzi", Rounding::Zero}, {"rmi", Rounding::Down}, {"rpi", Rounding::Up}};
  for (const auto &mode : modes)
    if (d.take(mode.name)) {
      d.inst.rounding = mode.mode;
      return true;
    }
  return false;
}

} // namespace

bool decodeCvt(InstDecoder &d) {
  Inst &inst = d.inst;
  if (d.take("pack"))
    return decodePack(d);
  bool integerRounding = takeIntegerRounding(d);
  bool rounding = d.takeRounding();
  d.takeFtz();
  d.takeSat();
  inst.relu = d.take("relu");
  inst.mode = (integerRounding ? IntegerRounding : Plain) | (d.take("satfinite") ? SaturateFinite : Plain);
  inst.type = d.takeType();
  inst.fromType = d.takeType();
  if (inst.type == ScalarType::None || inst.fromType == ScalarType::None)
    return d.fail("cvt needs two types");
  if (kindOf(inst.type) == TypeKind::Packed || kindOf(inst.fromType) == TypeKind::Packed)
    return decodePacked(d);
  bool fromFloat = isFloat(inst.fromType), toFloat = isFloat(inst.type);
  if ((!fromFloat && !isInteger(inst.fromType)) || (!toFloat && !isInteger(inst.type)))
    return d.unsupported("this type");
  if (fromFloat && toFloat) {
    bool widens = bitWidth(inst.type) > bitWidth(inst.fromType) && inst.type != ScalarType::TF32;
    bool same = inst.type == inst.fromType;
    if (!widens && !same && !rounding && !integerRounding)
      return d.fail("a narrowing conversion needs a rounding mode");
    inst.run = unary<floatToFloat>;
  } else if (fromFloat) {
    if (!integerRounding)
      return d.fail("a conversion to integer needs .rni, .rzi, .rmi or .rpi");
    inst.run = unary<floatToInteger>;
  } else if (toFloat) {
    if (!rounding)
      return d.fail("a conversion from integer needs a rounding mode");
    inst.run = unary<integerToFloat>;
  } else {
    inst.run = unary<integerToInteger>;
    inst.undef = inst.sat ? UndefRule::All : UndefRule::Extend;
  }
  return d.expectOperands(2) && d.destination(0, inst.type) && d.source(1, inst.fromType);
}

} // namespace tilewright::ptxsim
