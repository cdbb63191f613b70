// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order between the generic proxy and the asynchronous one, and accesses between the blocks of a cluster.
//
//   written generically             accessed asynchronously   needs fence.proxy.async
//   shared memory of the own block  read                      of the writer, after the write
//   the same, by cp.async           read                      anywhere on the way from the copy to the issue
//   any other                       read                      anywhere on the way from the write to the issue
//   any                             write                     anywhere on the way
//
// A cp.async writes through the generic proxy, and nobody fences in its name: whoever knows that it is complete may. That a
// fence is missing there is a warning, as kernels known to run right on GPUs have none.
//
// Where a fence of the writer is missing, and another thread has fenced on the way, that is a warning: the memory model
// asks for no more than a fence along the way, and kernels known to run right on GPUs rely on it (test/others).
//
// What an asynchronous copy wrote needs none: its completion is a fence. Reading generically before an asynchronous write
// needs none either.

#include "checks/Races.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

constexpr size_t maxProxyFences = 64;

} // namespace

bool ClusterShape::same(uint64_t a, uint64_t b) const {
  for (unsigned i = 0; i < 3; ++i) {
    if (a % grid[i] / cluster[i] != b % grid[i] / cluster[i])
      return false;
    a /= grid[i];
    b /= grid[i];
  }
  return true;
}

bool BlockRaces::proxyFenced(uint32_t writer, uint32_t clock, uint32_t agent, uint8_t memory) const {
  auto found = grid.proxyFences.find(writer / grid.threadsPerBlock);
  if (found == grid.proxyFences.end() || writer % grid.threadsPerBlock >= grid.realThreads)
    return false;
  const GridRaces::ProxyFences &fences = found->second[writer % grid.threadsPerBlock];
  for (const GridRaces::ProxyFence &fence : fences.last)
    if ((fence.memory & memory) && fence.clock >= clock && happensBefore(writer, fence.clock, agent))
      return true;
  return fences.forgotten;
}

/// By a thread of block `candidate` that knew of the write.
bool BlockRaces::fencedBy(uint64_t candidate, uint32_t thread, const GridRaces::ProxyFences &fences, uint32_t writer,
                          uint32_t clock, uint32_t agent, uint8_t memory) const {
  uint64_t writerBlock = writer / grid.threadsPerBlock;
  uint32_t writerThread = writer % grid.threadsPerBlock;
  auto knew = [&](const GridRaces::ProxyFence &fence) {
    if (writerBlock == candidate)
      return fence.known->own[writerThread] >= clock || (writerThread == agentOf(thread) && fence.agentClock >= clock);
    auto other = fence.known->others.find(writerBlock);
    return other != fence.known->others.end() && (*other->second)[writerThread] >= clock;
  };
  uint32_t fencing = static_cast<uint32_t>(candidate * grid.threadsPerBlock + thread);
  for (auto fence = fences.last.rbegin(); fence != fences.last.rend(); ++fence)
    if ((fence->memory & memory) && knew(*fence) && happensBefore(fencing, fence->clock, agent))
      return true;
  return fences.forgotten;
}

/// By the writer, or by a thread of its block or of the agent's that knew of the write.
bool BlockRaces::fencedOnTheWay(uint32_t writer, uint32_t clock, uint32_t agent, uint8_t memory) const {
  if (proxyFenced(writer, clock, agent, memory))
    return true;
  // Mostly it is the thread that issued the work.
  uint32_t issuer = threads[agent].issuer;
  if (auto own = grid.proxyFences.find(block);
      own != grid.proxyFences.end() && fencedBy(block, issuer, own->second[issuer], writer, clock, agent, memory))
    return true;
  for (uint64_t candidate : {block, uint64_t(writer / grid.threadsPerBlock)}) {
    auto found = grid.proxyFences.find(candidate);
    if (found == grid.proxyFences.end())
      continue;
    for (uint32_t thread = 0; thread < found->second.size(); ++thread)
      if (fencedBy(candidate, thread, found->second[thread], writer, clock, agent, memory))
        return true;
  }
  return false;
}

bool BlockRaces::lacksProxyFence(const RaceCell &cell, const Access &access, bool isOwnShared) const {
  // mbarriers are for both proxies; those that reduce are left alone too.
  uint32_t writer = cell.writeThread % grid.threadsPerBlock;
  if (access.kind == AccessKind::Atomic || cell.writeClock == 0 || isAsyncProxy(writer))
    return false;
  bool strict = isOwnShared && access.kind == AccessKind::Read && writer < grid.realThreads &&
                cell.writeThread / grid.threadsPerBlock == block;
  uint8_t memory = access.inShared ? fencesShared : fencesGlobal;
  return strict ? !proxyFenced(cell.writeThread, cell.writeClock, access.thread, memory)
                : !fencedOnTheWay(cell.writeThread, cell.writeClock, access.thread, memory);
}

void BlockRaces::proxyFence(uint32_t thread, uint8_t memory) {
  std::vector<GridRaces::ProxyFences> &ofBlock = grid.proxyFences[block];
  if (ofBlock.empty())
    ofBlock.resize(grid.realThreads);
  GridRaces::ProxyFences &fences = ofBlock[thread];
  if (fences.last.size() == maxProxyFences) {
    fences.last.erase(fences.last.begin());
    fences.forgotten = true;
  }
  Thread &state = threads[thread];
  fences.last.push_back({state.clock++, state.known, state.agent == agentOf(thread) ? state.agentClock : 0, memory});
}

void BlockRaces::noteOutstanding(uint32_t globalThread, uint32_t clock, uint32_t line) {
  Outstanding &use = outstanding[globalThread];
  if (clock >= use.clock)
    use = {globalThread, clock, line};
}

const BlockRaces::Outstanding *BlockRaces::unknownAtEnd() const {
  for (const auto &[thread, use] : outstanding) {
    bool known = false;
    for (uint32_t mine = 0; mine < grid.realThreads && !known; ++mine)
      known = happensBefore(thread, use.clock, mine);
    if (!known)
      return &use;
  }
  return nullptr;
}

} // namespace tilewright::ptxsim
