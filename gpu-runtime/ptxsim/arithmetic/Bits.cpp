// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bit operations: logic, shifts, fields, counts and permutations.

#include "arithmetic/Families.h"
#include "machine/LaneLoops.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

uint64_t bitAnd(uint64_t a, uint64_t b, const Inst &) { return a & b; }
uint64_t bitOr(uint64_t a, uint64_t b, const Inst &) { return a | b; }
uint64_t bitXor(uint64_t a, uint64_t b, const Inst &) { return a ^ b; }
uint64_t bitNot(uint64_t a, const Inst &inst) { return ~a & lowBits(bitWidth(inst.type)); }
uint64_t logicalNot(uint64_t a, const Inst &) { return a == 0; }

// Shift amounts are unsigned 32-bit values and stop at the width.
template <unsigned Bits> uint64_t shiftLeft(uint64_t a, uint64_t b, const Inst &) {
  uint32_t amount = static_cast<uint32_t>(b);
  return amount >= Bits ? 0 : a << amount & lowBits(Bits);
}
template <unsigned Bits> uint64_t shiftRight(uint64_t a, uint64_t b, const Inst &) {
  uint32_t amount = static_cast<uint32_t>(b);
  return amount >= Bits ? 0 : a >> amount;
}
template <unsigned Bits> uint64_t shiftRightSigned(uint64_t a, uint64_t b, const Inst &) {
  uint32_t amount = std::min<uint32_t>(static_cast<uint32_t>(b), Bits - 1);
  int64_t wide = static_cast<int64_t>(a << (64 - Bits)) >> (64 - Bits);
  return static_cast<uint64_t>(wide >> amount) & lowBits(Bits);
}

/// mode bit 0: right; bit 1: clamp.
uint64_t funnelShift(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  uint32_t amount = static_cast<uint32_t>(c);
  amount = inst.mode & 2 ? std::min(amount, 32u) : amount & 31;
  uint64_t joined = b << 32 | (a & 0xffffffff);
  return inst.mode & 1 ? (joined >> amount) & 0xffffffff : (joined << amount >> 32) & 0xffffffff;
}

template <unsigned Bits, bool Signed> uint64_t bitFieldExtract(uint64_t a, uint64_t b, uint64_t c, const Inst &) {
  unsigned position = b & 0xff, length = c & 0xff;
  bool sign = false;
  if (Signed && length != 0)
    sign = a >> std::min(position + length - 1, Bits - 1) & 1;
  uint64_t field = position >= Bits ? 0 : a >> position;
  unsigned held = position >= Bits ? 0 : std::min(length, Bits - position);
  field &= lowBits(held);
  if (sign)
    field |= ~lowBits(held);
  return field & lowBits(Bits);
}

template <unsigned Bits> uint64_t bitFieldInsert(uint64_t a, uint64_t b, uint64_t c, uint64_t e, const Inst &) {
  unsigned position = c & 0xff, length = e & 0xff;
  if (position >= Bits)
    return b;
  uint64_t mask = lowBits(std::min(length, Bits - position)) << position;
  return (b & ~mask) | (a << position & mask);
}

/// mode 1: clamp.
uint64_t bitMask(uint64_t a, uint64_t b, const Inst &inst) {
  uint32_t start = static_cast<uint32_t>(a), width = static_cast<uint32_t>(b);
  if (inst.mode == 0) {
    start &= 31;
    width &= 31;
  } else {
    start = std::min(start, 32u);
    width = std::min(width, 32u);
  }
  return lowBits(width) << start & 0xffffffff;
}

uint64_t extendFrom(uint64_t a, uint64_t b, const Inst &inst) {
  uint32_t width = static_cast<uint32_t>(b);
  width = inst.mode == 0 ? width & 31 : std::min(width, 32u);
  uint64_t low = a & lowBits(width);
  if (isSigned(inst.type) && width != 0 && (a >> (width - 1) & 1))
    low |= ~lowBits(width);
  return low & 0xffffffff;
}

uint64_t populationCount(uint64_t a, const Inst &) { return static_cast<uint64_t>(__builtin_popcountll(a)); }
template <unsigned Bits> uint64_t leadingZeros(uint64_t a, const Inst &) {
  return a == 0 ? Bits : static_cast<uint64_t>(__builtin_clzll(a)) - (64 - Bits);
}
template <unsigned Bits> uint64_t reverse(uint64_t a, const Inst &) {
  uint64_t result = 0;
  for (unsigned i = 0; i < Bits; ++i)
    result |= (a >> i & 1) << (Bits - 1 - i);
  return result;
}
/// The most significant bit that is not a sign bit; mode 1 gives the shift that brings it to the top.
uint64_t findLeading(uint64_t a, const Inst &inst) {
  unsigned bits = bitWidth(inst.type);
  if (isSigned(inst.type) && (a >> (bits - 1) & 1))
    a = ~a & lowBits(bits);
  if (a == 0)
    return 0xffffffff;
  unsigned position = 63 - static_cast<unsigned>(__builtin_clzll(a));
  return inst.mode ? bits - 1 - position : position;
}

uint64_t findNthSet(uint64_t mask, uint64_t base, uint64_t offset, const Inst &) {
  int32_t n = static_cast<int32_t>(offset);
  int32_t at = static_cast<int32_t>(base & 31);
  if (n == 0)
    return mask >> at & 1 ? static_cast<uint64_t>(at) : 0xffffffff;
  int32_t step = n > 0 ? 1 : -1;
  for (int32_t count = 0; at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) && ++count == n * step)
      return static_cast<uint64_t>(at);
  return 0xffffffff;
}

uint64_t logic3(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  uint64_t result = 0;
  for (unsigned row = 0; row < 8; ++row)
    if (inst.offset >> row & 1)
      result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  return result & 0xffffffff;
}

uint64_t permute(uint64_t a, uint64_t b, uint64_t c, const Inst &) {
  uint64_t bytes = (a & 0xffffffff) | b << 32;
  uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned selector = c >> 4 * i & 0xf;
    uint64_t byte = bytes >> 8 * (selector & 7) & 0xff;
    if (selector & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

/// The named modes of prmt: the selector is made from the low two bits of c.
enum PermuteMode : uint8_t { F4E, B4E, RC8, ECL, ECR, RC16 };
uint64_t permuteNamed(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  static constexpr uint16_t selectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123}, {0x0000, 0x1111, 0x2222, 0x3333},
      {0x3210, 0x3211, 0x3222, 0x3333}, {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
  return permute(a, b, selectors[inst.mode][c & 3], inst);
}

bool bitOperands(InstDecoder &d, size_t count) {
  return d.expectOperands(count + 1) && d.destination(0, d.inst.type) && d.sameTypeSources(1, count, d.inst.type);
}

bool decodeLogic(InstDecoder &d, Handler handler, UndefRule rule) {
  Inst &inst = d.inst;
  inst.type = d.takeType();
  TypeKind kind = kindOf(inst.type);
  if (kind != TypeKind::Bits && kind != TypeKind::Pred)
    return d.unsupported("this type");
  inst.run = handler;
  inst.undef = rule;
  return bitOperands(d, 2);
}

} // namespace

bool decodeAnd(InstDecoder &d) { return decodeLogic(d, binary<bitAnd>, UndefRule::And); }
bool decodeOr(InstDecoder &d) { return decodeLogic(d, binary<bitOr>, UndefRule::Or); }
bool decodeXor(InstDecoder &d) { return decodeLogic(d, binary<bitXor>, UndefRule::Bits); }

bool decodeNot(InstDecoder &d) {
  d.inst.type = d.takeType();
  d.inst.run = unary<bitNot>;
  d.inst.undef = UndefRule::Bits;
  return d.inst.type != ScalarType::None && bitOperands(d, 1);
}

bool decodeCnot(InstDecoder &d) {
  d.inst.type = d.takeType();
  d.inst.run = unary<logicalNot>;
  return bitOperands(d, 1);
}

bool decodeShl(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.type = d.takeType();
  inst.undef = UndefRule::Shift;
  switch (bitWidth(inst.type)) {
  case 16:
    inst.run = binary<shiftLeft<16>>;
    break;
  case 32:
    inst.run = binary<shiftLeft<32>>;
    break;
  case 64:
    inst.run = binary<shiftLeft<64>>;
    break;
  }
  return d.expectOperands(3) && d.destination(0, inst.type) && d.source(1, inst.type) && d.source(2, ScalarType::U32);
}

bool decodeShr(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.type = d.takeType();
  inst.undef = UndefRule::Shift;
  bool arithmetic = isSigned(inst.type);
  switch (bitWidth(inst.type)) {
  case 16:
    inst.run = arithmetic ? binary<shiftRightSigned<16>> : binary<shiftRight<16>>;
    break;
  case 32:
    inst.run = arithmetic ? binary<shiftRightSigned<32>> : binary<shiftRight<32>>;
    break;
  case 64:
    inst.run = arithmetic ? binary<shiftRightSigned<64>> : binary<shiftRight<64>>;
    break;
  }
  return d.expectOperands(3) && d.destination(0, inst.type) && d.source(1, inst.type) && d.source(2, ScalarType::U32);
}

bool decodeShf(InstDecoder &d) {
  Inst &inst = d.inst;
  bool right = d.take("r");
  if (!right && !d.take("l"))
    return d.fail("shf needs .l or .r");
  bool clamp = d.take("clamp");
  if (!clamp && !d.take("wrap"))
    return d.fail("shf needs .clamp or .wrap");
  inst.type = d.takeType();
  inst.mode = (right ? 1 : 0) | (clamp ? 2 : 0);
  inst.run = bitWidth(inst.type) == 32 ? ternary<funnelShift> : nullptr;
  inst.undef = UndefRule::Extract;
  return bitOperands(d, 3);
}

bool decodeBfe(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.type = d.takeType();
  bool sign = isSigned(inst.type);
  if (bitWidth(inst.type) == 32)
    inst.run = sign ? ternary<bitFieldExtract<32, true>> : ternary<bitFieldExtract<32, false>>;
  else if (bitWidth(inst.type) == 64)
    inst.run = sign ? ternary<bitFieldExtract<64, true>> : ternary<bitFieldExtract<64, false>>;
  inst.undef = UndefRule::Extract;
  return d.expectOperands(4) && d.destination(0, inst.type) &&
         d.sources(1, {inst.type, ScalarType::U32, ScalarType::U32});
}

bool decodeBfi(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.type = d.takeType();
  if (bitWidth(inst.type) == 32)
    inst.run = quaternary<bitFieldInsert<32>>;
  else if (bitWidth(inst.type) == 64)
    inst.run = quaternary<bitFieldInsert<64>>;
  inst.undef = UndefRule::Extract;
  return d.expectOperands(5) && d.destination(0, inst.type) &&
         d.sources(1, {inst.type, inst.type, ScalarType::U32, ScalarType::U32});
}

bool decodeBmsk(InstDecoder &d) {
  d.inst.mode = d.take("clamp") ? 1 : 0;
  if (d.inst.mode == 0 && !d.take("wrap"))
    return d.fail("bmsk needs .clamp or .wrap");
  d.inst.type = d.takeType();
  d.inst.run = binary<bitMask>;
  return bitOperands(d, 2);
}

bool decodeSzext(InstDecoder &d) {
  d.inst.mode = d.take("clamp") ? 1 : 0;
  if (d.inst.mode == 0 && !d.take("wrap"))
    return d.fail("szext needs .clamp or .wrap");
  d.inst.type = d.takeType();
  d.inst.run = binary<extendFrom>;
  return d.expectOperands(3) && d.destination(0, d.inst.type) && d.sources(1, {d.inst.type, ScalarType::U32});
}

bool decodePopc(InstDecoder &d) {
  d.inst.type = d.takeType();
  d.inst.run = unary<populationCount>;
  return d.expectOperands(2) && d.destination(0, ScalarType::U32) && d.source(1, d.inst.type);
}

bool decodeClz(InstDecoder &d) {
  d.inst.type = d.takeType();
  d.inst.run = bitWidth(d.inst.type) == 64 ? unary<leadingZeros<64>> : unary<leadingZeros<32>>;
  return d.expectOperands(2) && d.destination(0, ScalarType::U32) && d.source(1, d.inst.type);
}

bool decodeBrev(InstDecoder &d) {
  d.inst.type = d.takeType();
  d.inst.run = bitWidth(d.inst.type) == 64 ? unary<reverse<64>> : unary<reverse<32>>;
  d.inst.undef = UndefRule::Extract;
  return bitOperands(d, 1);
}

bool decodeBfind(InstDecoder &d) {
  d.inst.mode = d.take("shiftamt");
  d.inst.type = d.takeType();
  d.inst.run = unary<findLeading>;
  return d.expectOperands(2) && d.destination(0, ScalarType::U32) && d.source(1, d.inst.type);
}

bool decodeFns(InstDecoder &d) {
  d.inst.type = d.takeType();
  d.inst.run = ternary<findNthSet>;
  return bitOperands(d, 3);
}

bool decodeLop3(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.type = d.takeType();
  if (d.hasModifier("or") || d.hasModifier("and"))
    return d.unsupported("the predicate form");
  uint64_t table;
  if (!d.expectOperands(5) || !d.destination(0, inst.type) || !d.sameTypeSources(1, 3, inst.type) ||
      !d.immediate(4, table))
    return false;
  if (table > 255)
    return d.fail("the table must be between 0 and 255");
  inst.offset = static_cast<int64_t>(table);
  inst.run = ternary<logic3>;
  inst.undef = UndefRule::Bits;
  return true;
}

bool decodePrmt(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.type = d.takeType();
  inst.run = ternary<permute>;
  inst.undef = UndefRule::Extract;
  static constexpr std::string_view modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (uint8_t mode = 0; mode < 6; ++mode)
    if (d.take(modes[mode])) {
      inst.mode = mode;
      inst.run = ternary<permuteNamed>;
    }
  return bitOperands(d, 3);
}

} // namespace tilewright::ptxsim
