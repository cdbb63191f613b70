// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom.exch.b128 and atom.cas.b128.

#include "arithmetic/Families.h"
#include "machine/MemoryAccess.h"

#include <cstring>

namespace tilewright::ptxsim {
namespace {

/// exch and cas of sixteen bytes. Sources: address, halves of b, halves of c.
void atomicWide(ExecContext &context, const Inst &inst) {
  constexpr unsigned size = 16;
  bool isCas = static_cast<AtomicOp>(inst.op) == AtomicOp::Cas;
  if (context.checks)
    checkAddressDefined(context, inst, inst.src[0], context.mask);
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t address = context.row(inst.src[0])[lane] + static_cast<uint64_t>(inst.offset);
    Place place;
    if (!locate(context, inst, inst.space, lane, address, size, size, true, place))
      return;
    if (place.space != Space::Global && place.space != Space::Shared) {
      context.report(FindingKind::OutOfBounds, inst, lane, address,
                     "atomic access to " + std::string(spelling(place.space)) + " memory");
      return;
    }
    if (context.checks)
      recordAccess(context, inst, lane, address, size, place, AccessKind::Atomic, false);
    uint64_t old[2], b[2], next[2], unknown[2] = {}, undefined[2] = {};
    for (unsigned i = 0; i < 2; ++i) {
      b[i] = context.row(inst.src[1 + i])[lane];
      next[i] = context.row(inst.src[(isCas ? 3 : 1) + i])[lane];
      undefined[i] = context.checks ? context.undefinedBits(inst.src[(isCas ? 3 : 1) + i], lane) : 0;
    }
    {
      std::lock_guard<std::mutex> lock(wideAtomicMutex());
      std::memcpy(old, place.bytes, size);
      if (!isCas || (old[0] == b[0] && old[1] == b[1]))
        std::memcpy(place.bytes, next, size);
    }
    if (place.defined) {
      std::memcpy(unknown, place.defined, size);
      for (unsigned i = 0; i < 2; ++i) {
        unknown[i] = ~unknown[i];
        uint64_t unsure = isCas ? unknown[i] | context.undefinedBits(inst.src[1 + i], lane) : 0;
        uint64_t defined = ~(undefined[i] | unsure);
        std::memcpy(place.defined + 8 * i, &defined, 8);
      }
    }
    for (unsigned i = 0; i < inst.numDst; ++i) {
      context.row(inst.dst[i])[lane] = old[i];
      if (context.checks)
        context.setUndefinedBits(inst.dst[i], lane, unknown[i]);
    }
  });
}

} // namespace

bool decodeWideAtomic(InstDecoder &d, bool isRed) {
  Inst &inst = d.inst;
  AtomicOp op = static_cast<AtomicOp>(inst.op);
  if (isRed || inst.elements != 1 || (op != AtomicOp::Exch && op != AtomicOp::Cas))
    return d.unsupported("this type");
  if (!d.needs(83, 90))
    return false;
  bool isCas = op == AtomicOp::Cas;
  inst.type = ScalarType::B64;
  inst.undef = UndefRule::Own;
  inst.run = atomicWide;
  return d.expectOperands(isCas ? 4 : 3, isCas ? 5 : 4) && d.address(1) && d.wideSource(d.operand(2)) &&
         (!isCas || d.wideSource(d.operand(3))) &&
         (d.operand(0).kind == Operand::Sink || d.wideDestination(d.operand(0)));
}

} // namespace tilewright::ptxsim
