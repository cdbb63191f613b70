// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of UndefRule. Instructions whose sources are all defined, nearly all of them, cost one mask test.

#include "checks/Undefined.h"

#include <utility>

namespace tilewright::ptxsim {
namespace {

/// All bits from the lowest set one upwards.
uint64_t upwards(uint64_t bits) { return bits == 0 ? 0 : ~((bits & (0 - bits)) - 1); }

uint64_t resultBits(const Inst &inst) {
  unsigned bits = inst.dstBits != 0 ? inst.dstBits : bitWidth(inst.type);
  return lowBits(bits == 0 ? 64 : bits);
}

uint64_t extendUndefined(uint64_t undefined, const Inst &inst) {
  unsigned from = bitWidth(inst.fromType), to = bitWidth(inst.type);
  undefined &= lowBits(from);
  if (isSigned(inst.fromType) && (undefined >> (from - 1) & 1))
    undefined |= ~lowBits(from);
  undefined &= lowBits(to);
  if (isSigned(inst.type) && (undefined >> (to - 1) & 1))
    undefined |= ~lowBits(to);
  return undefined;
}

struct LaneOperands {
  uint64_t value[8];
  uint64_t undefined[8];
};

/// The instruction run on chosen values instead of its sources, in a scratch frame of one row per operand.
uint64_t evaluate(ExecContext &context, const Inst &inst, const LaneOperands &operands, bool undefinedAsOnes) {
  uint64_t rows[9][warpSize] = {};
  Inst copy = inst;
  for (unsigned i = 0; i < inst.numSrc; ++i) {
    copy.src[i] = i + 1;
    uint64_t value = operands.value[i];
    rows[i + 1][0] = undefinedAsOnes ? value | operands.undefined[i] : value & ~operands.undefined[i];
  }
  copy.dst[0] = 0;
  ExecContext scratch;
  scratch.bases[0] = &rows[0][0];
  scratch.mask = 1;
  scratch.grid = context.grid;
  scratch.frame = context.frame;
  copy.run(scratch, copy);
  return rows[0][0];
}

/// Bits of the result that an undefined bit can change. For permutations and field operations, results with all
/// undefined bits 0 and with all of them 1 differ in exactly those places.
uint64_t extracted(ExecContext &context, const Inst &inst, const LaneOperands &operands) {
  unsigned positions = inst.numSrc;
  // The first operand (two for bfi, shf and prmt) is data; an undefined position makes everything undefined.
  unsigned data = inst.numSrc == 1 ? 1 : inst.numSrc == 3 && inst.syntax && inst.syntax->root == "bfe" ? 1 : 2;
  for (unsigned i = data; i < positions; ++i)
    if (operands.undefined[i])
      return ~0ull;
  return evaluate(context, inst, operands, false) ^ evaluate(context, inst, operands, true);
}

uint64_t laneResult(ExecContext &context, const Inst &inst, const LaneOperands &o) {
  switch (inst.undef) {
  case UndefRule::Own:
    return 0;
  case UndefRule::All:
    return ~0ull;
  case UndefRule::Bits: {
    uint64_t bits = 0;
    for (unsigned i = 0; i < inst.numSrc; ++i)
      bits |= o.undefined[i];
    return bits;
  }
  case UndefRule::And: {
    uint64_t zeroA = ~o.value[0] & ~o.undefined[0], zeroB = ~o.value[1] & ~o.undefined[1];
    return (o.undefined[0] | o.undefined[1]) & ~zeroA & ~zeroB;
  }
  case UndefRule::Or: {
    uint64_t oneA = o.value[0] & ~o.undefined[0], oneB = o.value[1] & ~o.undefined[1];
    return (o.undefined[0] | o.undefined[1]) & ~oneA & ~oneB;
  }
  case UndefRule::Carry: {
    uint64_t bits = 0;
    for (unsigned i = 0; i < inst.numSrc; ++i)
      bits |= o.undefined[i];
    return upwards(bits);
  }
  case UndefRule::Shift: {
    if (o.undefined[1])
      return ~0ull;
    LaneOperands positions = o;
    positions.value[0] = o.undefined[0];
    positions.undefined[0] = 0;
    return evaluate(context, inst, positions, false);
  }
  case UndefRule::Select: {
    if (o.undefined[2])
      return ~0ull;
    return (o.value[2] != 0) != inst.negateSource ? o.undefined[0] : o.undefined[1];
  }
  case UndefRule::Extend:
    return extendUndefined(o.undefined[0], inst);
  case UndefRule::Equal: {
    uint64_t mask = lowBits(bitWidth(inst.fromType));
    uint64_t defined = ~(o.undefined[0] | o.undefined[1]) & mask;
    bool differs = (o.value[0] ^ o.value[1]) & defined;
    return differs || defined == mask ? 0 : 1;
  }
  case UndefRule::Extract:
    return extracted(context, inst, o);
  }
  return ~0ull;
}

} // namespace

void propagateUndefined(ExecContext &context, const Inst &inst) {
  uint32_t unknown = 0;
  for (unsigned i = 0; i < inst.numSrc; ++i)
    unknown |= context.undefinedLanes(inst.src[i]);
  unknown &= context.mask;
  if (unknown == 0) {
    for (unsigned i = 0; i < inst.numDst; ++i)
      context.setDefined(inst.dst[i], context.mask);
    return;
  }
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t bits = 0;
    if (unknown >> lane & 1) {
      LaneOperands operands;
      for (unsigned i = 0; i < inst.numSrc; ++i) {
        operands.value[i] = context.row(inst.src[i])[lane];
        operands.undefined[i] = context.undefinedBits(inst.src[i], lane);
      }
      bits = laneResult(context, inst, operands) & resultBits(inst);
    }
    for (unsigned i = 0; i < inst.numDst; ++i)
      context.setUndefinedBits(inst.dst[i], lane, bits);
  });
}

} // namespace tilewright::ptxsim
