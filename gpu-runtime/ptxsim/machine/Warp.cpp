// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fragments and joins.

#include "machine/Warp.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tilewright::ptxsim {
namespace {


std::string maskText(uint32_t mask) {
  char buffer[16];
  std::snprintf(buffer, sizeof(buffer), "0x%08x", mask);
  return buffer;
}

/// A join that nobody is expected at any more disappears; one where all have arrived lets its lanes go.
bool settle(Warp &warp, uint32_t index, unsigned slot) {
  Join &join = warp.joins[index];
  if (join.arrived != join.expected)
    return false;
  uint32_t lanes = join.arrived;
  join.live = false;
  join.callee.reset();
  if (lanes == 0)
    return false;
  Fragment &fragment = warp.fragments[slot];
  fragment = {};
  fragment.mask = lanes;
  fragment.pc = join.pc;
  fragment.frame = join.frame;
  fragment.join = join.parent;
  updateStop(warp, fragment);
  warp.spins = 0;
  return true;
}

} // namespace

bool Warp::hasRunnable() const {
  for (const Fragment &fragment : fragments)
    if (fragment.mask != 0 && fragment.state == Fragment::Runnable)
      return true;
  return false;
}

unsigned freeFragment(Warp &warp) {
  for (unsigned i = 0; i < warp.fragments.size(); ++i)
    if (warp.fragments[i].mask == 0)
      return i;
  return 0;
}

void updateStop(Warp &warp, Fragment &fragment) {
  fragment.stopPc = noIndex;
  if (fragment.join != noIndex && warp.joins[fragment.join].frame == fragment.frame)
    fragment.stopPc = warp.joins[fragment.join].pc;
}

uint32_t makeJoin(Warp &warp, uint32_t expected, uint32_t pc, Frame *frame, uint32_t parent) {
  uint32_t index = 0;
  while (index < warp.joins.size() && warp.joins[index].live)
    ++index;
  if (index == warp.joins.size())
    warp.joins.emplace_back();
  Join &join = warp.joins[index];
  join.expected = expected;
  join.arrived = 0;
  join.pc = pc;
  join.frame = frame;
  join.parent = parent;
  join.live = true;
  return index;
}

bool arriveAtJoin(Warp &warp, unsigned index) {
  Fragment &fragment = warp.fragments[index];
  uint32_t joinIndex = fragment.join;
  warp.joins[joinIndex].arrived |= fragment.mask;
  fragment.mask = 0;
  return settle(warp, joinIndex, index);
}

void diverge(Warp &warp, unsigned index, const std::vector<Part> &parts, uint32_t meet) {
  Fragment original = warp.fragments[index];
  uint32_t join = original.join;
  bool sharesJoin = meet == noIndex || meet == original.stopPc;
  if (!sharesJoin)
    join = makeJoin(warp, original.mask, meet, original.frame, original.join);
  bool isFirst = true;
  for (const Part &part : parts) {
    unsigned slot = isFirst ? index : freeFragment(warp);
    isFirst = false;
    Fragment &fragment = warp.fragments[slot];
    fragment = original;
    fragment.state = Fragment::Runnable;
    fragment.mask = part.mask;
    fragment.pc = part.pc;
    fragment.join = join;
    updateStop(warp, fragment);
  }
}

bool releaseJoins(Warp &warp) {
  bool released = false;
  for (Join &join : warp.joins) {
    if (!join.live || join.arrived == 0)
      continue;
    unsigned slot = freeFragment(warp);
    Fragment &fragment = warp.fragments[slot];
    fragment = {};
    fragment.mask = join.arrived;
    fragment.pc = join.pc;
    fragment.frame = join.frame;
    fragment.join = join.parent;
    updateStop(warp, fragment);
    join.expected &= ~join.arrived;
    join.arrived = 0;
    released = true;
  }
  warp.spins = 0;
  return released;
}

/// Removes the lanes from every join on the way out.
static void forgetLanes(Warp &warp, uint32_t join, uint32_t lanes) {
  while (join != noIndex) {
    uint32_t parent = warp.joins[join].parent;
    warp.joins[join].expected &= ~lanes;
    settle(warp, join, freeFragment(warp));
    join = parent;
  }
}

void exitLanes(Warp &warp, unsigned index, uint32_t lanes) {
  Fragment &fragment = warp.fragments[index];
  uint32_t join = fragment.join;
  warp.live &= ~lanes;
  warp.block->liveThreads -= static_cast<uint32_t>(__builtin_popcount(lanes));
  fragment.mask &= ~lanes;
  if (fragment.mask != 0) {
    ++fragment.pc;
  }
  forgetLanes(warp, join, lanes);
}

bool returnLanes(ExecContext &context, Warp &warp, unsigned index, uint32_t lanes) {
  Fragment &fragment = warp.fragments[index];
  Frame &frame = *fragment.frame;
  copyStackParams(context, warp, frame, lanes, true);
  // Results move to the caller's parameter area.
  Frame &caller = *frame.caller;
  for (size_t i = 0; i < frame.site->results.size(); ++i) {
    ParamSlot to = frame.site->results[i], from = frame.function->returns[i];
    forEachLane(lanes, [&](unsigned lane) {
      uint64_t toAt = uint64_t(lane) * caller.function->paramBytes + to.offset;
      uint64_t fromAt = uint64_t(lane) * frame.function->paramBytes + from.offset;
      std::memcpy(caller.params.data() + toAt, frame.params.data() + fromAt, to.size);
      if (context.checks)
        std::memcpy(caller.definedParams.data() + toAt, frame.definedParams.data() + fromAt, to.size);
    });
  }
  // Inner joins that these lanes leave without passing: they are no longer expected there.
  uint32_t join = fragment.join;
  while (join != noIndex && warp.joins[join].callee.get() != &frame) {
    uint32_t parent = warp.joins[join].parent;
    warp.joins[join].expected &= ~lanes;
    if (fragment.mask == lanes)
      settle(warp, join, freeFragment(warp));
    join = parent;
  }
  if (fragment.mask != lanes) {
    fragment.mask &= ~lanes;
    ++fragment.pc;
    warp.joins[join].arrived |= lanes;
    return true;
  }
  fragment.join = join;
  return arriveAtJoin(warp, index);
}

bool growLocal(const ExecContext &context, Warp &warp, uint64_t needed) {
  if (needed > maxLocalBytes)
    return false;
  if (needed <= warp.localStride)
    return true;
  uint32_t stride = static_cast<uint32_t>(needed + needed / 2);
  auto widen = [&](std::vector<uint8_t> &bytes) {
    std::vector<uint8_t> wider(size_t(stride) * warpSize, 0);
    for (unsigned lane = 0; lane < warpSize && warp.localStride != 0; ++lane)
      std::memcpy(wider.data() + size_t(lane) * stride, bytes.data() + size_t(lane) * warp.localStride,
                  warp.localStride);
    bytes = std::move(wider);
  };
  widen(warp.local);
  if (context.checks)
    widen(warp.definedLocal);
  warp.localStride = stride;
  return true;
}

uint32_t localEnd(const Frame &frame) {
  uint32_t end = frame.localBase + frame.function->localBytes;
  for (uint32_t top : frame.localTops)
    end = std::max(end, (top + 15) / 16 * 16);
  return end;
}

void copyStackParams(const ExecContext &context, Warp &warp, Frame &frame, uint32_t lanes, bool isReturn) {
  const FunctionCode &function = *frame.function;
  for (const FunctionCode::StackSlot &slot : isReturn ? function.stackReturns : function.stackParams)
    forEachLane(lanes, [&](unsigned lane) {
      uint64_t param = uint64_t(lane) * function.paramBytes + slot.param;
      uint64_t local = uint64_t(lane) * warp.localStride + frame.localBase + slot.local;
      auto move = [&](std::vector<uint8_t> &params, std::vector<uint8_t> &stack) {
        uint8_t *a = params.data() + param, *b = stack.data() + local;
        std::memcpy(isReturn ? a : b, isReturn ? b : a, slot.size);
      };
      move(frame.params, warp.local);
      if (context.checks)
        move(frame.definedParams, warp.definedLocal);
    });
}

bool setUpFrame(ExecContext &context, Warp &warp, Frame &frame, const FunctionCode &function, uint32_t localBase,
                uint32_t lanes) {
  frame.function = &function;
  frame.localBase = localBase;
  size_t values = size_t(function.rows) * warpSize;
  frame.registers.assign(values, 0);
  frame.params.assign(size_t(function.paramBytes) * warpSize, 0);
  if (context.checks) {
    frame.undefinedLanes.assign(function.rows, ~0u);
    frame.undefinedBits.resize(values);
    const auto &registers = function.function->registers;
    for (uint32_t row = 1; row < function.rows; ++row) {
      // Behind the registers are the upper halves of those of .b128.
      unsigned bits = row <= registers.size() ? bitWidth(registers[row - 1].type) : 64;
      std::fill_n(frame.undefinedBits.begin() + size_t(row) * warpSize, warpSize, lowBits(std::min(bits, 64u)));
    }
    frame.definedParams.assign(size_t(function.paramBytes) * warpSize, 0);
  }
  if (!growLocal(context, warp, uint64_t(localBase) + function.localBytes))
    return false;
  if (context.checks && function.localBytes != 0)
    forEachLane(lanes, [&](unsigned lane) {
      std::memset(warp.definedLocal.data() + size_t(lane) * warp.localStride + localBase, 0, function.localBytes);
    });
  return true;
}

std::string describe(const Warp &warp) {
  std::string text = "warp " + std::to_string(warp.index) + ":";
  const std::vector<Inst> &code = warp.block->grid->program->code;
  for (const Fragment &fragment : warp.fragments) {
    if (fragment.mask == 0)
      continue;
    text += " lanes " + maskText(fragment.mask);
    text += fragment.state == Fragment::AtBarrier      ? " wait at barrier " + std::to_string(fragment.barrier)
            : fragment.state == Fragment::Asleep     ? " wait for an mbarrier, for registers or for their warpgroup"
            : fragment.state == Fragment::AtCollective ? " wait for lanes " + maskText(fragment.memberMask)
                                                       : " run";
    text += " at line " + std::to_string(code[fragment.place()].line) + ";";
  }
  for (const Join &join : warp.joins)
    if (join.live && join.arrived != 0)
      text += " lanes " + maskText(join.arrived) + " wait for lanes " + maskText(join.expected & ~join.arrived) +
              " at line " + std::to_string(code[join.pc].line) + ";";
  if (warp.live == 0)
    text += " has ended";
  return text;
}

} // namespace tilewright::ptxsim
