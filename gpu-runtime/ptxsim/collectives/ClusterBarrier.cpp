// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// barrier.cluster: a thread arrives, and later waits until all threads of the cluster that have not exited have arrived.
// Arriving again before waiting, or waiting without having arrived, is misuse.

#include "collectives/BarrierState.h"
#include "machine/Warp.h"

namespace tilewright::ptxsim {
namespace {

/// Ends the phase when everybody has arrived; lanes that wait go on.
void complete(Cluster &cluster) {
  ++cluster.meetings;
  cluster.completed.join(cluster.arriving);
  cluster.arriving.clear();
  for (auto &block : cluster.blocks) {
    block->idleWakes = 0;
    std::vector<uint32_t> waiting;
    for (auto &warp : block->warps) {
      warp->clusterComplete |= warp->clusterArrived;
      warp->clusterArrived = 0;
      for (Fragment &fragment : warp->fragments) {
        if (fragment.mask == 0 || fragment.state != Fragment::AtBarrier || fragment.barrier != clusterBarrier ||
            fragment.memberMask != countedAtBarrier)
          continue;
        forEachLane(fragment.mask, [&](unsigned lane) { waiting.push_back(warp->index * warpSize + lane); });
        warp->clusterComplete &= ~fragment.mask;
        fragment.state = Fragment::Runnable;
        fragment.memberMask = 0;
        ++fragment.pc;
        warp->spins = 0;
      }
    }
    if (block->races && !waiting.empty())
      block->races->acquire(waiting, cluster.completed);
  }
}

bool isComplete(const Cluster &cluster) {
  bool any = false;
  for (const auto &block : cluster.blocks)
    for (const auto &warp : block->warps) {
      any |= warp->clusterArrived != 0;
      if ((warp->live & ~warp->clusterArrived) != 0)
        return false;
    }
  return any;
}

void arrive(ExecContext &context, Warp &warp, Fragment &fragment, const Inst &inst) {
  uint32_t again = fragment.mask & (warp.clusterArrived | warp.clusterComplete);
  if (again != 0)
    context.report(FindingKind::BarrierMisuse, inst, static_cast<unsigned>(__builtin_ctz(again)), 0,
                   "barrier.cluster.arrive by a thread that has not waited for its last arrival");
  warp.clusterArrived |= fragment.mask;
  if (BlockRaces *races = warp.block->races.get()) {
    std::vector<uint32_t> threads;
    forEachLane(fragment.mask, [&](unsigned lane) { threads.push_back(warp.index * warpSize + lane); });
    JoinedClock &clock = warp.block->cluster->arriving;
    if (inst.order == Order::Release)
      races->release(threads, clock);
    else
      for (uint32_t thread : threads)
        races->publishFence(thread, clock);
  }
  fragment.state = Fragment::Runnable;
  fragment.memberMask = 0;
  ++fragment.pc;
}

void wait(ExecContext &context, Warp &warp, Fragment &fragment, const Inst &inst) {
  uint32_t missing = fragment.mask & ~(warp.clusterArrived | warp.clusterComplete);
  if (missing != 0)
    context.report(FindingKind::BarrierMisuse, inst, static_cast<unsigned>(__builtin_ctz(missing)), 0,
                   "barrier.cluster.wait by a thread that has not arrived");
  if ((fragment.mask & warp.clusterArrived) != 0) {
    fragment.state = Fragment::AtBarrier;
    fragment.memberMask = countedAtBarrier;
    return;
  }
  if (BlockRaces *races = warp.block->races.get()) {
    std::vector<uint32_t> threads;
    forEachLane(fragment.mask, [&](unsigned lane) { threads.push_back(warp.index * warpSize + lane); });
    races->acquire(threads, warp.block->cluster->completed);
  }
  warp.clusterComplete &= ~fragment.mask;
  fragment.state = Fragment::Runnable;
  fragment.memberMask = 0;
  ++fragment.pc;
}

} // namespace

void countAtClusterBarrier(ExecContext &context, Warp &warp, unsigned index) {
  Fragment &fragment = warp.fragments[index];
  const Inst &inst = context.grid->program->code[fragment.pc];
  if (static_cast<BarrierOp>(inst.op) == BarrierOp::ClusterArrive)
    arrive(context, warp, fragment, inst);
  else
    wait(context, warp, fragment, inst);
}

void completeClusterBarrier(Cluster &cluster) {
  if (isComplete(cluster))
    complete(cluster);
}

} // namespace tilewright::ptxsim
