// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What video instructions compute; DecodeVideo.cpp reads them. Intermediate values are wider than any operand, as the PTX
// ISA has them: nothing wraps before the end.

#include "arithmetic/Video.h"
#include "machine/LaneLoops.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

/// Bits [start, start + width), with their sign when the type has one.
int64_t part(uint64_t value, unsigned start, unsigned width, ScalarType type) {
  uint64_t bits = value >> start & lowBits(width);
  if (isSigned(type) && (bits >> (width - 1) & 1))
    bits |= ~lowBits(width);
  return static_cast<int64_t>(bits);
}

/// Wider than the greatest product.
using Wide = __int128;

int64_t clampTo(Wide value, unsigned width, bool hasSign) {
  Wide least = hasSign ? -(Wide(1) << (width - 1)) : 0, most = (Wide(1) << (width - hasSign)) - 1;
  return static_cast<int64_t>(std::clamp(value, least, most));
}

bool compare(Compare how, int64_t a, int64_t b) {
  switch (how) {
  case Compare::Eq:
    return a == b;
  case Compare::Ne:
    return a != b;
  case Compare::Lt:
    return a < b;
  case Compare::Le:
    return a <= b;
  case Compare::Gt:
    return a > b;
  default:
    return a >= b;
  }
}

int64_t combine(const VideoCode &code, const Inst &inst, int64_t a, int64_t b) {
  switch (code.op) {
  case VideoOp::Add:
    return a + b;
  case VideoOp::Sub:
    return a - b;
  case VideoOp::AbsDiff:
    return a > b ? a - b : b - a;
  case VideoOp::Average:
    // Halves are rounded up, of negative sums down.
    return (a + b + (a + b >= 0)) >> 1;
  case VideoOp::Min:
    return std::min(a, b);
  case VideoOp::Max:
    return std::max(a, b);
  case VideoOp::ShiftLeft:
  case VideoOp::ShiftRight: {
    int64_t amount = code.wrap ? b & 31 : std::min<int64_t>(b, 32);
    return code.op == VideoOp::ShiftLeft ? static_cast<int64_t>(static_cast<uint64_t>(a) << amount) : a >> amount;
  }
  default:
    return compare(inst.compare, a, b);
  }
}

uint64_t scalarResult(const VideoCode &code, const Inst &inst, int64_t value, uint64_t c) {
  bool hasSign = isSigned(inst.type);
  if (code.saturate)
    value = clampTo(value, code.d.bits, hasSign);
  int64_t third = part(c, 0, 32, inst.type);
  switch (code.second) {
  case VideoSecond::Add:
    value += third;
    break;
  case VideoSecond::Min:
    value = std::min(value, third);
    break;
  case VideoSecond::Max:
    value = std::max(value, third);
    break;
  case VideoSecond::None:
    break;
  }
  if (code.d.bits == 32)
    return static_cast<uint32_t>(value);
  unsigned start = code.d.bits * code.d.number;
  uint64_t mask = lowBits(code.d.bits) << start;
  return (static_cast<uint64_t>(value) << start & mask) | (c & ~mask & 0xffffffff);
}

const VideoCode &codeOf(const ExecContext &context, const Inst &inst) {
  return context.grid->program->videos[static_cast<size_t>(inst.offset)];
}

template <typename Function> void overSources(ExecContext &context, const Inst &inst, Function function) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]), *b = context.row(inst.src[1]);
  const uint64_t *c = inst.numSrc > 2 ? context.row(inst.src[2]) : nullptr;
  forEachLane(context.mask, [&](unsigned lane) { d[lane] = function(a[lane], b[lane], c ? c[lane] : 0); });
}

} // namespace

void videoScalar(ExecContext &context, const Inst &inst) {
  const VideoCode &code = codeOf(context, inst);
  overSources(context, inst, [&](uint64_t a, uint64_t b, uint64_t c) {
    int64_t x = part(a, code.a.bits * code.a.number, code.a.bits, code.aType);
    int64_t y = part(b, code.b.bits * code.b.number, code.b.bits, code.bType);
    return scalarResult(code, inst, combine(code, inst, x, y), c);
  });
}

void videoMad(ExecContext &context, const Inst &inst) {
  const VideoCode &code = codeOf(context, inst);
  overSources(context, inst, [&](uint64_t a, uint64_t b, uint64_t c) {
    bool negative = code.negateA != code.negateB;
    bool hasSign = isSigned(code.aType) || isSigned(code.bType) || negative || code.negateC;
    Wide product = static_cast<Wide>(part(a, code.a.bits * code.a.number, code.a.bits, code.aType)) *
                       part(b, code.b.bits * code.b.number, code.b.bits, code.bType);
    Wide third = part(c, 0, 32, hasSign ? ScalarType::S32 : ScalarType::U32);
    Wide sum = (negative ? -product : product) + (code.negateC ? -third : third) + code.plusOne;
    Wide result = sum >> code.scale;
    return uint64_t(static_cast<uint32_t>(code.saturate ? clampTo(result, 32, hasSign) : static_cast<int64_t>(result)));
  });
}

void videoLanes(ExecContext &context, const Inst &inst) {
  const VideoCode &code = codeOf(context, inst);
  unsigned width = 32 / code.lanes;
  overSources(context, inst, [&](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t both = (b & 0xffffffff) << 32 | (a & 0xffffffff);
    int64_t sum = part(c, 0, 32, inst.type);
    uint64_t merged = 0;
    for (unsigned i = 0; i < code.lanes; ++i) {
      int64_t value = combine(code, inst, part(both, width * code.aFrom[i], width, code.aType),
                              part(both, width * code.bFrom[i], width, code.bType));
      if (code.saturate)
        value = clampTo(value, width, isSigned(inst.type));
      bool isOn = code.mask >> i & 1;
      sum += isOn ? value : 0;
      merged |= ((isOn ? static_cast<uint64_t>(value) : c >> width * i) & lowBits(width)) << width * i;
    }
    return code.second == VideoSecond::Add ? static_cast<uint64_t>(static_cast<uint32_t>(sum)) : merged;
  });
}

} // namespace tilewright::ptxsim
