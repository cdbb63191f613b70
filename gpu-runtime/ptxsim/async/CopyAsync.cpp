// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async, cp.async.commit_group, cp.async.wait_group, cp.async.wait_all.

#include "async/CopyAsync.h"
#include "arithmetic/Families.h"
#include "async/BulkOp.h"
#include "decode/Decoder.h"
#include "machine/GlobalTraffic.h"
#include "machine/MemoryAccess.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace tilewright::ptxsim {
namespace {

AsyncCopies &copiesOf(Warp &warp) {
  if (!warp.copies)
    warp.copies = std::make_unique<AsyncCopies>();
  return *warp.copies;
}

/// Both ends of a copy; what is out of bounds or misaligned is reported.
bool locateBoth(ExecContext &context, const PendingCopy &copy, Place &to, Place &from) {
  if (!locate(context, *copy.inst, Space::Shared, copy.lane, copy.to, copy.bytes, copy.bytes, true, to))
    return false;
  return copy.sourceBytes == 0 ||
         locate(context, *copy.inst, Space::Global, copy.lane, copy.from, copy.sourceBytes, copy.bytes, false, from);
}

void perform(ExecContext &context, const PendingCopy &copy) {
  Place to, from;
  if (!locateBoth(context, copy, to, from))
    return;
  uint8_t bytes[16] = {};
  if (copy.sourceBytes != 0)
    std::memcpy(bytes, from.bytes, copy.sourceBytes);
  if (context.checks) {
    BlockRaces *races = context.block->races.get();
    unsigned thread = context.warp->index * warpSize + copy.lane;
    if (races) {
      unsigned agent = races->agentOf(thread);
      races->become(agent, copy.issued, copy.clock);
      if (copy.sourceBytes != 0)
        recordAccess(context, *copy.inst, agent, copy.lane, copy.from, copy.sourceBytes, from, AccessKind::Read, false);
      recordAccess(context, *copy.inst, agent, copy.lane, copy.to, copy.bytes, to, AccessKind::Write, false);
    }
    std::memset(to.defined, 0xff, copy.bytes);
    if (copy.sourceBytes != 0 && from.defined)
      std::memcpy(to.defined, from.defined, copy.sourceBytes);
  }
  std::memcpy(to.bytes, bytes, copy.bytes);
}

/// The arrivals at mbarriers that waited for copies which have happened.
void deliverArrivals(ExecContext &context, AsyncCopies &copies) {
  for (size_t i = 0; i < copies.arrivals.size();) {
    PendingArrival arrival = copies.arrivals[i];
    bool waits = std::any_of(copies.pending.begin(), copies.pending.end(), [&](const PendingCopy &copy) {
      return copy.lane == arrival.lane && copy.clock <= arrival.clock;
    });
    if (waits) {
      ++i;
      continue;
    }
    copies.arrivals.erase(copies.arrivals.begin() + static_cast<ptrdiff_t>(i));
    Mbarrier *barrier = findMbarrier(context, *arrival.inst, arrival.lane, arrival.address);
    if (!barrier)
      continue;
    if (BlockRaces *races = context.block->races.get()) {
      unsigned agent = races->agentOf(context.warp->index * warpSize + arrival.lane);
      races->become(agent, arrival.issued, arrival.clock);
      races->release({agent}, barrier->arriving);
    }
    arriveAt(context, *arrival.inst, arrival.lane, *barrier, 1);
  }
}

/// inst.mode: .noinc, the arrival counts as one of those that the barrier expects.
void arriveAfterCopies(ExecContext &context, const Inst &inst) {
  if (context.checks)
    checkAddressDefined(context, inst, inst.src[0], context.mask);
  AsyncCopies &copies = copiesOf(*context.warp);
  forEachLane(context.mask, [&](unsigned lane) {
    PendingArrival arrival;
    arrival.inst = &inst;
    arrival.lane = lane;
    arrival.address = context.row(inst.src[0])[lane] + static_cast<uint64_t>(inst.offset);
    arrival.clock = copies.issued[lane];
    Mbarrier *barrier = findMbarrier(context, inst, lane, arrival.address);
    if (!barrier)
      return;
    if (!inst.mode) {
      ++barrier->pending;
      storeMbarrier(*barrier);
    }
    if (context.block->races)
      arrival.issued = context.block->races->issue(context.warp->index * warpSize + lane);
    copies.arrivals.push_back(arrival);
  });
  if (!context.checks || context.random() % 2 == 0)
    deliverArrivals(context, copies);
}

/// Some of what is pending, at the scheduler's whim.
void performSome(ExecContext &context, AsyncCopies &copies) {
  uint64_t choice = context.random();
  if (choice % 4 != 0)
    return;
  std::vector<PendingCopy> chosen;
  size_t kept = 0;
  for (PendingCopy &copy : copies.pending)
    if (context.random() % 3 == 0)
      chosen.push_back(std::move(copy));
    else if (size_t place = kept++; &copies.pending[place] != &copy)
      copies.pending[place] = std::move(copy);
  copies.pending.resize(kept);
  for (const PendingCopy &copy : chosen)
    perform(context, copy);
  deliverArrivals(context, copies);
}

/// Sources: destination, source, then the number of source bytes (or a predicate that says to take none).
void copyAsync(ExecContext &context, const Inst &inst) {
  const uint64_t *to = context.row(inst.src[0]), *from = context.row(inst.src[1]);
  const uint64_t *source = inst.numSrc > 2 ? context.row(inst.src[2]) : nullptr;
  if (context.checks)
    for (unsigned i = 0; i < inst.numSrc; ++i)
      checkAddressDefined(context, inst, inst.src[i], context.mask);
  AsyncCopies &copies = copiesOf(*context.warp);
  GlobalTraffic::Range read[warpSize];
  unsigned reads = 0;
  forEachLane(context.mask, [&](unsigned lane) {
    PendingCopy copy;
    copy.inst = &inst;
    copy.lane = lane;
    copy.to = to[lane] + static_cast<uint64_t>(inst.offset);
    copy.from = from[lane] + static_cast<uint64_t>(inst.offset2);
    copy.bytes = copy.sourceBytes = inst.elements;
    if (source && inst.wantsPredicate)
      copy.sourceBytes = (source[lane] != 0) != inst.negateSource ? 0 : copy.bytes;
    else if (source)
      copy.sourceBytes = static_cast<uint8_t>(std::min<uint64_t>(source[lane] & 0xffffffff, copy.bytes));
    if (copy.sourceBytes != 0)
      read[reads++] = {copy.from, copy.from + copy.sourceBytes};
    copy.group = copies.committed[lane];
    copy.clock = ++copies.issued[lane];
    // A generic address of shared memory is its window's.
    uint64_t offset = copy.to - context.grid->memory->windowBase();
    if (offset < DeviceMemory::localWindow)
      copy.to = offset;
    if (!context.checks) {
      perform(context, copy);
      return;
    }
    Place place, other;
    if (!locateBoth(context, copy, place, other))
      return;
    if (context.block->races)
      copy.issued = context.block->races->issue(context.warp->index * warpSize + lane);
    copies.pending.push_back(copy);
  });
  if (context.grid->globalTraffic)
    context.grid->globalTraffic->count(context, inst, TrafficWay::Read, read, reads);
  if (context.checks)
    performSome(context, copies);
}

void commit(AsyncCopies &copies, unsigned lane) {
  ++copies.committed[lane];
  copies.groupEnds[lane].push_back(copies.issued[lane]);
}

void commitGroup(ExecContext &context, const Inst &) {
  AsyncCopies &copies = copiesOf(*context.warp);
  forEachLane(context.mask, [&](unsigned lane) { commit(copies, lane); });
  if (context.checks)
    performSome(context, copies);
}

/// inst.mode: whether the open group is waited for too; inst.offset: groups that may stay pending.
void waitGroup(ExecContext &context, const Inst &inst) {
  AsyncCopies &copies = copiesOf(*context.warp);
  std::array<uint32_t, warpSize> before{};
  forEachLane(context.mask, [&](unsigned lane) {
    if (inst.mode)
      commit(copies, lane);
    uint64_t left = static_cast<uint64_t>(inst.offset);
    before[lane] = copies.committed[lane] > left ? copies.committed[lane] - static_cast<uint32_t>(left) : 0;
  });
  finishCopies(context, *context.warp, context.mask, before);
  if (BlockRaces *races = context.block->races.get())
    forEachLane(context.mask, [&](unsigned lane) {
      unsigned thread = context.warp->index * warpSize + lane;
      if (before[lane] != 0)
        races->learn(thread, races->agentOf(thread), copies.groupEnds[lane][before[lane] - 1]);
    });
}

} // namespace

void finishCopies(ExecContext &context, Warp &warp, uint32_t lanes, const std::array<uint32_t, 32> &before) {
  if (!warp.copies)
    return;
  Warp *current = std::exchange(context.warp, &warp);
  std::vector<PendingCopy> &pending = warp.copies->pending;
  auto isDue = [&](const PendingCopy &copy) { return (lanes >> copy.lane & 1) && copy.group < before[copy.lane]; };
  std::vector<PendingCopy> due;
  std::copy_if(pending.begin(), pending.end(), std::back_inserter(due), isDue);
  pending.erase(std::remove_if(pending.begin(), pending.end(), isDue), pending.end());
  for (const PendingCopy &copy : due)
    perform(context, copy);
  deliverArrivals(context, *warp.copies);
  context.warp = current;
}

bool finishSomeCopies(ExecContext &context, Block &block) {
  bool any = false;
  Warp *current = context.warp;
  for (auto &warp : block.warps)
    if (warp->copies && (!warp->copies->pending.empty() || !warp->copies->arrivals.empty())) {
      context.warp = warp.get();
      performSome(context, *warp->copies);
      any = true;
    }
  context.warp = current;
  return any;
}

bool finishAllCopies(ExecContext &context, Block &block) {
  std::array<uint32_t, 32> all;
  all.fill(noIndex);
  bool any = false;
  for (auto &warp : block.warps)
    if (warp->copies && (!warp->copies->pending.empty() || !warp->copies->arrivals.empty())) {
      finishCopies(context, *warp, ~0u, all);
      any = true;
    }
  return any;
}

namespace {

bool decodeCopy(InstDecoder &d) {
  Inst &inst = d.inst;
  bool viaL1 = d.take("ca");
  if (!viaL1 && !d.take("cg"))
    return d.unsupported("this form");
  if (!(d.take("shared") || d.take("shared::cta")) || !d.take("global"))
    return d.fail("copies go from .global to .shared");
  bool hasPolicy = d.take("L2::cache_hint");
  while (!d.takePrefix("L2::").empty()) {
  }
  size_t operands = d.operandCount() - hasPolicy;
  if (!d.expectOperands(3 + hasPolicy, 4 + hasPolicy) || !d.address(0))
    return false;
  int64_t offset = inst.offset;
  if (!d.address(1))
    return false;
  inst.offset2 = inst.offset;
  inst.offset = offset;
  uint64_t bytes;
  if (!d.immediate(2, bytes))
    return false;
  if (bytes != 16 && (!viaL1 || (bytes != 4 && bytes != 8)))
    return d.fail(viaL1 ? "copies 4, 8 or 16 bytes" : "copies 16 bytes");
  inst.elements = static_cast<uint8_t>(bytes);
  d.decoder.program.usesAgents = true;
  inst.run = copyAsync;
  if (operands == 3)
    return true;
  const Operand &last = d.operand(3);
  if (last.kind == Operand::Register && d.function.registers[last.index].type == ScalarType::Pred) {
    inst.wantsPredicate = true;
    inst.negateSource = last.negated;
    return d.predicate(3);
  }
  return d.source(3, ScalarType::U32);
}

} // namespace

bool decodeCp(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.undef = UndefRule::Own;
  bool reduces = d.take("reduce");
  if (!d.take("async"))
    return d.unsupported("this form");
  if (d.take("bulk"))
    return decodeBulk(d, reduces);
  if (reduces)
    return d.fail("needs .bulk");
  if (d.take("commit_group")) {
    inst.run = commitGroup;
    return d.expectOperands(0);
  }
  if (d.take("wait_all")) {
    inst.run = waitGroup;
    inst.mode = 1;
    return d.expectOperands(0);
  }
  if (d.take("wait_group")) {
    uint64_t left;
    inst.run = waitGroup;
    if (!d.expectOperands(1) || !d.immediate(0, left))
      return false;
    inst.offset = static_cast<int64_t>(left);
    return true;
  }
  if (d.take("mbarrier")) {
    inst.run = arriveAfterCopies;
    if (!d.take("arrive"))
      return d.unsupported("this form");
    inst.mode = d.take("noinc");
    takeMemorySpace(d);
    return (inst.space == Space::Shared || inst.space == Space::Generic || d.fail("an mbarrier is in shared memory")) &&
           (d.takeType() == ScalarType::B64 || d.fail("needs .b64")) && d.expectOperands(1) && d.address(0);
  }
  return decodeCopy(d);
}

} // namespace tilewright::ptxsim
