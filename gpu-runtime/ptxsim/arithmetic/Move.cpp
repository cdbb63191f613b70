// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mov (registers, literals, addresses, clocks, packing and unpacking), cvta and isspacep.

#include "arithmetic/Families.h"
#include "machine/LaneLoops.h"
#include "machine/MemoryAccess.h"

namespace tilewright::ptxsim {
namespace {

uint64_t copy(uint64_t a, const Inst &inst) { return a & lowBits(bitWidth(inst.type)); }

void copyLocalAddress(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]);
  forEachLane(context.mask, [&](unsigned lane) { d[lane] = a[lane] + context.frame->localBase; });
}

void readClock(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  // A count of steps: it grows, and is the same for the same seed.
  uint64_t now = context.grid->clock.load(std::memory_order_relaxed) + context.stepCount;
  if (inst.mode)
    now >>= 32;
  forEachLane(context.mask, [&](unsigned lane) { d[lane] = now & lowBits(bitWidth(inst.type)); });
  if (context.checks)
    context.setDefined(inst.dst[0], context.mask);
}

/// mov.b64 d, {a, b} and its like; every element has the width of type / count.
void packElements(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  unsigned bits = bitWidth(inst.type) / inst.numSrc;
  const uint64_t *sources[4];
  for (unsigned i = 0; i < inst.numSrc; ++i)
    sources[i] = context.row(inst.src[i]);
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t value = 0, undefined = 0;
    for (unsigned i = 0; i < inst.numSrc; ++i) {
      value |= (sources[i][lane] & lowBits(bits)) << bits * i;
      if (context.checks)
        undefined |= (context.undefinedBits(inst.src[i], lane) & lowBits(bits)) << bits * i;
    }
    d[lane] = value;
    if (context.checks)
      context.setUndefinedBits(inst.dst[0], lane, undefined);
  });
}

void unpackElements(ExecContext &context, const Inst &inst) {
  const uint64_t *a = context.row(inst.src[0]);
  unsigned bits = bitWidth(inst.type) / inst.numDst;
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t value = a[lane];
    uint64_t undefined = context.checks ? context.undefinedBits(inst.src[0], lane) : 0;
    for (unsigned i = 0; i < inst.numDst; ++i) {
      if (inst.dst[i] == sinkRow)
        continue;
      context.row(inst.dst[i])[lane] = value >> bits * i & lowBits(bits);
      if (context.checks)
        context.setUndefinedBits(inst.dst[i], lane, undefined >> bits * i & lowBits(bits));
    }
  });
}

uint64_t windowOffset(Space space) {
  switch (space) {
  case Space::Shared:
  case Space::SharedCluster:
    return DeviceMemory::sharedWindow;
  case Space::Local:
    return DeviceMemory::localWindow;
  case Space::Param:
    return DeviceMemory::paramWindow;
  default:
    return 0;
  }
}

/// inst.offset is the start of the space's window; global and const addresses are generic ones already.
void toGeneric(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]);
  uint64_t base = context.grid->memory->windowBase() + static_cast<uint64_t>(inst.offset);
  if (inst.frameLocal)
    base += context.frame->localBase;
  forEachLane(context.mask, [&](unsigned lane) { d[lane] = a[lane] + base; });
}
void fromGeneric(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]);
  uint64_t base = context.grid->memory->windowBase() + static_cast<uint64_t>(inst.offset);
  forEachLane(context.mask, [&](unsigned lane) { d[lane] = (a[lane] - base) & lowBits(inst.dstBits); });
}

void testSpace(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]);
  uint64_t window = context.grid->memory->windowBase();
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t offset = a[lane] - window;
    bool small = a[lane] >= window && offset < DeviceMemory::smallWindowsEnd;
    uint64_t start = windowOffset(inst.space);
    uint64_t size = inst.space == Space::SharedCluster ? DeviceMemory::localWindow : DeviceMemory::smallWindowBytes;
    bool inside = a[lane] >= window && offset - start < size && offset >= start;
    if (inst.space == Space::Shared && a[lane] >= window)
      inside = ownerOfShared(context, offset) == context.block;
    if (inst.space == Space::Const) {
      const Allocation *allocation = context.grid->memory->find(a[lane]);
      inside = allocation && allocation->readOnly;
    }
    d[lane] = inst.space == Space::Global ? !small : inside;
  });
}

/// The halves of a .b128 register: row by row.
void copyHalves(ExecContext &context, const Inst &inst) {
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t value[2], undefined[2];
    for (unsigned i = 0; i < 2; ++i) {
      value[i] = context.row(inst.src[i])[lane];
      undefined[i] = context.checks ? context.undefinedBits(inst.src[i], lane) : 0;
    }
    for (unsigned i = 0; i < 2; ++i) {
      context.row(inst.dst[i])[lane] = value[i];
      if (context.checks)
        context.setUndefinedBits(inst.dst[i], lane, undefined[i]);
    }
  });
}

bool decodeWideMove(InstDecoder &d) {
  const Operand &result = d.operand(0), &value = d.operand(1);
  d.inst.undef = UndefRule::Own;
  d.inst.run = copyHalves;
  d.inst.type = ScalarType::B64;
  if (result.kind == Operand::Vector) {
    if (result.elements.size() != 2)
      return d.unsupported("this vector");
    return d.destination(result.elements[0], ScalarType::B64) && d.destination(result.elements[1], ScalarType::B64) &&
           d.wideSource(value);
  }
  if (value.kind == Operand::Vector) {
    if (value.elements.size() != 2)
      return d.unsupported("this vector");
    return d.wideDestination(result) && d.source(value.elements[0], ScalarType::B64) &&
           d.source(value.elements[1], ScalarType::B64);
  }
  return d.wideDestination(result) && d.wideSource(value);
}

bool takeSpace(InstDecoder &d, Space &space) {
  if (d.take("global"))
    space = Space::Global;
  else if (d.take("shared") || d.take("shared::cta"))
    space = Space::Shared;
  else if (d.take("shared::cluster"))
    space = Space::SharedCluster;
  else if (d.take("local"))
    space = Space::Local;
  else if (d.take("const"))
    space = Space::Const;
  else if (d.take("param") || d.take("param::entry"))
    space = Space::Param;
  else
    return d.fail("needs a state space");
  return true;
}

bool decodeClock(InstDecoder &d, std::string_view name) {
  static constexpr std::string_view wide[] = {"%clock64", "%globaltimer"};
  static constexpr std::string_view low[] = {"%clock", "%globaltimer_lo"};
  static constexpr std::string_view high[] = {"%clock_hi", "%globaltimer_hi"};
  for (std::string_view known : high)
    d.inst.mode |= known == name;
  bool isKnown = d.inst.mode;
  for (std::string_view known : wide)
    isKnown |= known == name;
  for (std::string_view known : low)
    isKnown |= known == name;
  if (!isKnown)
    return false;
  d.inst.run = readClock;
  d.inst.undef = UndefRule::Own;
  return true;
}

} // namespace

bool decodeMov(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.type = d.takeType();
  if (inst.type == ScalarType::None || !d.expectOperands(2))
    return d.fail("malformed mov");
  const Operand &result = d.operand(0), &value = d.operand(1);
  unsigned bits = bitWidth(inst.type);
  auto elementType = [&](size_t count) {
    return bits / count == 8    ? ScalarType::B8
           : bits / count == 16 ? ScalarType::B16
           : bits / count == 32 ? ScalarType::B32
                                : ScalarType::B64;
  };
  if (bits > 64)
    return decodeWideMove(d);
  if (value.kind == Operand::Vector || result.kind == Operand::Vector) {
    const Operand &vector = value.kind == Operand::Vector ? value : result;
    size_t count = vector.elements.size();
    if ((count != 2 && count != 4) || bits / count < 8)
      return d.unsupported("this vector");
    inst.undef = UndefRule::Own;
    if (value.kind == Operand::Vector) {
      inst.run = packElements;
      for (const Operand &element : vector.elements)
        if (!d.source(element, elementType(count)))
          return false;
      return d.destination(0, inst.type);
    }
    inst.run = unpackElements;
    for (const Operand &element : vector.elements)
      if (!d.destination(element, elementType(count)))
        return false;
    return d.source(1, inst.type);
  }
  if (!d.destination(0, inst.type))
    return false;
  if (value.kind == Operand::Special && decodeClock(d, value.text))
    return true;
  inst.run = unary<copy>;
  inst.undef = UndefRule::Bits;
  if (!d.source(1, inst.type))
    return false;
  if (inst.frameLocal)
    inst.run = copyLocalAddress;
  return true;
}

bool decodeCvta(InstDecoder &d) {
  Inst &inst = d.inst;
  bool to = d.take("to");
  if (!takeSpace(d, inst.space))
    return false;
  inst.type = d.takeType();
  inst.undef = UndefRule::Carry;
  bool isIdentity = inst.space == Space::Global || inst.space == Space::Const;
  inst.offset = static_cast<int64_t>(windowOffset(inst.space));
  inst.run = isIdentity ? unary<copy> : to ? fromGeneric : toGeneric;
  return d.expectOperands(2) && d.destination(0, inst.type) && d.source(1, inst.type);
}

bool decodeIsspacep(InstDecoder &d) {
  Inst &inst = d.inst;
  if (!takeSpace(d, inst.space))
    return false;
  inst.run = testSpace;
  return d.expectOperands(2) && d.destination(0, ScalarType::Pred) && d.source(1, ScalarType::U64);
}

} // namespace tilewright::ptxsim
