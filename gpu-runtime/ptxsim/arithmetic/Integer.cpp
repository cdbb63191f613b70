// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic: add, sub, mul, mad, mul24, mad24, sad, div, rem, abs, neg, min, max, the carry chain, dp4a, dp2a.
// Division by zero gives all ones and a remainder equal to the dividend, as NVIDIA GPUs compute it (the ISA leaves both
// unspecified).

#include "arithmetic/Families.h"
#include "machine/LaneLoops.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace tilewright::ptxsim {
namespace {

using Wide = __int128;
using UWide = unsigned __int128;

template <typename T> constexpr uint64_t canon(T value) {
  return static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
}

template <typename T> uint64_t add(uint64_t a, uint64_t b, const Inst &) {
  return canon<T>(static_cast<T>(a + b));
}
template <typename T> uint64_t sub(uint64_t a, uint64_t b, const Inst &) { return canon<T>(static_cast<T>(a - b)); }

template <typename T> T saturate(int64_t value) {
  return static_cast<T>(std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
uint64_t addSat(uint64_t a, uint64_t b, const Inst &) {
  return canon(saturate<int32_t>(int64_t(int32_t(a)) + int32_t(b)));
}
uint64_t subSat(uint64_t a, uint64_t b, const Inst &) {
  return canon(saturate<int32_t>(int64_t(int32_t(a)) - int32_t(b)));
}
uint64_t add16x2(uint64_t a, uint64_t b, const Inst &) {
  return ((a & 0xffff0000) + (b & 0xffff0000)) & 0xffff0000 | (a + b) & 0xffff;
}

template <typename T> uint64_t mulLow(uint64_t a, uint64_t b, const Inst &) { return canon<T>(static_cast<T>(a * b)); }
template <typename T> uint64_t mulHigh(uint64_t a, uint64_t b, const Inst &) {
  using W = std::conditional_t<std::is_signed_v<T>, Wide, UWide>;
  return canon<T>(static_cast<T>(W(static_cast<T>(a)) * W(static_cast<T>(b)) >> (8 * sizeof(T))));
}
/// The product in twice the width: 32 bits for 16-bit operands, 64 for 32-bit ones.
template <typename T> uint64_t mulWide(uint64_t a, uint64_t b, const Inst &) {
  if constexpr (sizeof(T) == 2)
    return static_cast<uint32_t>(int64_t(static_cast<T>(a)) * int64_t(static_cast<T>(b)));
  else if constexpr (std::is_signed_v<T>)
    return static_cast<uint64_t>(int64_t(static_cast<T>(a)) * int64_t(static_cast<T>(b)));
  else
    return uint64_t(static_cast<T>(a)) * uint64_t(static_cast<T>(b));
}
template <typename T> uint64_t madLow(uint64_t a, uint64_t b, uint64_t c, const Inst &) {
  return canon<T>(static_cast<T>(a * b + c));
}
template <typename T> uint64_t madHigh(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  return canon<T>(static_cast<T>(mulHigh<T>(a, b, inst) + c));
}
uint64_t madHighSat(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  return canon(saturate<int32_t>(int64_t(int32_t(mulHigh<int32_t>(a, b, inst))) + int32_t(c)));
}
template <typename T> uint64_t madWide(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  uint64_t sum = mulWide<T>(a, b, inst) + c;
  return sizeof(T) == 2 ? static_cast<uint32_t>(sum) : sum;
}

template <bool Signed> int64_t low24(uint64_t a) {
  return Signed ? int64_t(int32_t(uint32_t(a) << 8)) >> 8 : int64_t(a & 0xffffff);
}
template <bool Signed> uint64_t mul24Low(uint64_t a, uint64_t b, const Inst &) {
  return static_cast<uint32_t>(low24<Signed>(a) * low24<Signed>(b));
}
template <bool Signed> uint64_t mul24High(uint64_t a, uint64_t b, const Inst &) {
  return static_cast<uint32_t>((low24<Signed>(a) * low24<Signed>(b)) >> 16);
}
template <bool Signed> uint64_t mad24Low(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  return static_cast<uint32_t>(mul24Low<Signed>(a, b, inst) + c);
}
template <bool Signed> uint64_t mad24High(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  uint64_t high = mul24High<Signed>(a, b, inst);
  if (inst.sat)
    return canon(saturate<int32_t>(int64_t(int32_t(high)) + int32_t(c)));
  return static_cast<uint32_t>(high + c);
}

template <typename T> uint64_t sad(uint64_t a, uint64_t b, uint64_t c, const Inst &) {
  T x = static_cast<T>(a), y = static_cast<T>(b);
  uint64_t difference = x < y ? canon<T>(y) - canon<T>(x) : canon<T>(x) - canon<T>(y);
  return canon<T>(static_cast<T>(c + difference));
}

template <typename T> uint64_t divide(uint64_t a, uint64_t b, const Inst &) {
  T x = static_cast<T>(a), y = static_cast<T>(b);
  if (y == 0)
    return canon<T>(static_cast<T>(-1));
  if (std::is_signed_v<T> && y == static_cast<T>(-1))
    return canon<T>(static_cast<T>(0 - a));
  return canon<T>(static_cast<T>(x / y));
}
template <typename T> uint64_t remainder(uint64_t a, uint64_t b, const Inst &) {
  T x = static_cast<T>(a), y = static_cast<T>(b);
  if (y == 0)
    return canon<T>(x);
  if (std::is_signed_v<T> && y == static_cast<T>(-1))
    return 0;
  return canon<T>(static_cast<T>(x % y));
}

template <typename T> uint64_t absolute(uint64_t a, const Inst &) {
  return canon<T>(static_cast<T>(static_cast<T>(a) < 0 ? 0 - a : a));
}
template <typename T> uint64_t negate(uint64_t a, const Inst &) { return canon<T>(static_cast<T>(0 - a)); }
template <typename T> uint64_t minimum(uint64_t a, uint64_t b, const Inst &inst) {
  T result = std::min(static_cast<T>(a), static_cast<T>(b));
  return canon<T>(inst.relu && result < 0 ? T(0) : result);
}
template <typename T> uint64_t maximum(uint64_t a, uint64_t b, const Inst &inst) {
  T result = std::max(static_cast<T>(a), static_cast<T>(b));
  return canon<T>(inst.relu && result < 0 ? T(0) : result);
}
template <typename T, uint64_t (*Half)(uint64_t, uint64_t, const Inst &)>
uint64_t pairwise(uint64_t a, uint64_t b, const Inst &inst) {
  return Half(a & 0xffff, b & 0xffff, inst) | Half(a >> 16 & 0xffff, b >> 16 & 0xffff, inst) << 16;
}

// The carry chain: src[2] (or src[3]) and dst[1] are the warp's carry row where the instruction reads or writes it.
template <typename T, bool Subtract> void addCarry(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]), *b = context.row(inst.src[1]);
  uint64_t *carry = context.row(specialBank | static_cast<Row>(Special::Carry));
  bool reads = inst.mode & 1, writes = inst.mode & 2;
  forEachLane(context.mask, [&](unsigned lane) {
    UWide x = static_cast<T>(a[lane]), y = static_cast<T>(b[lane]), in = reads ? carry[lane] : 0;
    UWide result = Subtract ? x - y - in : x + y + in;
    d[lane] = static_cast<T>(result);
    if (writes)
      carry[lane] = static_cast<uint64_t>(result >> (8 * sizeof(T))) & 1;
  });
}
template <typename T, bool High> void madCarry(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]), *b = context.row(inst.src[1]), *c = context.row(inst.src[2]);
  uint64_t *carry = context.row(specialBank | static_cast<Row>(Special::Carry));
  using Unsigned = std::make_unsigned_t<T>;
  bool reads = inst.mode & 1, writes = inst.mode & 2;
  forEachLane(context.mask, [&](unsigned lane) {
    Unsigned product = static_cast<Unsigned>(High ? mulHigh<T>(a[lane], b[lane], inst) : a[lane] * b[lane]);
    UWide result = UWide(product) + static_cast<Unsigned>(c[lane]) + (reads ? carry[lane] : 0);
    d[lane] = static_cast<Unsigned>(result);
    if (writes)
      carry[lane] = static_cast<uint64_t>(result >> (8 * sizeof(T))) & 1;
  });
}

/// mode bit 0: a is signed; bit 1: b is signed; bit 2: the high pair of dp2a.
uint64_t dp4a(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  int64_t sum = static_cast<int64_t>(c);
  for (unsigned byte = 0; byte < 4; ++byte) {
    int64_t x = inst.mode & 1 ? int64_t(int8_t(a >> 8 * byte)) : int64_t(uint8_t(a >> 8 * byte));
    int64_t y = inst.mode & 2 ? int64_t(int8_t(b >> 8 * byte)) : int64_t(uint8_t(b >> 8 * byte));
    sum += x * y;
  }
  return static_cast<uint32_t>(sum);
}
uint64_t dp2a(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  int64_t sum = static_cast<int64_t>(c);
  for (unsigned i = 0; i < 2; ++i) {
    unsigned byte = i + (inst.mode & 4 ? 2 : 0);
    int64_t x = inst.mode & 1 ? int64_t(int16_t(a >> 16 * i)) : int64_t(uint16_t(a >> 16 * i));
    int64_t y = inst.mode & 2 ? int64_t(int8_t(b >> 8 * byte)) : int64_t(uint8_t(b >> 8 * byte));
    sum += x * y;
  }
  return static_cast<uint32_t>(sum);
}

/// Picks the instance for an integer type; `forms` is the number of widths, from 16 bits up.
#define BY_TYPE(inst, wrap, function)                                                                                  \
  do {                                                                                                                 \
    switch ((inst).type) {                                                                                             \
    case ScalarType::U16:                                                                                              \
      (inst).run = wrap<function<uint16_t>>;                                                                           \
      break;                                                                                                           \
    case ScalarType::S16:                                                                                              \
      (inst).run = wrap<function<int16_t>>;                                                                            \
      break;                                                                                                           \
    case ScalarType::U32:                                                                                              \
      (inst).run = wrap<function<uint32_t>>;                                                                           \
      break;                                                                                                           \
    case ScalarType::S32:                                                                                              \
      (inst).run = wrap<function<int32_t>>;                                                                            \
      break;                                                                                                           \
    case ScalarType::U64:                                                                                              \
      (inst).run = wrap<function<uint64_t>>;                                                                           \
      break;                                                                                                           \
    case ScalarType::S64:                                                                                              \
      (inst).run = wrap<function<int64_t>>;                                                                            \
      break;                                                                                                           \
    default:                                                                                                           \
      break;                                                                                                           \
    }                                                                                                                  \
  } while (false)

bool isWord(ScalarType type) { return isInteger(type) && bitWidth(type) >= 16; }

bool chainOperands(InstDecoder &d, size_t count) {
  return d.expectOperands(count + 1) && d.destination(0, d.inst.type) && d.sameTypeSources(1, count, d.inst.type);
}

/// The carry flag is no register that undefined bits are tracked for; results count as defined where sources are.
template <bool Subtract> bool decodeChain(InstDecoder &d, bool reads) {
  Inst &inst = d.inst;
  bool writes = d.take("cc");
  inst.mode = (reads ? 1 : 0) | (writes ? 2 : 0);
  if (bitWidth(inst.type) == 32)
    inst.run = addCarry<uint32_t, Subtract>;
  else if (bitWidth(inst.type) == 64)
    inst.run = addCarry<uint64_t, Subtract>;
  return chainOperands(d, 2);
}

template <typename T> Handler madCarryHandler(bool high) { return high ? madCarry<T, true> : madCarry<T, false>; }

bool decodeMadChain(InstDecoder &d, bool reads, bool high) {
  Inst &inst = d.inst;
  inst.mode = (reads ? 1 : 0) | (d.take("cc") ? 2 : 0);
  switch (inst.type) {
  case ScalarType::U32:
    inst.run = madCarryHandler<uint32_t>(high);
    break;
  case ScalarType::S32:
    inst.run = madCarryHandler<int32_t>(high);
    break;
  case ScalarType::U64:
    inst.run = madCarryHandler<uint64_t>(high);
    break;
  case ScalarType::S64:
    inst.run = madCarryHandler<int64_t>(high);
    break;
  default:
    break;
  }
  return chainOperands(d, 3);
}

} // namespace

bool decodeIntegerAddSub(InstDecoder &d, bool isSub) {
  Inst &inst = d.inst;
  inst.undef = UndefRule::Carry;
  if (inst.type == ScalarType::U16x2 || inst.type == ScalarType::S16x2) {
    if (!isSub)
      inst.run = binary<add16x2>;
    inst.undef = UndefRule::All;
  } else if (d.hasModifier("cc")) {
    return isSub ? decodeChain<true>(d, false) : decodeChain<false>(d, false);
  } else if (d.take("sat")) {
    if (inst.type != ScalarType::S32)
      return d.unsupported(".sat with this type");
    inst.run = isSub ? binary<subSat> : binary<addSat>;
    inst.undef = UndefRule::All;
  } else if (isSub) {
    BY_TYPE(inst, binary, sub);
  } else {
    BY_TYPE(inst, binary, add);
  }
  return chainOperands(d, 2);
}

bool decodeAddc(InstDecoder &d) {
  d.inst.type = d.takeType();
  return decodeChain<false>(d, true);
}
bool decodeSubc(InstDecoder &d) {
  d.inst.type = d.takeType();
  return decodeChain<true>(d, true);
}

/// The type of a product of numbers of at most 32 bits, which holds all of it.
static ScalarType doubled(ScalarType type) {
  return type == ScalarType::U16   ? ScalarType::U32
         : type == ScalarType::S16 ? ScalarType::S32
         : type == ScalarType::U32 ? ScalarType::U64
                                   : ScalarType::S64;
}

bool decodeIntegerMul(InstDecoder &d) {
  Inst &inst = d.inst;
  if (d.take("wide")) {
    ScalarType wide = doubled(inst.type);
    if (bitWidth(inst.type) > 32)
      return d.unsupported(".wide with this type");
    BY_TYPE(inst, binary, mulWide);
    return d.expectOperands(3) && d.destination(0, wide) && d.sameTypeSources(1, 2, inst.type);
  }
  if (d.take("hi")) {
    BY_TYPE(inst, binary, mulHigh);
  } else if (d.take("lo")) {
    inst.undef = UndefRule::Carry;
    BY_TYPE(inst, binary, mulLow);
  } else {
    return d.fail("an integer product needs .lo, .hi or .wide");
  }
  return chainOperands(d, 2);
}

bool decodeIntegerMad(InstDecoder &d) {
  Inst &inst = d.inst;
  if (d.take("wide")) {
    ScalarType wide = doubled(inst.type);
    if (bitWidth(inst.type) > 32)
      return d.unsupported(".wide with this type");
    BY_TYPE(inst, ternary, madWide);
    return d.expectOperands(4) && d.destination(0, wide) && d.sameTypeSources(1, 2, inst.type) && d.source(3, wide);
  }
  bool high = d.take("hi");
  if (!high && !d.take("lo"))
    return d.fail("an integer multiply-add needs .lo, .hi or .wide");
  if (d.hasModifier("cc"))
    return decodeMadChain(d, false, high);
  if (d.take("sat")) {
    if (!high || inst.type != ScalarType::S32)
      return d.unsupported(".sat with this type");
    inst.run = ternary<madHighSat>;
  } else if (high) {
    BY_TYPE(inst, ternary, madHigh);
  } else {
    inst.undef = UndefRule::Carry;
    BY_TYPE(inst, ternary, madLow);
  }
  return chainOperands(d, 3);
}

bool decodeMadc(InstDecoder &d) {
  d.inst.type = d.takeType();
  bool high = d.take("hi");
  if (!high && !d.take("lo"))
    return d.fail("an integer multiply-add needs .lo or .hi");
  return decodeMadChain(d, true, high);
}

bool decodeMul24(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.type = d.takeType();
  bool high = d.take("hi");
  if ((!high && !d.take("lo")) || bitWidth(inst.type) != 32)
    return d.unsupported("this form");
  if (isSigned(inst.type))
    inst.run = high ? binary<mul24High<true>> : binary<mul24Low<true>>;
  else
    inst.run = high ? binary<mul24High<false>> : binary<mul24Low<false>>;
  return chainOperands(d, 2);
}

bool decodeMad24(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.type = d.takeType();
  bool high = d.take("hi");
  if ((!high && !d.take("lo")) || bitWidth(inst.type) != 32)
    return d.unsupported("this form");
  if (high)
    d.takeSat();
  if (isSigned(inst.type))
    inst.run = high ? ternary<mad24High<true>> : ternary<mad24Low<true>>;
  else
    inst.run = high ? ternary<mad24High<false>> : ternary<mad24Low<false>>;
  return chainOperands(d, 3);
}

bool decodeSad(InstDecoder &d) {
  d.inst.type = d.takeType();
  BY_TYPE(d.inst, ternary, sad);
  return chainOperands(d, 3);
}

bool decodeIntegerDiv(InstDecoder &d) {
  BY_TYPE(d.inst, binary, divide);
  return chainOperands(d, 2);
}

bool decodeRem(InstDecoder &d) {
  d.inst.type = d.takeType();
  BY_TYPE(d.inst, binary, remainder);
  return chainOperands(d, 2);
}

bool decodeIntegerAbs(InstDecoder &d) {
  if (!isSigned(d.inst.type))
    return d.unsupported("this type");
  BY_TYPE(d.inst, unary, absolute);
  return chainOperands(d, 1);
}

bool decodeIntegerNeg(InstDecoder &d) {
  if (!isSigned(d.inst.type))
    return d.unsupported("this type");
  d.inst.undef = UndefRule::Carry;
  BY_TYPE(d.inst, unary, negate);
  return chainOperands(d, 1);
}

bool decodeIntegerMinMax(InstDecoder &d, bool isMax) {
  Inst &inst = d.inst;
  inst.relu = d.take("relu");
  if (inst.type == ScalarType::S16x2)
    inst.run = isMax ? binary<pairwise<int16_t, maximum<int16_t>>> : binary<pairwise<int16_t, minimum<int16_t>>>;
  else if (inst.type == ScalarType::U16x2)
    inst.run = isMax ? binary<pairwise<uint16_t, maximum<uint16_t>>> : binary<pairwise<uint16_t, minimum<uint16_t>>>;
  else if (isMax)
    BY_TYPE(inst, binary, maximum);
  else
    BY_TYPE(inst, binary, minimum);
  return chainOperands(d, 2);
}

bool decodeDp4a(InstDecoder &d) {
  Inst &inst = d.inst;
  ScalarType a = d.takeType(), b = d.takeType();
  inst.mode = (isSigned(a) ? 1 : 0) | (isSigned(b) ? 2 : 0);
  inst.type = inst.mode ? ScalarType::S32 : ScalarType::U32;
  inst.run = ternary<dp4a>;
  return isWord(b) && chainOperands(d, 3);
}

bool decodeDp2a(InstDecoder &d) {
  Inst &inst = d.inst;
  bool high = d.take("hi");
  if (!high && !d.take("lo"))
    return d.fail("dp2a needs .lo or .hi");
  ScalarType a = d.takeType(), b = d.takeType();
  inst.mode = (isSigned(a) ? 1 : 0) | (isSigned(b) ? 2 : 0) | (high ? 4 : 0);
  inst.type = inst.mode & 3 ? ScalarType::S32 : ScalarType::U32;
  inst.run = ternary<dp2a>;
  return isWord(b) && chainOperands(d, 3);
}

} // namespace tilewright::ptxsim
