// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the mbarrier instructions do.

#include "async/Mbarrier.h"
#include "async/MbarrierOp.h"
#include "machine/MemoryAccess.h"

#include <algorithm>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

void misuse(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, std::string message) {
  context.report(FindingKind::MbarrierMisuse, inst, lane, toldShared(context, address), std::move(message));
}

/// Ends the phase when it is complete, and wakes whom that concerns.
void settle(Mbarrier &barrier) {
  if (barrier.pending == 0 && barrier.transactions == 0) {
    ++barrier.phase;
    barrier.pending = barrier.expected;
    barrier.completed.join(barrier.arriving);
    barrier.arriving.clear();
    barrier.owner->idleWakes = 0;
    wakeSleepers(*barrier.owner);
  }
  storeMbarrier(barrier);
}

void initialise(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, uint64_t count) {
  Place place;
  if (!locate(context, inst, lane, address, 8, true, place))
    return;
  if (place.owner != context.block)
    return misuse(context, inst, lane, address, "an mbarrier must be in shared memory of the own block");
  if (count == 0 || count > Mbarrier::maxCount)
    return misuse(context, inst, lane, address,
                  "an mbarrier with a count of " + std::to_string(count) + "; it must be 1 to 1048575");
  if (!context.block->mbarriers)
    context.block->mbarriers = std::make_unique<MbarrierSet>();
  uint32_t offset = static_cast<uint32_t>(place.bytes - context.block->shared.data());
  auto [entry, isNew] = context.block->mbarriers->try_emplace(offset);
  uint64_t bytes;
  std::memcpy(&bytes, place.bytes, 8);
  if (!isNew && bytes == entry->second.bits())
    misuse(context, inst, lane, address, "an mbarrier is initialised again without mbarrier.inval");
  entry->second = {};
  entry->second.owner = context.block;
  entry->second.offset = offset;
  entry->second.expected = entry->second.pending = static_cast<uint32_t>(count);
  entry->second.initLine = inst.line;
  if (BlockRaces *races = context.block->races.get()) {
    uint32_t thread = context.warp->index * warpSize + lane;
    entry->second.initThread = races->globalThread(thread);
    entry->second.initClock = races->clockOf(thread);
  }
  if (context.checks) {
    recordAccess(context, inst, lane, address, 8, place, AccessKind::Write, false);
    std::memset(place.defined, 0xff, 8);
  }
  storeMbarrier(entry->second);
}

bool isOwn(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, const Mbarrier &barrier) {
  if (barrier.owner == context.block)
    return true;
  misuse(context, inst, lane, address, "this operation is for mbarriers of the own block, not of the cluster's others");
  return false;
}

void invalidate(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address) {
  Mbarrier *barrier = findMbarrier(context, inst, lane, address);
  if (!barrier || !isOwn(context, inst, lane, address, *barrier))
    return;
  Place place;
  if (context.checks && locate(context, inst, lane, address, 8, true, place)) {
    recordAccess(context, inst, lane, address, 8, place, AccessKind::Write, false);
    std::memset(place.defined, 0, 8);
  }
  context.block->mbarriers->erase(barrier->offset);
}

/// What the arriving thread knows becomes part of the phase.
void releaseInto(ExecContext &context, const Inst &inst, unsigned lane, Mbarrier &barrier) {
  BlockRaces *races = context.block->races.get();
  if (!races)
    return;
  uint32_t thread = context.warp->index * warpSize + lane;
  // An arrival of scope .cta tells the threads of another block nothing.
  bool outOfScope = barrier.owner != context.block && inst.scope == Scope::Cta;
  if (inst.order == Order::Release && !outOfScope)
    races->release({thread}, barrier.arriving);
  else
    races->publishFence(thread, barrier.arriving);
}

void arrive(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, uint64_t operand) {
  Mbarrier *barrier = findMbarrier(context, inst, lane, address);
  if (!barrier)
    return;
  MbarrierOp op = static_cast<MbarrierOp>(inst.op);
  bool needsState = inst.numDst != 0 && inst.dst[0] != sinkRow;
  if ((op == MbarrierOp::ArriveNoComplete || needsState) && !isOwn(context, inst, lane, address, *barrier))
    return;
  uint64_t token = barrier->token();
  uint64_t count = op == MbarrierOp::ArriveExpectTx ? 1 : operand;
  if (count == 0 || count > Mbarrier::maxCount)
    return misuse(context, inst, lane, address,
                  "an arrival with a count of " + std::to_string(count) + "; it must be 1 to 1048575");
  if (op == MbarrierOp::ArriveNoComplete && count >= barrier->pending && barrier->transactions == 0)
    return misuse(context, inst, lane, address, "mbarrier.arrive.noComplete would complete the phase");
  releaseInto(context, inst, lane, *barrier);
  if (op == MbarrierOp::ArriveExpectTx)
    addTransactions(context, inst, lane, *barrier, static_cast<int64_t>(operand));
  if (inst.mode)
    barrier->expected -= static_cast<uint32_t>(std::min<uint64_t>(count, barrier->expected));
  arriveAt(context, inst, lane, *barrier, static_cast<uint32_t>(count));
  if (inst.numDst != 0) {
    context.row(inst.dst[0])[lane] = token;
    if (context.checks)
      context.setUndefinedBits(inst.dst[0], lane, 0);
  }
}

/// Whether the wait succeeds; `sleeps` where it fails for good reason.
bool wait(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, uint64_t operand, bool &sleeps) {
  Mbarrier *barrier = findMbarrier(context, inst, lane, address);
  if (!barrier || !isOwn(context, inst, lane, address, *barrier))
    return true;
  bool complete;
  if (inst.mode) {
    operand &= 0xffffffff;
    if (operand > 1)
      misuse(context, inst, lane, address, "a parity of " + std::to_string(operand) + "; it must be 0 or 1");
    complete = (barrier->phase & 1) != operand;
  } else {
    uint64_t phase = operand >> 20;
    if (phase > barrier->phase || phase + 1 < barrier->phase)
      misuse(context, inst, lane, address, "a state that is not of the current or the previous phase");
    complete = phase < barrier->phase;
  }
  sleeps = !complete;
  bool spurious = static_cast<MbarrierOp>(inst.op) == MbarrierOp::TryWait && context.checks;
  if (!complete || (spurious && context.random() % 8 == 0))
    return false;
  if (BlockRaces *races = context.block->races.get()) {
    uint32_t thread = context.warp->index * warpSize + lane;
    if (inst.order == Order::Acquire)
      races->acquire({thread}, barrier->completed);
    else
      races->noteSeen(thread, barrier->completed);
  }
  context.block->idleWakes = 0;
  return true;
}

} // namespace

uint64_t Mbarrier::bits() const {
  uint64_t low = static_cast<uint32_t>(transactions) & 0x1fffff;
  return low | uint64_t(pending) << 21 | uint64_t(expected) << 41 | (phase & 1) << 61 | 1ull << 62;
}

void storeMbarrier(const Mbarrier &barrier) {
  uint64_t bits = barrier.bits();
  std::memcpy(barrier.owner->shared.data() + barrier.offset, &bits, 8);
}

Mbarrier *findMbarrier(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address) {
  return findMbarrier(context, inst, inst.space, context.warp->index * warpSize + lane, lane, address);
}

Mbarrier *findMbarrier(ExecContext &context, const Inst &inst, Space space, uint32_t thread, unsigned lane,
                       uint64_t address) {
  Place place;
  if (!locate(context, inst, space, lane, address, 8, 8, true, place))
    return nullptr;
  Block *owner = place.owner;
  MbarrierSet::iterator found;
  if (!owner || !owner->mbarriers ||
      (found = owner->mbarriers->find(static_cast<uint32_t>(place.bytes - owner->shared.data()))) ==
          owner->mbarriers->end()) {
    misuse(context, inst, lane, address, "there is no initialised mbarrier at this address");
    return nullptr;
  }
  uint64_t bytes;
  std::memcpy(&bytes, place.bytes, 8);
  if (bytes != found->second.bits()) {
    misuse(context, inst, lane, address, "the mbarrier was overwritten by other instructions");
    return nullptr;
  }
  if (context.checks) {
    checkRace(context, inst, thread, lane, address, 8, place, AccessKind::Atomic, Scope::Cluster, false);
    // The race above is with the last access, which may be of one that has seen the initialisation.
    const BlockRaces *races = context.block->races.get();
    if (races && !races->knows(thread, found->second.initThread, found->second.initClock))
      context.reportWithOther(FindingKind::Race, inst, lane, toldShared(context, address),
                              "the mbarrier is used and nothing orders that with its initialisation at line " +
                                  std::to_string(found->second.initLine),
                              found->second.initLine);
    // Relaxed operations tell nobody that they have happened.
    if (inst.order == Order::Release)
      noteForEnd(context, inst, thread, place);
  }
  return &found->second;
}

void arriveAt(ExecContext &context, const Inst &inst, unsigned lane, Mbarrier &barrier, uint32_t count) {
  if (count > barrier.pending)
    return misuse(context, inst, lane, barrier.offset,
                  std::to_string(count) + " arrivals at an mbarrier whose phase waits for " +
                      std::to_string(barrier.pending));
  barrier.pending -= count;
  settle(barrier);
}

void addTransactions(ExecContext &context, const Inst &inst, unsigned lane, Mbarrier &barrier, int64_t bytes) {
  int64_t sum = barrier.transactions + bytes;
  if (sum > Mbarrier::maxCount || sum < -static_cast<int64_t>(Mbarrier::maxCount))
    return misuse(context, inst, lane, barrier.offset,
                  "an mbarrier expects " + std::to_string(sum) + " bytes; at most 1048575 are possible");
  barrier.transactions = static_cast<int32_t>(sum);
  barrier.changed = &inst;
  settle(barrier);
}

void checkInitFence(ExecContext &context, const Inst &inst, unsigned lane, const Mbarrier &barrier, uint32_t agent) {
  const BlockRaces *races = context.block->races.get();
  if (races && !races->proxyFenced(barrier.initThread, barrier.initClock, agent, fencesShared))
    context.reportWithOther(FindingKind::ProxyOrder, inst, lane, barrier.offset,
                            "a bulk copy completes at an mbarrier that line " + std::to_string(barrier.initLine) +
                                " initialised without fence.mbarrier_init or fence.proxy.async after it",
                            barrier.initLine, true);
}

void checkTransactions(ExecContext &context, const Block &block) {
  if (!block.mbarriers)
    return;
  for (const auto &[offset, barrier] : *block.mbarriers)
    if (barrier.transactions != 0)
      misuse(context, *barrier.changed, noIndex, offset,
             "the block ends while an mbarrier waits for " + std::to_string(barrier.transactions) +
                 " bytes (negative: they came, but were never expected)");
}

bool hasSleeper(const Warp &warp) {
  for (const Fragment &fragment : warp.fragments)
    if (fragment.mask != 0 && fragment.state == Fragment::Asleep)
      return true;
  return false;
}

bool wakeSleepers(Block &block) {
  bool any = false;
  for (auto &warp : block.warps)
    for (Fragment &fragment : warp->fragments)
      if (fragment.mask != 0 && fragment.state == Fragment::Asleep) {
        fragment.state = Fragment::Runnable;
        any = true;
      }
  return any;
}

bool isTryWait(const Inst &inst) {
  return inst.run == executeMbarrier && static_cast<MbarrierOp>(inst.op) == MbarrierOp::TryWait;
}

void executeMbarrier(ExecContext &context, const Inst &inst) {
  if (context.checks)
    for (unsigned i = 0; i < inst.numSrc; ++i)
      if (uint32_t bad = context.undefinedLanes(inst.src[i]) & context.mask)
        context.report(FindingKind::Undefined, inst, static_cast<unsigned>(__builtin_ctz(bad)), 0,
                       "the mbarrier operation depends on an undefined value");
  bool allSleep = true;
  forEachLane(context.mask, [&](unsigned lane) {
    if (context.stopped)
      return;
    uint64_t address = context.row(inst.src[0])[lane] + static_cast<uint64_t>(inst.offset);
    uint64_t operand = inst.numSrc > 1 ? context.row(inst.src[1])[lane] : 1;
    switch (static_cast<MbarrierOp>(inst.op)) {
    case MbarrierOp::Init:
      return initialise(context, inst, lane, address, operand & 0xffffffff);
    case MbarrierOp::Invalidate:
      return invalidate(context, inst, lane, address);
    case MbarrierOp::ExpectTx:
    case MbarrierOp::CompleteTx:
      if (Mbarrier *barrier = findMbarrier(context, inst, lane, address)) {
        int64_t bytes = static_cast<int64_t>(operand & 0xffffffff);
        addTransactions(context, inst, lane, *barrier,
                        static_cast<MbarrierOp>(inst.op) == MbarrierOp::ExpectTx ? bytes : -bytes);
      }
      return;
    case MbarrierOp::Arrive:
    case MbarrierOp::ArriveNoComplete:
    case MbarrierOp::ArriveExpectTx:
      return arrive(context, inst, lane, address, operand & 0xffffffff);
    case MbarrierOp::TestWait:
    case MbarrierOp::TryWait: {
      bool sleeps = false;
      context.row(inst.dst[0])[lane] = wait(context, inst, lane, address, operand, sleeps);
      if (context.checks)
        context.setUndefinedBits(inst.dst[0], lane, 0);
      allSleep &= sleeps;
      return;
    }
    }
  });
  context.sleeps = allSleep;
}

} // namespace tilewright::ptxsim
