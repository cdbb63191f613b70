// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies without tensor maps, and their groups.

#include "async/Bulk.h"
#include "arithmetic/Families.h"
#include "async/Mbarrier.h"
#include "decode/Decoder.h"
#include "machine/MemoryAccess.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tilewright::ptxsim {
namespace {

BulkCopies &copiesOf(Block &block) {
  if (!block.bulk) {
    block.bulk = std::make_unique<BulkCopies>();
    block.bulk->threads.resize(block.warps.size() * warpSize);
  }
  return *block.bulk;
}

/// Runs as the thread that issued the copy, for reports.
class AsThread {
public:
  AsThread(ExecContext &context, uint32_t thread) : context(context), warp(context.warp) {
    context.warp = context.block->warps[thread / warpSize].get();
  }
  ~AsThread() { context.warp = warp; }

private:
  ExecContext &context;
  Warp *warp;
};

/// Tells the mbarrier of a load.
void complete(ExecContext &context, const PendingBulk &copy, uint32_t agent) {
  unsigned lane = copy.thread % warpSize;
  if (!copy.toShared)
    return;
  Mbarrier *barrier = findMbarrier(context, *copy.inst, lane, copy.barrier);
  if (!barrier)
    return;
  checkInitFence(context, *copy.inst, lane, *barrier, agent);
  if (BlockRaces *races = context.block->races.get())
    races->release({agent}, barrier->arriving);
  addTransactions(context, *copy.inst, lane, *barrier, -int64_t(copy.bytes));
}

void perform(ExecContext &context, const PendingBulk &copy) {
  AsThread as(context, copy.thread);
  constexpr unsigned chunk = 16;
  unsigned lane = copy.thread % warpSize;
  BlockRaces *races = context.block->races.get();
  uint32_t agent = copy.thread;
  if (races) {
    agent = races->bulkAgentOf(copy.thread);
    races->become(agent, copy.issued, copy.clock);
  }
  if (copy.map) {
    if (performTensor(context, copy, agent))
      complete(context, copy, agent);
    return;
  }
  Space toSpace = copy.toShared ? Space::Shared : Space::Global;
  Space fromSpace = copy.toShared ? Space::Global : Space::Shared;
  for (uint32_t at = 0; at < copy.bytes; at += chunk) {
    Place to, from;
    if (!locate(context, *copy.inst, fromSpace, lane, copy.from + at, chunk, chunk, false, from) ||
        !locate(context, *copy.inst, toSpace, lane, copy.to + at, chunk, chunk, true, to))
      return;
    if (context.checks) {
      recordAccess(context, *copy.inst, agent, lane, copy.from + at, chunk, from, AccessKind::Read, false);
      recordAccess(context, *copy.inst, agent, lane, copy.to + at, chunk, to, AccessKind::Write,
                   std::memcmp(to.bytes, from.bytes, chunk) == 0);
      if (to.defined && from.defined)
        std::memcpy(to.defined, from.defined, chunk);
    }
    std::memmove(to.bytes, from.bytes, chunk);
  }
  complete(context, copy, agent);
}

/// Sources: destination, source, size, and the barrier of copies to shared memory.
void bulkCopy(ExecContext &context, const Inst &inst) {
  if (context.checks)
    for (unsigned i = 0; i < inst.numSrc; ++i)
      checkAddressDefined(context, inst, inst.src[i], context.mask);
  forEachLane(context.mask, [&](unsigned lane) {
    if (context.stopped)
      return;
    PendingBulk copy;
    copy.inst = &inst;
    copy.toShared = inst.mode;
    copy.to = context.row(inst.src[0])[lane] + static_cast<uint64_t>(inst.offset);
    copy.from = context.row(inst.src[1])[lane] + static_cast<uint64_t>(inst.offset2);
    copy.bytes = static_cast<uint32_t>(context.row(inst.src[2])[lane]);
    (copy.toShared ? copy.to : copy.from) &= 0xffffffff;
    if (copy.toShared)
      copy.barrier = (context.row(inst.src[3])[lane] + static_cast<uint64_t>(inst.offset3)) & 0xffffffff;
    if (copy.bytes % 16 != 0 || copy.to % 16 != 0 || copy.from % 16 != 0) {
      context.report(FindingKind::Misaligned, inst, lane, copy.to,
                     "a bulk copy of " + std::to_string(copy.bytes) +
                         " bytes: addresses and size must be multiples of 16");
      return;
    }
    issueBulk(context, lane, std::move(copy));
  });
}

void commitGroup(ExecContext &context, const Inst &) {
  BulkCopies &copies = copiesOf(*context.block);
  forEachLane(context.mask, [&](unsigned lane) {
    BulkCopies::Thread &thread = copies.threads[context.warp->index * warpSize + lane];
    ++thread.committed;
    thread.groupClock.push_back(thread.clock);
  });
}

void waitGroup(ExecContext &context, const Inst &inst) {
  BulkCopies &copies = copiesOf(*context.block);
  forEachLane(context.mask, [&](unsigned lane) {
    uint32_t number = context.warp->index * warpSize + lane;
    BulkCopies::Thread &thread = copies.threads[number];
    uint64_t left = static_cast<uint64_t>(inst.offset);
    uint32_t before = thread.committed > left ? thread.committed - static_cast<uint32_t>(left) : 0;
    if (before == 0)
      return;
    for (size_t i = 0; i < copies.pending.size();) {
      PendingBulk copy = copies.pending[i];
      if (copy.thread != number || copy.toShared || copy.group >= before) {
        ++i;
        continue;
      }
      copies.pending.erase(copies.pending.begin() + static_cast<ptrdiff_t>(i));
      perform(context, copy);
    }
    if (BlockRaces *races = context.block->races.get())
      races->learn(number, races->bulkAgentOf(number), thread.groupClock[before - 1]);
  });
}

void nothing(ExecContext &, const Inst &) {}

} // namespace

void issueBulk(ExecContext &context, unsigned lane, PendingBulk copy) {
  BulkCopies &copies = copiesOf(*context.block);
  copy.thread = context.warp->index * warpSize + lane;
  BulkCopies::Thread &thread = copies.threads[copy.thread];
  copy.group = thread.committed;
  copy.clock = ++thread.clock;
  if (context.block->races)
    copy.issued = context.block->races->issue(copy.thread);
  if (!context.checks || context.random() % 4 == 0)
    perform(context, copy);
  else
    copies.pending.push_back(std::move(copy));
}

bool performOneBulk(ExecContext &context, Block &block) {
  if (!block.bulk || block.bulk->pending.empty())
    return false;
  std::vector<PendingBulk> &pending = block.bulk->pending;
  size_t which = context.random() % pending.size();
  PendingBulk copy = pending[which];
  pending.erase(pending.begin() + static_cast<ptrdiff_t>(which));
  perform(context, copy);
  return true;
}

bool decodeBulkTensor(InstDecoder &d);

bool decodeBulk(InstDecoder &d) {
  Inst &inst = d.inst;
  d.decoder.program.usesAgents = true;
  if (d.take("commit_group")) {
    inst.run = commitGroup;
    return d.expectOperands(0);
  }
  if (d.take("wait_group")) {
    uint64_t left;
    d.take("read");
    inst.run = waitGroup;
    if (!d.expectOperands(1) || !d.immediate(0, left))
      return false;
    inst.offset = static_cast<int64_t>(left);
    return true;
  }
  if (d.take("tensor"))
    return decodeBulkTensor(d);
  bool hasPolicy = d.take("L2::cache_hint");
  if (d.take("prefetch")) {
    d.take("L2");
    d.take("global");
    inst.run = nothing;
    return d.expectOperands(2 + hasPolicy) && d.address(0) && d.source(1, ScalarType::U32);
  }
  if (d.hasModifier("multicast::cluster"))
    return d.unsupported("multicast");
  // Destination, then source.
  const std::vector<std::string_view> left = d.remaining();
  bool toShared = left.size() > 1 && (left[0] == "shared::cluster" || left[0] == "shared::cta") && left[1] == "global";
  bool toGlobal = left.size() > 1 && left[0] == "global" && left[1] == "shared::cta";
  if (!toShared && !toGlobal)
    return d.unsupported("this direction");
  d.take(left[0]);
  d.take(left[1]);
  if (!d.take(toShared ? "mbarrier::complete_tx::bytes" : "bulk_group"))
    return d.fail("needs its way of completion");
  inst.mode = toShared;
  inst.run = bulkCopy;
  if (!d.expectOperands(3 + toShared + hasPolicy) || !d.address(0))
    return false;
  int64_t to = inst.offset;
  if (!d.address(1))
    return false;
  inst.offset2 = inst.offset;
  if (!d.source(2, ScalarType::U32))
    return false;
  if (toShared && !d.address(3))
    return false;
  inst.offset3 = inst.offset;
  inst.offset = to;
  // That of the mbarrier.
  inst.space = Space::Shared;
  return true;
}

} // namespace tilewright::ptxsim
