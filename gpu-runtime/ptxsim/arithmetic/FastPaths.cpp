// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every handler computes all 32 lanes and stores the active ones, so the loops have no branches. Each is compiled for
// several instruction sets and chosen when the library is loaded.

#include "arithmetic/FastPaths.h"
#include "arithmetic/Clones.h"
#include "machine/State.h"

#include <cmath>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

inline float asFloat(uint64_t bits) {
  uint32_t low = static_cast<uint32_t>(bits);
  float value;
  std::memcpy(&value, &low, sizeof(value));
  return value;
}
inline uint64_t asBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return value != value ? 0x7fffffffu : bits;
}

#define FAST_LOOP(expression)                                                                                          \
  uint64_t results[warpSize];                                                                                          \
  for (unsigned lane = 0; lane < warpSize; ++lane)                                                                     \
    results[lane] = (expression);                                                                                      \
  if (context.mask == ~0u) {                                                                                           \
    std::memcpy(d, results, sizeof(results));                                                                          \
    return;                                                                                                            \
  }                                                                                                                    \
  uint64_t mask = context.mask;                                                                                        \
  for (unsigned lane = 0; lane < warpSize; ++lane)                                                                     \
    d[lane] = mask >> lane & 1 ? results[lane] : d[lane];

#define FAST_BINARY(name, expression)                                                                                  \
  PTXSIM_CLONES void name(ExecContext &context, const Inst &inst) {                                                    \
    uint64_t *d = context.row(inst.dst[0]);                                                                            \
    const uint64_t *a = context.row(inst.src[0]);                                                                      \
    const uint64_t *b = context.row(inst.src[1]);                                                                      \
    FAST_LOOP(expression)                                                                                              \
  }
#define FAST_TERNARY(name, expression)                                                                                 \
  PTXSIM_CLONES void name(ExecContext &context, const Inst &inst) {                                                    \
    uint64_t *d = context.row(inst.dst[0]);                                                                            \
    const uint64_t *a = context.row(inst.src[0]);                                                                      \
    const uint64_t *b = context.row(inst.src[1]);                                                                      \
    const uint64_t *c = context.row(inst.src[2]);                                                                      \
    FAST_LOOP(expression)                                                                                              \
  }
#define FAST_UNARY(name, expression)                                                                                   \
  PTXSIM_CLONES void name(ExecContext &context, const Inst &inst) {                                                    \
    uint64_t *d = context.row(inst.dst[0]);                                                                            \
    const uint64_t *a = context.row(inst.src[0]);                                                                      \
    FAST_LOOP(expression)                                                                                              \
  }

FAST_UNARY(copy32, a[lane] & 0xffffffff)
FAST_UNARY(copy64, a[lane])
FAST_UNARY(signExtend32, static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(a[lane]))))
FAST_BINARY(add32, static_cast<uint32_t>(a[lane] + b[lane]))
FAST_BINARY(sub32, static_cast<uint32_t>(a[lane] - b[lane]))
FAST_BINARY(add64, a[lane] + b[lane])
FAST_BINARY(sub64, a[lane] - b[lane])
FAST_BINARY(mulLow32, static_cast<uint32_t>(static_cast<uint32_t>(a[lane]) * static_cast<uint32_t>(b[lane])))
FAST_BINARY(mulWideU32, uint64_t(static_cast<uint32_t>(a[lane])) * static_cast<uint32_t>(b[lane]))
FAST_BINARY(mulWideS32, static_cast<uint64_t>(int64_t(static_cast<int32_t>(a[lane])) * static_cast<int32_t>(b[lane])))
FAST_TERNARY(madLow32, static_cast<uint32_t>(static_cast<uint32_t>(a[lane]) * static_cast<uint32_t>(b[lane]) +
                                             static_cast<uint32_t>(c[lane])))
FAST_TERNARY(madWideU32, uint64_t(static_cast<uint32_t>(a[lane])) * static_cast<uint32_t>(b[lane]) + c[lane])
FAST_TERNARY(madWideS32,
             static_cast<uint64_t>(int64_t(static_cast<int32_t>(a[lane])) * static_cast<int32_t>(b[lane])) + c[lane])
FAST_BINARY(bitAnd, a[lane] & b[lane])
FAST_BINARY(bitOr, a[lane] | b[lane])
FAST_BINARY(bitXor, a[lane] ^ b[lane])
FAST_BINARY(shiftLeft32, static_cast<uint32_t>(b[lane]) > 31 ? 0 : static_cast<uint32_t>(a[lane] << (b[lane] & 31)))
FAST_BINARY(shiftRight32, static_cast<uint32_t>(b[lane]) > 31 ? 0 : a[lane] >> (b[lane] & 31))
FAST_BINARY(addF32, asBits(asFloat(a[lane]) + asFloat(b[lane])))
FAST_BINARY(subF32, asBits(asFloat(a[lane]) - asFloat(b[lane])))
FAST_BINARY(mulF32, asBits(asFloat(a[lane]) * asFloat(b[lane])))
FAST_TERNARY(fmaF32, asBits(std::fma(asFloat(a[lane]), asFloat(b[lane]), asFloat(c[lane]))))
FAST_BINARY(equal32, static_cast<uint32_t>(a[lane]) == static_cast<uint32_t>(b[lane]))
FAST_BINARY(notEqual32, static_cast<uint32_t>(a[lane]) != static_cast<uint32_t>(b[lane]))
FAST_BINARY(lessS32, static_cast<int32_t>(a[lane]) < static_cast<int32_t>(b[lane]))
FAST_BINARY(lessEqualS32, static_cast<int32_t>(a[lane]) <= static_cast<int32_t>(b[lane]))
FAST_BINARY(greaterS32, static_cast<int32_t>(a[lane]) > static_cast<int32_t>(b[lane]))
FAST_BINARY(greaterEqualS32, static_cast<int32_t>(a[lane]) >= static_cast<int32_t>(b[lane]))
FAST_BINARY(lessU32, static_cast<uint32_t>(a[lane]) < static_cast<uint32_t>(b[lane]))
FAST_BINARY(lessEqualU32, static_cast<uint32_t>(a[lane]) <= static_cast<uint32_t>(b[lane]))
FAST_BINARY(greaterU32, static_cast<uint32_t>(a[lane]) > static_cast<uint32_t>(b[lane]))
FAST_BINARY(greaterEqualU32, static_cast<uint32_t>(a[lane]) >= static_cast<uint32_t>(b[lane]))

PTXSIM_CLONES void select(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]), *b = context.row(inst.src[1]), *c = context.row(inst.src[2]);
  uint64_t negate = inst.negateSource;
  FAST_LOOP(c[lane] != negate ? a[lane] : b[lane])
}

PTXSIM_CLONES uint32_t packLanes(const uint64_t *row) {
  uint32_t parts[8] = {};
  for (unsigned lane = 0; lane < warpSize; ++lane)
    parts[lane % 8] |= static_cast<uint32_t>(row[lane] & 1) << lane;
  uint32_t result = 0;
  for (uint32_t part : parts)
    result |= part;
  return result;
}

bool isPlain(const Inst &inst) {
  return inst.rounding == Rounding::Nearest && !inst.ftz && !inst.sat && !inst.relu && !inst.nan && !inst.xorSign &&
         !inst.approx && inst.numDst == 1;
}

bool has(const Instruction &syntax, std::string_view modifier) {
  for (std::string_view candidate : syntax.modifiers)
    if (candidate == modifier)
      return true;
  return false;
}

Handler comparison(const Inst &inst) {
  if (inst.combine != SetCombine::None || bitWidth(inst.type) != 32 || isFloat(inst.type) ||
      kindOf(inst.type) == TypeKind::Packed)
    return nullptr;
  bool isSignedType = isSigned(inst.type);
  switch (inst.compare) {
  case Compare::Eq:
    return equal32;
  case Compare::Ne:
    return notEqual32;
  case Compare::Lt:
    return isSignedType ? lessS32 : lessU32;
  case Compare::Le:
    return isSignedType ? lessEqualS32 : lessEqualU32;
  case Compare::Gt:
    return isSignedType ? greaterS32 : greaterU32;
  case Compare::Ge:
    return isSignedType ? greaterEqualS32 : greaterEqualU32;
  default:
    return nullptr;
  }
}

} // namespace

uint32_t nonZeroLanes(const uint64_t *row) { return packLanes(row); }

Handler fastHandler(const Inst &inst) {
  if (!inst.syntax || !isPlain(inst) || inst.frameLocal)
    return nullptr;
  const Instruction &syntax = *inst.syntax;
  std::string_view root = syntax.root;
  unsigned bits = bitWidth(inst.type);
  bool isInt = isInteger(inst.type);
  if (has(syntax, "cc") || has(syntax, "sat") || has(syntax, "hi") || has(syntax, "approx"))
    return nullptr;
  bool isWide = has(syntax, "wide");
  if (root == "add" || root == "sub") {
    bool isSub = root == "sub";
    if (inst.type == ScalarType::F32)
      return isSub ? subF32 : addF32;
    if (isInt && bits == 32)
      return isSub ? sub32 : add32;
    if (isInt && bits == 64)
      return isSub ? sub64 : add64;
    return nullptr;
  }
  if (root == "mul") {
    if (inst.type == ScalarType::F32)
      return mulF32;
    if (isInt && bits == 32)
      return !isWide ? mulLow32 : isSigned(inst.type) ? mulWideS32 : mulWideU32;
    return nullptr;
  }
  if (root == "fma" || root == "mad") {
    if (inst.type == ScalarType::F32)
      return fmaF32;
    if (isInt && bits == 32)
      return !isWide ? madLow32 : isSigned(inst.type) ? madWideS32 : madWideU32;
    return nullptr;
  }
  if (root == "and")
    return bitAnd;
  if (root == "or")
    return bitOr;
  if (root == "xor")
    return bitXor;
  if (root == "shl" && bits == 32)
    return shiftLeft32;
  if (root == "shr" && bits == 32 && !isSigned(inst.type))
    return shiftRight32;
  if (root == "setp")
    return comparison(inst);
  if (root == "selp")
    return select;
  if (root == "mov" && inst.undef == UndefRule::Bits)
    return bits == 32 ? copy32 : bits == 64 ? copy64 : nullptr;
  if (root == "cvta" && (inst.space == Space::Global || inst.space == Space::Const))
    return copy64;
  if (root == "cvt" && !isFloat(inst.type) && !isFloat(inst.fromType) && inst.dstBits == 64 && bits == 64 &&
      bitWidth(inst.fromType) == 32)
    return isSigned(inst.fromType) ? signExtend32 : copy32;
  return nullptr;
}

} // namespace tilewright::ptxsim
