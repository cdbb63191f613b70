// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// alloca, stacksave and stackrestore: each lane has a stack of its own above the local variables of its frame. What a
// function calls begins above the highest of them.

#include "arithmetic/Families.h"
#include "machine/Warp.h"

#include <algorithm>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

std::vector<uint32_t> &topsOf(Frame &frame) {
  if (frame.localTops.empty())
    frame.localTops.assign(warpSize, frame.localBase + frame.function->localBytes);
  return frame.localTops;
}

/// Source 0: bytes. inst.offset: alignment.
void allocate(ExecContext &context, const Inst &inst) {
  Frame &frame = *context.frame;
  std::vector<uint32_t> &tops = topsOf(frame);
  const uint64_t *sizes = context.row(inst.src[0]);
  uint64_t *results = context.row(inst.dst[0]);
  uint64_t align = static_cast<uint64_t>(inst.offset);
  if (uint32_t bad = context.checks ? context.undefinedLanes(inst.src[0]) & context.mask : 0; bad != 0)
    context.report(FindingKind::Undefined, inst, static_cast<unsigned>(__builtin_ctz(bad)), 0,
                   "the size depends on an undefined value");
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t address = (tops[lane] + align - 1) / align * align, size = sizes[lane] & lowBits(bitWidth(inst.type));
    if (context.stopped)
      return;
    if (size > maxLocalBytes || !growLocal(context, *context.warp, address + size)) {
      context.report(FindingKind::StackOverflow, inst, lane, address, "the stack is used up");
      context.stopped = true;
      context.grid->aborted = true;
      return;
    }
    tops[lane] = static_cast<uint32_t>(address + size);
    if (context.checks)
      std::memset(context.warp->definedLocal.data() + uint64_t(lane) * context.warp->localStride + address, 0, size);
    results[lane] = address;
  });
  if (context.checks)
    context.setDefined(inst.dst[0], context.mask);
}

void save(ExecContext &context, const Inst &inst) {
  std::vector<uint32_t> &tops = topsOf(*context.frame);
  uint64_t *results = context.row(inst.dst[0]);
  forEachLane(context.mask, [&](unsigned lane) { results[lane] = tops[lane]; });
  if (context.checks)
    context.setDefined(inst.dst[0], context.mask);
}

/// Gives back what was allocated since the save; anything but a saved value is refused.
void restore(ExecContext &context, const Inst &inst) {
  Frame &frame = *context.frame;
  std::vector<uint32_t> &tops = topsOf(frame);
  const uint64_t *values = context.row(inst.src[0]);
  forEachLane(context.mask, [&](unsigned lane) {
    if (values[lane] < frame.localBase + frame.function->localBytes || values[lane] > tops[lane]) {
      context.report(FindingKind::BadCall, inst, lane, values[lane], "stackrestore of what no stacksave gave");
      return;
    }
    tops[lane] = static_cast<uint32_t>(values[lane]);
  });
}

bool takeStackType(InstDecoder &d) {
  d.inst.type = d.takeType();
  d.inst.undef = UndefRule::Own;
  return d.inst.type == ScalarType::U32 || d.inst.type == ScalarType::U64 || d.fail("needs .u32 or .u64");
}

} // namespace

bool decodeAlloca(InstDecoder &d) {
  uint64_t align = 8;
  if (!takeStackType(d) || !d.expectOperands(2, 3) || !d.destination(0, d.inst.type) || !d.source(1, d.inst.type))
    return false;
  if (d.operandCount() == 3 && !d.immediate(2, align))
    return false;
  if (align == 0 || (align & (align - 1)) != 0 || align > 4096)
    return d.fail("the alignment must be a power of two up to 4096");
  d.inst.offset = static_cast<int64_t>(align);
  d.inst.run = allocate;
  return true;
}

bool decodeStacksave(InstDecoder &d) {
  d.inst.run = save;
  return takeStackType(d) && d.expectOperands(1) && d.destination(0, d.inst.type);
}

bool decodeStackrestore(InstDecoder &d) {
  d.inst.run = restore;
  return takeStackType(d) && d.expectOperands(1) && d.source(0, d.inst.type);
}

} // namespace tilewright::ptxsim
