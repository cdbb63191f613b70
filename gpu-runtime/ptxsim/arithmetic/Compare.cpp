// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons and selections: setp, set, selp, slct, testp.

#include "arithmetic/Families.h"
#include "arithmetic/FloatTypes.h"
#include "machine/LaneLoops.h"

namespace tilewright::ptxsim {
namespace {

template <typename T> bool compareOrdered(T a, T b, Compare compare) {
  switch (compare) {
  case Compare::Eq:
  case Compare::Equ:
    return a == b;
  case Compare::Ne:
  case Compare::Neu:
    return a != b;
  case Compare::Lt:
  case Compare::Lo:
  case Compare::Ltu:
    return a < b;
  case Compare::Le:
  case Compare::Ls:
  case Compare::Leu:
    return a <= b;
  case Compare::Gt:
  case Compare::Hi:
  case Compare::Gtu:
    return a > b;
  case Compare::Ge:
  case Compare::Hs:
  case Compare::Geu:
    return a >= b;
  case Compare::Num:
  case Compare::Nan:
    break;
  }
  return false;
}

template <typename T> bool compareInteger(uint64_t a, uint64_t b, const Inst &inst) {
  return compareOrdered(static_cast<T>(a), static_cast<T>(b), inst.compare);
}

template <typename Format> bool compareFloat(uint64_t a, uint64_t b, const Inst &inst) {
  auto x = Format::load(a, inst.ftz), y = Format::load(b, inst.ftz);
  bool unordered = x != x || y != y;
  if (inst.compare == Compare::Num)
    return !unordered;
  if (inst.compare == Compare::Nan)
    return unordered;
  if (unordered)
    return inst.compare >= Compare::Equ;
  return compareOrdered(x, y, inst.compare);
}

bool combine(bool value, bool with, SetCombine how) {
  switch (how) {
  case SetCombine::None:
    return value;
  case SetCombine::And:
    return value && with;
  case SetCombine::Or:
    return value || with;
  case SetCombine::Xor:
    return value != with;
  }
  return value;
}

using Comparison = bool (*)(uint64_t, uint64_t, const Inst &);

/// dst[0] = cmp combined with c, dst[1] (optional) = !cmp combined with c.
template <Comparison Function> void setPredicate(ExecContext &context, const Inst &inst) {
  uint64_t *p = context.row(inst.dst[0]);
  uint64_t *q = inst.numDst > 1 ? context.row(inst.dst[1]) : nullptr;
  const uint64_t *a = context.row(inst.src[0]), *b = context.row(inst.src[1]);
  const uint64_t *c = inst.combine != SetCombine::None ? context.row(inst.src[2]) : nullptr;
  overLanes(context.mask, [&](unsigned lane) {
    bool value = Function(a[lane], b[lane], inst);
    bool with = c && (c[lane] != 0) != inst.negateSource;
    p[lane] = combine(value, with, inst.combine);
    if (q)
      q[lane] = combine(!value, with, inst.combine);
  });
}
template <Comparison Function> void setPredicateSimple(ExecContext &context, const Inst &inst) {
  uint64_t *p = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]), *b = context.row(inst.src[1]);
  overLanes(context.mask, [&](unsigned lane) { p[lane] = Function(a[lane], b[lane], inst); });
}
/// `mode` 1: the result is 1.0 instead of all ones.
template <Comparison Function> void setValue(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]), *b = context.row(inst.src[1]);
  const uint64_t *c = inst.combine != SetCombine::None ? context.row(inst.src[2]) : nullptr;
  forEachLane(context.mask, [&](unsigned lane) {
    bool with = c && (c[lane] != 0) != inst.negateSource;
    d[lane] = combine(Function(a[lane], b[lane], inst), with, inst.combine) ? static_cast<uint64_t>(inst.offset) : 0;
  });
}
/// Two halves: setp.f16x2 gives two predicates, set.f16x2 a pair of values.
template <Comparison Function> void setPairPredicates(ExecContext &context, const Inst &inst) {
  uint64_t *p = context.row(inst.dst[0]), *q = inst.numDst > 1 ? context.row(inst.dst[1]) : nullptr;
  const uint64_t *a = context.row(inst.src[0]), *b = context.row(inst.src[1]);
  const uint64_t *c = inst.combine != SetCombine::None ? context.row(inst.src[2]) : nullptr;
  forEachLane(context.mask, [&](unsigned lane) {
    bool with = c && (c[lane] != 0) != inst.negateSource;
    bool low = Function(a[lane] & 0xffff, b[lane] & 0xffff, inst);
    bool high = Function(a[lane] >> 16, b[lane] >> 16, inst);
    p[lane] = combine(low, with, inst.combine);
    if (q)
      q[lane] = combine(high, with, inst.combine);
  });
}
template <Comparison Function> void setPairValue(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]), *b = context.row(inst.src[1]);
  const uint64_t *c = inst.combine != SetCombine::None ? context.row(inst.src[2]) : nullptr;
  forEachLane(context.mask, [&](unsigned lane) {
    bool with = c && (c[lane] != 0) != inst.negateSource;
    auto half = [&](unsigned shift) -> uint64_t {
      bool value = Function(a[lane] >> shift & 0xffff, b[lane] >> shift & 0xffff, inst);
      return combine(value, with, inst.combine) ? static_cast<uint64_t>(inst.offset) << shift : 0;
    };
    d[lane] = half(0) | half(16);
  });
}

struct ComparisonHandlers {
  Handler simple, predicate, value;
};
template <Comparison Function> ComparisonHandlers handlersFor() {
  return {setPredicateSimple<Function>, setPredicate<Function>, setValue<Function>};
}
template <Comparison Function> ComparisonHandlers pairHandlers() {
  return {setPairPredicates<Function>, setPairPredicates<Function>, setPairValue<Function>};
}

ComparisonHandlers selectComparison(ScalarType type) {
  switch (type) {
  case ScalarType::B16:
  case ScalarType::U16:
    return handlersFor<compareInteger<uint16_t>>();
  case ScalarType::B32:
  case ScalarType::U32:
    return handlersFor<compareInteger<uint32_t>>();
  case ScalarType::B64:
  case ScalarType::U64:
    return handlersFor<compareInteger<uint64_t>>();
  case ScalarType::S16:
    return handlersFor<compareInteger<int16_t>>();
  case ScalarType::S32:
    return handlersFor<compareInteger<int32_t>>();
  case ScalarType::S64:
    return handlersFor<compareInteger<int64_t>>();
  case ScalarType::F16:
    return handlersFor<compareFloat<F16>>();
  case ScalarType::BF16:
    return handlersFor<compareFloat<BF16>>();
  case ScalarType::F32:
    return handlersFor<compareFloat<F32>>();
  case ScalarType::F64:
    return handlersFor<compareFloat<F64>>();
  case ScalarType::F16x2:
    return pairHandlers<compareFloat<F16>>();
  case ScalarType::BF16x2:
    return pairHandlers<compareFloat<BF16>>();
  default:
    return {nullptr, nullptr, nullptr};
  }
}

bool takeCompare(InstDecoder &d) {
  static constexpr std::string_view names[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                               "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  for (unsigned i = 0; i < std::size(names); ++i)
    if (d.take(names[i])) {
      d.inst.compare = static_cast<Compare>(i);
      return true;
    }
  return d.fail("a comparison needs an operator");
}

void takeCombine(InstDecoder &d) {
  if (d.take("and"))
    d.inst.combine = SetCombine::And;
  else if (d.take("or"))
    d.inst.combine = SetCombine::Or;
  else if (d.take("xor"))
    d.inst.combine = SetCombine::Xor;
}

bool comparisonSources(InstDecoder &d) {
  Inst &inst = d.inst;
  bool combines = inst.combine != SetCombine::None;
  if (!d.expectOperands(combines ? 4 : 3) || !d.sameTypeSources(1, 2, inst.fromType))
    return false;
  bool isEquality = inst.compare == Compare::Eq || inst.compare == Compare::Ne;
  if (!combines && isEquality && !isFloatLike(inst.fromType))
    inst.undef = UndefRule::Equal;
  if (!combines)
    return true;
  inst.negateSource = d.operand(3).negated;
  return d.predicate(3);
}

void select(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]), *b = context.row(inst.src[1]), *p = context.row(inst.src[2]);
  uint64_t negate = inst.negateSource;
  overLanes(context.mask, [=](unsigned lane) { d[lane] = p[lane] != negate ? a[lane] : b[lane]; });
}

uint64_t selectBySign(uint64_t a, uint64_t b, uint64_t c, const Inst &) {
  return static_cast<int32_t>(c) >= 0 ? a : b;
}
uint64_t selectByFloatSign(uint64_t a, uint64_t b, uint64_t c, const Inst &inst) {
  return F32::load(c, inst.ftz) >= 0 ? a : b;
}

enum TestMode : uint8_t { Finite, Infinite, Number, NotANumber, Normal, Subnormal };
template <typename T> bool testProperty(T value, uint8_t mode) {
  switch (mode) {
  case Finite:
    return std::isfinite(value);
  case Infinite:
    return std::isinf(value);
  case Number:
    return !std::isnan(value);
  case NotANumber:
    return std::isnan(value);
  case Normal:
    // The ISA counts both zeros among the normal numbers.
    return std::isnormal(value) || value == 0;
  default:
    return std::fpclassify(value) == FP_SUBNORMAL;
  }
}
uint64_t testFloat(uint64_t a, const Inst &inst) {
  return inst.type == ScalarType::F64 ? testProperty(bitCast<double>(a), inst.mode)
                                      : testProperty(bitCast<float>(static_cast<uint32_t>(a)), inst.mode);
}

} // namespace

bool decodeSetp(InstDecoder &d) {
  Inst &inst = d.inst;
  if (!takeCompare(d))
    return false;
  takeCombine(d);
  d.takeFtz();
  inst.fromType = inst.type = d.takeType();
  ComparisonHandlers handlers = selectComparison(inst.type);
  if (d.operandCount() < 1)
    return d.fail("operands are missing");
  const Operand &result = d.operand(0);
  if (result.kind == Operand::Pair) {
    if (!d.destination(result.elements[0], ScalarType::Pred) || !d.destination(result.elements[1], ScalarType::Pred))
      return false;
  } else if (!d.destination(0, ScalarType::Pred)) {
    return false;
  }
  if (!comparisonSources(d))
    return false;
  inst.run = inst.combine == SetCombine::None && inst.numDst == 1 ? handlers.simple : handlers.predicate;
  return true;
}

bool decodeSet(InstDecoder &d) {
  Inst &inst = d.inst;
  if (!takeCompare(d))
    return false;
  takeCombine(d);
  d.takeFtz();
  inst.type = d.takeType();
  inst.fromType = d.takeType();
  // The result is all ones for integer types and 1.0 for floating-point ones.
  switch (inst.type) {
  case ScalarType::F32:
    inst.offset = 0x3f800000;
    break;
  case ScalarType::F16:
  case ScalarType::F16x2:
    inst.offset = 0x3c00;
    break;
  case ScalarType::BF16:
  case ScalarType::BF16x2:
    inst.offset = 0x3f80;
    break;
  default: {
    bool isPair = bitWidth(inst.type) == 32 && kindOf(inst.fromType) == TypeKind::Packed;
    inst.offset = static_cast<int64_t>(lowBits(isPair ? 16 : bitWidth(inst.type)));
    break;
  }
  }
  inst.run = selectComparison(inst.fromType).value;
  if (!d.destination(0, inst.type) || !comparisonSources(d))
    return false;
  inst.undef = UndefRule::All;
  return true;
}

bool decodeSelp(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.type = d.takeType();
  inst.run = select;
  inst.undef = UndefRule::Select;
  if (!d.expectOperands(4) || !d.destination(0, inst.type) || !d.sameTypeSources(1, 2, inst.type))
    return false;
  inst.negateSource = d.operand(3).negated;
  return d.predicate(3);
}

bool decodeSlct(InstDecoder &d) {
  Inst &inst = d.inst;
  d.takeFtz();
  inst.type = d.takeType();
  inst.fromType = d.takeType();
  inst.run = inst.fromType == ScalarType::F32 ? ternary<selectByFloatSign> : ternary<selectBySign>;
  if (inst.fromType != ScalarType::F32 && inst.fromType != ScalarType::S32)
    return d.unsupported("this type of the third operand");
  return d.expectOperands(4) && d.destination(0, inst.type) && d.sources(1, {inst.type, inst.type, inst.fromType});
}

bool decodeTestp(InstDecoder &d) {
  static constexpr std::string_view names[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  Inst &inst = d.inst;
  for (uint8_t mode = 0; mode < std::size(names); ++mode)
    if (d.take(names[mode])) {
      inst.mode = mode;
      inst.run = unary<testFloat>;
    }
  inst.type = d.takeType();
  return d.expectOperands(2) && d.destination(0, ScalarType::Pred) && d.source(1, inst.type);
}

} // namespace tilewright::ptxsim
