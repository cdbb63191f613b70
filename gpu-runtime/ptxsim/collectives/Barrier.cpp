// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sixteen named barriers of a block. Threads that have exited are not waited for. An aligned barrier (bar.sync,
// barrier.sync.aligned) is executed by whole warps: a fragment that comes alone waits for the rest of its warp first.

#include "collectives/BarrierState.h"
#include "collectives/Collectives.h"
#include "machine/Warp.h"

namespace tilewright::ptxsim {
namespace {

constexpr uint32_t counted = countedAtBarrier;

bool isOfCluster(const Inst &inst) { return static_cast<BarrierOp>(inst.op) >= BarrierOp::ClusterArrive; }

void complete(ExecContext &context, Block &block, unsigned id) {
  NamedBarrier &barrier = block.barriers[id];
  const std::vector<Inst> &code = context.grid->program->code;
  std::vector<uint32_t> waiting;
  for (auto &warp : block.warps)
    for (Fragment &fragment : warp->fragments) {
      if (fragment.mask == 0 || fragment.state != Fragment::AtBarrier || fragment.barrier != id ||
          fragment.memberMask != counted)
        continue;
      const Inst &inst = code[fragment.pc];
      BarrierOp op = static_cast<BarrierOp>(inst.op);
      uint64_t result = op == BarrierOp::ReducePopc  ? barrier.population
                        : op == BarrierOp::ReduceAnd ? barrier.allOf
                                                     : barrier.anyOf;
      forEachLane(fragment.mask, [&](unsigned lane) {
        if (op >= BarrierOp::ReducePopc) {
          fragment.frame->registers[uint64_t(inst.dst[0]) * warpSize + lane] = result;
          if (context.checks)
            fragment.frame->undefinedLanes[inst.dst[0]] &= ~(1u << lane);
        }
        waiting.push_back(warp->index * warpSize + lane);
      });
      fragment.state = Fragment::Runnable;
      fragment.memberMask = 0;
      ++fragment.pc;
      warp->spins = 0;
    }
  if (block.races)
    block.races->acquire(waiting, barrier.clock);
  barrier = {};
}

void completeIfFull(ExecContext &context, Block &block, unsigned id) {
  if (id == clusterBarrier)
    return completeClusterBarrier(*block.cluster);
  NamedBarrier &barrier = block.barriers[id];
  uint32_t expected = barrier.expected != 0 ? barrier.expected : block.liveThreads;
  if (barrier.active && barrier.arrived >= expected)
    complete(context, block, id);
}

/// The fragment's lanes are counted; they wait unless they only arrive. `isFirst`: of its warp at an aligned barrier.
void count(ExecContext &context, Warp &warp, unsigned index, bool isFirst = true) {
  Block &block = *warp.block;
  Fragment &fragment = warp.fragments[index];
  const Inst &inst = context.grid->program->code[fragment.pc];
  if (isOfCluster(inst))
    return countAtClusterBarrier(context, warp, index);
  NamedBarrier &barrier = block.barriers[fragment.barrier];
  BarrierOp op = static_cast<BarrierOp>(inst.op);
  unsigned lane = static_cast<unsigned>(__builtin_ctz(fragment.mask));
  auto row = [&](Row source) {
    return source < constantBank ? fragment.frame->registers.data() + uint64_t(source) * warpSize
                                 : context.bases[source >> 30] + uint64_t(source & rowIndexMask) * warpSize;
  };
  uint32_t wanted = static_cast<uint32_t>(row(inst.src[1])[lane]);
  if (barrier.active && barrier.expected != wanted)
    context.report(FindingKind::BarrierMisuse, inst, lane, 0,
                   "barrier " + std::to_string(fragment.barrier) + " is used with " + std::to_string(wanted) +
                       " threads while others wait with " + std::to_string(barrier.expected) + " (0 means all)");
  barrier.active = true;
  barrier.expected = wanted;
  // A warp counts whole, and once, when a count is given.
  uint32_t lanes = static_cast<uint32_t>(__builtin_popcount(fragment.mask));
  barrier.arrived += !inst.aligned || wanted == 0 ? lanes : isFirst ? warpSize : 0;
  if (op >= BarrierOp::ReducePopc)
    forEachLane(fragment.mask, [&](unsigned other) {
      bool predicate = (row(inst.src[2])[other] != 0) != inst.negateSource;
      barrier.population += predicate;
      barrier.allOf &= predicate;
      barrier.anyOf |= predicate;
    });
  if (block.races) {
    std::vector<uint32_t> threads;
    forEachLane(fragment.mask, [&](unsigned other) { threads.push_back(warp.index * warpSize + other); });
    block.races->release(threads, barrier.clock);
  }
  if (op == BarrierOp::Arrive) {
    fragment.state = Fragment::Runnable;
    fragment.memberMask = 0;
    ++fragment.pc;
  } else {
    fragment.state = Fragment::AtBarrier;
    fragment.memberMask = counted;
  }
}

/// Lanes of the warp that wait, uncounted, at the same aligned barrier instruction.
uint32_t gathered(const Warp &warp, const Fragment &like) {
  uint32_t lanes = 0;
  for (const Fragment &fragment : warp.fragments)
    if (fragment.mask != 0 && fragment.state == Fragment::AtBarrier && fragment.memberMask != counted &&
        fragment.pc == like.pc)
      lanes |= fragment.mask;
  return lanes;
}

void countGathered(ExecContext &context, Warp &warp, uint32_t pc, unsigned id) {
  uint32_t seen = 0; // a bit of each barrier that counts the warp
  for (unsigned i = 0; i < warp.fragments.size(); ++i) {
    Fragment &fragment = warp.fragments[i];
    if (fragment.mask != 0 && fragment.state == Fragment::AtBarrier && fragment.memberMask != counted &&
        fragment.pc == pc) {
      uint32_t bit = 1u << fragment.barrier;
      count(context, warp, i, !(seen & bit));
      seen |= bit;
    }
  }
  completeIfFull(context, *warp.block, id);
}

} // namespace

/// Which of the block's barriers the fragment names; splits off lanes that name another. False after a finding.
static bool nameBarrier(ExecContext &context, Warp &warp, unsigned index, const Inst &inst) {
  Fragment &fragment = warp.fragments[index];
  unsigned lane = static_cast<unsigned>(__builtin_ctz(fragment.mask));
  uint64_t id = context.row(inst.src[0])[lane];
  uint32_t wanted = static_cast<uint32_t>(context.row(inst.src[1])[lane]);
  if (context.checks && ((context.undefinedLanes(inst.src[0]) | context.undefinedLanes(inst.src[1])) & fragment.mask))
    context.report(FindingKind::Undefined, inst, lane, 0, "the barrier depends on an undefined value");
  if (id > 15 || wanted % warpSize != 0 || (inst.mode && wanted == 0)) {
    context.report(FindingKind::BarrierMisuse, inst, lane, 0,
                   "barrier " + std::to_string(id) + " with " + std::to_string(wanted) +
                       " threads: the number must be below 16 and the count a positive multiple of 32");
    context.stopped = true;
    context.grid->aborted = true;
    return false;
  }
  // Lanes that name another barrier are a meeting of their own.
  uint32_t same = 0;
  forEachLane(fragment.mask,
              [&](unsigned other) { same |= uint32_t(context.row(inst.src[0])[other] == id) << other; });
  if (same != fragment.mask)
    diverge(warp, index, {{same, fragment.pc}, {fragment.mask & ~same, fragment.pc}}, fragment.pc + 1);
  fragment.barrier = static_cast<uint8_t>(id);
  return true;
}

void arriveAtBarrier(ExecContext &context, Warp &warp, unsigned index) {
  Fragment &fragment = warp.fragments[index];
  const Inst &inst = context.grid->program->code[fragment.pc];
  if (isOfCluster(inst))
    fragment.barrier = clusterBarrier;
  else if (!nameBarrier(context, warp, index, inst))
    return;
  fragment.state = Fragment::AtBarrier;
  fragment.memberMask = 0;
  if (context.stopped)
    return;
  if (inst.aligned) {
    if (gathered(warp, fragment) == warp.live)
      countGathered(context, warp, fragment.pc, fragment.barrier);
    return;
  }
  unsigned id = fragment.barrier;
  count(context, warp, index);
  completeIfFull(context, *warp.block, id);
}

bool waitsForOwnWarp(const Warp &, const Fragment &fragment) {
  return fragment.mask != 0 && fragment.state == Fragment::AtBarrier && fragment.memberMask != counted;
}

void arriveUnaligned(ExecContext &context, Warp &warp, unsigned index) {
  unsigned id = warp.fragments[index].barrier;
  count(context, warp, index);
  completeIfFull(context, *warp.block, id);
}

void retryBarriers(ExecContext &context, Block &block) {
  for (auto &warp : block.warps)
    for (unsigned i = 0; i < warp->fragments.size(); ++i) {
      Fragment &fragment = warp->fragments[i];
      if (waitsForOwnWarp(*warp, fragment) && gathered(*warp, fragment) == warp->live)
        countGathered(context, *warp, fragment.pc, fragment.barrier);
    }
  for (unsigned id = 0; id < block.barriers.size(); ++id)
    if (block.liveThreads != 0 && block.barriers[id].active)
      completeIfFull(context, block, id);
  completeClusterBarrier(*block.cluster);
}

} // namespace tilewright::ptxsim
