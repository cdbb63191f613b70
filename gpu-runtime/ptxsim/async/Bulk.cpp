// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When bulk copies happen, and their groups.

#include "async/Bulk.h"
#include "async/BulkOp.h"
#include "async/Mbarrier.h"
#include "async/TensorMap.h"
#include "machine/GlobalTraffic.h"
#include "machine/MemoryAccess.h"
#include "machine/SharedTraffic.h"

#include <algorithm>
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

/// The thread of the same warp whose agents a copy counts as. One thread's copies arrive in any order, so that who waits
/// for one of them knows nothing of the others: those of other mbarriers are by other agents, until there are more of
/// these than lanes.
uint32_t agentThread(BulkCopies &copies, const PendingBulk &copy) {
  if (copy.endsInGroup())
    return copy.thread;
  auto known = std::find(copies.barriers.begin(), copies.barriers.end(), copy.barrier);
  auto number = static_cast<uint32_t>(known - copies.barriers.begin());
  if (known == copies.barriers.end())
    copies.barriers.push_back(copy.barrier);
  uint32_t lane = copy.thread % warpSize;
  return copy.thread - lane + (lane + number) % warpSize;
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

void become(ExecContext &context, const PendingBulk &copy, uint32_t agent) {
  if (BlockRaces *races = context.block->races.get())
    races->become(agent, copy.issued, copy.clock);
}

/// Tells the mbarrier of a copy into shared memory.
void complete(ExecContext &context, const PendingBulk &copy) {
  unsigned lane = copy.thread % warpSize;
  const Inst &inst = *copy.inst;
  if (ownerOfShared(context, copy.barrier) != ownerOfShared(context, copy.to))
    return context.report(FindingKind::MbarrierMisuse, inst, lane, toldShared(context, copy.barrier),
                          "the mbarrier is not in the block that the copy goes to");
  Mbarrier *barrier = findMbarrier(context, inst, Space::SharedCluster, copy.writer, lane, copy.barrier);
  if (!barrier)
    return;
  BlockRaces *races = context.block->races.get();
  if (races && races->isAsyncProxy(copy.writer))
    checkInitFence(context, inst, lane, *barrier, copy.writer);
  if (races)
    races->release({copy.writer}, barrier->arriving);
  addTransactions(context, inst, lane, *barrier, -int64_t(copy.bytes));
}

/// What the copy costs shared memory: of one from block to block both ends.
void countShared(ExecContext &context, const PendingBulk &copy) {
  if (!context.grid->traffic)
    return;
  context.grid->traffic->countBulk(*copy.inst, copy.bytes);
  if (copy.way == BulkWay::SharedToShared)
    context.grid->traffic->countBulk(*copy.inst, copy.bytes);
  const Block *owner = ownerOfShared(context, copy.to);
  if (copy.way == BulkWay::GlobalToShared && owner)
    context.grid->globalTraffic->arrive(copy.map ? copy.map->address : copy.from, owner->linear, offsetInShared(copy.to),
                                        offsetInShared(copy.barrier), copy.bytes);
}

bool readSource(ExecContext &context, PendingBulk &copy) {
  if (copy.isRead)
    return true;
  countShared(context, copy);
  become(context, copy, copy.reader);
  copy.isRead = true;
  copy.data.assign(copy.bytes, 0);
  if (context.checks)
    copy.defined.assign(copy.bytes, 0xff);
  return copy.map ? readTile(context, copy) : readLinear(context, copy);
}

void writeDestination(ExecContext &context, const PendingBulk &copy) {
  become(context, copy, copy.writer);
  bool ok = copy.map ? writeTile(context, copy) : writeLinear(context, copy);
  if (ok && !copy.endsInGroup())
    complete(context, copy);
}

void perform(ExecContext &context, PendingBulk &copy) {
  AsThread as(context, copy.thread);
  if (readSource(context, copy))
    writeDestination(context, copy);
}

} // namespace

void startBulk(ExecContext &context, PendingBulk copy) {
  if (!context.checks || context.random() % 4 == 0)
    perform(context, copy);
  else
    copiesOf(*context.block).pending.push_back(std::move(copy));
}

void issueBulk(ExecContext &context, unsigned lane, PendingBulk copy, uint16_t multicast) {
  copy.thread = context.warp->index * warpSize + lane;
  BulkCopies &copies = copiesOf(*context.block);
  copy.group = copies.threads[copy.thread].committed;
  uint32_t agent = agentThread(copies, copy);
  copy.reader = copy.writer = copy.thread;
  if (BlockRaces *races = context.block->races.get()) {
    copy.issued = races->issue(copy.thread);
    copy.reader = copy.endsInGroup() ? races->bulkReaderOf(copy.thread) : races->bulkAgentOf(agent);
    copy.writer = copy.endsInGroup() ? races->bulkWriterOf(copy.thread) : copy.reader;
  }
  uint64_t ranks = context.grid->clusterDim.count();
  if (multicast >> ranks != 0)
    return context.report(FindingKind::ClusterMisuse, *copy.inst, lane, toldShared(context, copy.to),
                          "a multicast to block " + std::to_string(31 - __builtin_clz(multicast)) +
                              " of a cluster of " + std::to_string(ranks));
  copy.clock = ++copies.threads[agent].clock;
  if (multicast == 0)
    return startBulk(context, std::move(copy));
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    if (!(multicast >> rank & 1))
      continue;
    PendingBulk one = copy;
    one.to = sharedOfRank(rank, copy.to);
    one.barrier = sharedOfRank(rank, copy.barrier);
    startBulk(context, std::move(one));
    copy.isCounted = false;
  }
}

bool performOneBulk(ExecContext &context, Block &block) {
  if (!block.bulk || block.bulk->pending.empty())
    return false;
  std::vector<PendingBulk> &pending = block.bulk->pending;
  size_t which = context.random() % pending.size();
  if (pending[which].endsInGroup() && !pending[which].isRead && context.random() % 2 == 0) {
    AsThread as(context, pending[which].thread);
    if (readSource(context, pending[which]))
      return true;
  }
  PendingBulk copy = std::move(pending[which]);
  pending.erase(pending.begin() + static_cast<ptrdiff_t>(which));
  perform(context, copy);
  return true;
}

void commitBulkGroup(ExecContext &context, const Inst &) {
  BulkCopies &copies = copiesOf(*context.block);
  forEachLane(context.mask, [&](unsigned lane) {
    BulkCopies::Thread &thread = copies.threads[context.warp->index * warpSize + lane];
    ++thread.committed;
    thread.groupClock.push_back(thread.clock);
  });
}

/// inst.offset: groups that may stay; inst.mode: only until the sources have been read.
void waitBulkGroup(ExecContext &context, const Inst &inst) {
  BulkCopies &copies = copiesOf(*context.block);
  forEachLane(context.mask, [&](unsigned lane) {
    uint32_t number = context.warp->index * warpSize + lane;
    BulkCopies::Thread &thread = copies.threads[number];
    uint64_t left = static_cast<uint64_t>(inst.offset);
    uint32_t before = thread.committed > left ? thread.committed - static_cast<uint32_t>(left) : 0;
    if (before == 0)
      return;
    for (size_t i = 0; i < copies.pending.size() && !context.stopped;) {
      PendingBulk &copy = copies.pending[i];
      if (copy.thread != number || !copy.endsInGroup() || copy.group >= before) {
        ++i;
      } else if (inst.mode) {
        AsThread as(context, number);
        readSource(context, copy);
        ++i;
      } else {
        PendingBulk due = std::move(copy);
        copies.pending.erase(copies.pending.begin() + static_cast<ptrdiff_t>(i));
        perform(context, due);
      }
    }
    if (BlockRaces *races = context.block->races.get()) {
      races->learn(number, races->bulkReaderOf(number), thread.groupClock[before - 1]);
      if (!inst.mode)
        races->learn(number, races->bulkWriterOf(number), thread.groupClock[before - 1]);
    }
  });
}

} // namespace tilewright::ptxsim
