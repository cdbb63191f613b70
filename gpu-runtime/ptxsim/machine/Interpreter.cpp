// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction loop, and what control flow does to fragments.

#include "machine/Interpreter.h"
#include "arithmetic/FastPaths.h"
#include "async/MbarrierOp.h"
#include "checks/Undefined.h"
#include "collectives/Collectives.h"
#include "machine/GlobalTraffic.h"
#include "machine/IssueCounts.h"
#include "machine/SharedTraffic.h"
#include "machine/Warp.h"
#include "matrix/Wgmma.h"

#include <cstring>

namespace tilewright::ptxsim {
namespace {

/// Backward branches after which lanes waiting at a join are let go: the others may be waiting for them.
constexpr uint32_t spinLimit = 20000;
constexpr unsigned maxCallDepth = 4096;

void bind(ExecContext &context, Warp &warp, Fragment &fragment) {
  context.warp = &warp;
  context.fragment = &fragment;
  context.frame = fragment.frame;
  context.bases[0] = fragment.frame->registers.data();
  context.bases[1] = const_cast<uint64_t *>(warp.block->constants->data());
  context.bases[2] = warp.special.data();
}

uint32_t guardMask(ExecContext &context, const Inst &inst, uint32_t mask) {
  uint32_t lanes = nonZeroLanes(context.row(inst.guard));
  if (inst.guardNegated)
    lanes = ~lanes;
  return lanes & mask;
}

void checkGuard(ExecContext &context, const Inst &inst, uint32_t mask) {
  uint32_t bad = context.undefinedLanes(inst.guard) & mask;
  if (bad == 0)
    return;
  const char *what = inst.flow == Flow::Branch ? "the branch depends on an undefined value"
                                               : "the guard depends on an undefined value";
  context.report(FindingKind::Undefined, inst, static_cast<unsigned>(__builtin_ctz(bad)), 0, what);
}

/// The fragment's program counter after an indexed branch; splits the fragment where indices differ.
void branchIndexed(ExecContext &context, Warp &warp, unsigned index, const Inst &inst, uint32_t mask) {
  Fragment &fragment = warp.fragments[index];
  const std::vector<uint32_t> &table = context.grid->program->branchTables[inst.offset];
  const uint64_t *selectors = context.row(inst.src[0]);
  if (context.checks && (context.undefinedLanes(inst.src[0]) & mask))
    context.report(FindingKind::Undefined, inst,
                   static_cast<unsigned>(__builtin_ctz(context.undefinedLanes(inst.src[0]) & mask)), 0,
                   "the branch depends on an undefined value");
  std::vector<Part> parts;
  if (fragment.mask & ~mask)
    parts.push_back({fragment.mask & ~mask, fragment.pc + 1});
  while (mask != 0) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(mask));
    uint32_t selector = static_cast<uint32_t>(selectors[lane]);
    if (selector >= table.size()) {
      context.report(FindingKind::BadCall, inst, lane, 0,
                     "branch index " + std::to_string(selector) + " in a table of " + std::to_string(table.size()));
      context.stopped = true;
      context.grid->aborted = true;
      return;
    }
    uint32_t same = 0;
    forEachLane(mask, [&](unsigned other) {
      same |= uint32_t(table[uint32_t(selectors[other]) % table.size()] == table[selector]) << other;
    });
    parts.push_back({same, table[selector]});
    mask &= ~same;
  }
  if (parts.size() == 1)
    fragment.pc = parts.front().pc;
  else
    diverge(warp, index, parts, inst.reconverge);
}

/// Splits off the lanes that do not take part; they meet the others behind the instruction.
void narrow(Warp &warp, unsigned index, uint32_t mask) {
  Fragment &fragment = warp.fragments[index];
  uint32_t pc = fragment.pc;
  diverge(warp, index, {{mask, pc}, {fragment.mask & ~mask, pc + 1}}, pc + 1);
}

bool resolveTarget(ExecContext &context, Warp &warp, unsigned index, const Inst &inst, uint32_t &callee) {
  Fragment &fragment = warp.fragments[index];
  const uint64_t *targets = context.row(inst.src[0]);
  unsigned lane = static_cast<unsigned>(__builtin_ctz(fragment.mask));
  uint64_t target = targets[lane];
  if (context.checks && (context.undefinedLanes(inst.src[0]) & fragment.mask))
    context.report(FindingKind::Undefined, inst, lane, target, "the call target depends on an undefined value");
  uint32_t same = 0;
  forEachLane(fragment.mask, [&](unsigned other) { same |= uint32_t(targets[other] == target) << other; });
  if (same != fragment.mask)
    diverge(warp, index, {{same, fragment.pc}, {fragment.mask & ~same, fragment.pc}}, fragment.pc + 1);
  const Program &program = *context.grid->program;
  auto found = program.functionOfAddress.find(static_cast<uint32_t>((target - codeAddressBase) / 16 - 1));
  if (target < codeAddressBase || target % 16 != 0 || found == program.functionOfAddress.end()) {
    context.report(FindingKind::BadCall, inst, lane, target, "indirect call of an address that is no function");
    return false;
  }
  callee = found->second;
  return true;
}

bool call(ExecContext &context, Warp &warp, unsigned index, const Inst &inst) {
  const Program &program = *context.grid->program;
  const CallSite &site = program.calls[inst.offset];
  Fragment &fragment = warp.fragments[index];
  if (site.builtin != Builtin::None) {
    context.mask = fragment.mask;
    callBuiltin(context, inst, site);
    ++fragment.pc;
    return true;
  }
  uint32_t calleeIndex = site.callee;
  if (calleeIndex == noIndex && !resolveTarget(context, warp, index, inst, calleeIndex))
    return false;
  const FunctionCode &callee = program.functions[calleeIndex];
  if (site.callee == noIndex &&
      (callee.params.size() != site.arguments.size() || callee.returns.size() < site.results.size())) {
    context.report(FindingKind::BadCall, inst, noIndex, 0, "indirect call with other parameters than the function has");
    return false;
  }
  unsigned depth = 0;
  for (const Frame *frame = fragment.frame; frame; frame = frame->caller)
    ++depth;
  Frame &caller = *fragment.frame;
  auto frame = std::make_unique<Frame>();
  frame->caller = &caller;
  frame->site = &site;
  if (depth > maxCallDepth ||
      !setUpFrame(context, warp, *frame, callee, localEnd(caller), fragment.mask)) {
    context.report(FindingKind::StackOverflow, inst, noIndex, 0, "the call stack is used up");
    return false;
  }
  for (size_t i = 0; i < site.arguments.size(); ++i) {
    ParamSlot from = site.arguments[i], to = callee.params[i];
    uint32_t bytes = std::min(from.size, to.size);
    forEachLane(fragment.mask, [&](unsigned lane) {
      uint64_t fromAt = uint64_t(lane) * caller.function->paramBytes + from.offset;
      uint64_t toAt = uint64_t(lane) * callee.paramBytes + to.offset;
      std::memcpy(frame->params.data() + toAt, caller.params.data() + fromAt, bytes);
      if (context.checks)
        std::memcpy(frame->definedParams.data() + toAt, caller.definedParams.data() + fromAt, bytes);
    });
  }
  copyStackParams(context, warp, *frame, fragment.mask, false);
  uint32_t join = makeJoin(warp, fragment.mask, fragment.pc + 1, &caller, fragment.join);
  fragment.frame = frame.get();
  fragment.pc = callee.entry;
  fragment.join = join;
  fragment.stopPc = noIndex;
  warp.joins[join].callee = std::move(frame);
  return true;
}

void afterExit(ExecContext &context, Warp &warp) {
  retryCollectives(context, warp);
  retryBarriers(context, *warp.block);
}

/// Everything but straight-line code. False when the fragment cannot go on now.
bool control(ExecContext &context, Warp &warp, unsigned index, const Inst &inst, uint32_t mask) {
  Fragment &fragment = warp.fragments[index];
  switch (inst.flow) {
  case Flow::Next:
    return true;
  case Flow::Branch: {
    if (mask == fragment.mask) {
      if (inst.target <= fragment.pc && ++warp.spins > spinLimit)
        releaseJoins(warp);
      fragment.pc = inst.target;
    } else if (mask == 0) {
      ++fragment.pc;
    } else {
      if (inst.target <= fragment.pc && ++warp.spins > spinLimit)
        releaseJoins(warp);
      diverge(warp, index, {{fragment.mask & ~mask, fragment.pc + 1}, {mask, inst.target}}, inst.reconverge);
    }
    return true;
  }
  case Flow::BranchIndexed:
    branchIndexed(context, warp, index, inst, mask);
    return !context.stopped;
  case Flow::Exit:
    exitLanes(warp, index, mask);
    afterExit(context, warp);
    return fragment.mask != 0 && fragment.state == Fragment::Runnable;
  case Flow::Return:
    return returnLanes(context, warp, index, mask);
  case Flow::Trap:
    context.report(FindingKind::Trap, inst, static_cast<unsigned>(__builtin_ctz(mask)), 0, "trap instruction");
    context.stopped = true;
    context.grid->aborted = true;
    return false;
  case Flow::Poll:
    context.mask = mask;
    context.sleeps = context.again = false;
    inst.run(context, inst);
    // Lanes that the guard leaves out have other things to do.
    if (context.sleeps && mask == fragment.mask && !context.stopped) {
      fragment.state = Fragment::Asleep;
      fragment.polledAt = fragment.pc;
      // It may wait as long as it likes: where issue is counted, until the phase is complete.
      context.again |= context.grid->issue && !context.checks && isTryWait(inst);
    }
    if (context.again && context.grid->issue)
      context.grid->issue->takeBack(inst, mask, warp.index);
    fragment.pc += !context.again;
    return fragment.state == Fragment::Runnable;
  default:
    break;
  }
  if (mask != fragment.mask)
    narrow(warp, index, mask);
  switch (inst.flow) {
  case Flow::Call:
    if (call(context, warp, index, inst))
      return true;
    context.stopped = true;
    context.grid->aborted = true;
    return false;
  case Flow::Collective:
    arriveAtCollective(context, warp, index);
    break;
  default:
    arriveAtBarrier(context, warp, index);
    break;
  }
  return fragment.mask != 0 && fragment.state == Fragment::Runnable;
}

} // namespace

void runFragment(ExecContext &context, Warp &warp, unsigned index, uint64_t budget) {
  Fragment &fragment = warp.fragments[index];
  const Inst *code = context.grid->program->code.data();
  bind(context, warp, fragment);
  const bool checks = context.checks;
  SharedTraffic *traffic = context.grid->traffic;
  IssueCounts *issue = context.grid->issue;
  uint64_t steps = 0, threadSteps = 0;
  while (steps < budget && !context.stopped) {
    if (fragment.pc == fragment.stopPc) {
      if (!arriveAtJoin(warp, index))
        break;
      bind(context, warp, fragment);
      continue;
    }
    const Inst &inst = code[fragment.pc];
    uint32_t mask = fragment.mask;
    ++steps;
    threadSteps += static_cast<unsigned>(__builtin_popcount(mask));
    if (inst.guarded) {
      if (checks)
        checkGuard(context, inst, mask);
      mask = guardMask(context, inst, mask);
    }
    if (issue)
      issue->count(inst, mask, warp.index);
    if (mask == 0) {
      ++fragment.pc;
      continue;
    }
    if (checks && warp.wgmma)
      checkRegisters(context, inst);
    if (inst.flow == Flow::Next) {
      context.mask = mask;
      if (checks && inst.undef != UndefRule::Own)
        propagateUndefined(context, inst);
      if (traffic) {
        traffic->count(context, inst);
        context.grid->globalTraffic->count(context, inst);
      }
      inst.run(context, inst);
      ++fragment.pc;
      continue;
    }
    if (!control(context, warp, index, inst, mask))
      break;
    if (inst.flow != Flow::Branch)
      bind(context, warp, fragment);
  }
  context.stepCount += steps;
  context.threadStepCount += threadSteps;
}

} // namespace tilewright::ptxsim
