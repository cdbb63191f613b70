// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making blocks, choosing whose turn it is, and noticing that nobody can go on.

#include "machine/Worker.h"
#include "async/RegisterPool.h"
#include "collectives/Collectives.h"
#include "machine/Blocks.h"
#include "machine/Interpreter.h"
#include "machine/Progress.h"
#include "machine/Random.h"
#include "machine/Warp.h"
#include "matrix/Wgmma.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace tilewright::ptxsim {
namespace {

/// Takes turns among the blocks of the clusters that one host thread holds.
class Worker {
public:
  Worker(Grid &grid, ClusterQueue &queue, uint64_t resident, uint64_t seed)
      : grid(grid), queue(queue), resident(std::max<uint64_t>(resident, 1)), random(seed) {
    context.grid = &grid;
    context.checks = grid.checks;
    context.next = [](void *generator) { return static_cast<Random *>(generator)->next(); };
    context.generator = &random;
    context.allocationCache.assign(grid.program->code.size(), nullptr);
    // Clusters start in an order of their own: index * step + start, modulo the count.
    step = random.below(queue.count) | 1;
    while (std::gcd(step, queue.count) != 1)
      ++step;
    start = random.below(queue.count);
  }

  void run() {
    while (!grid.aborted && !context.stopped) {
      while (clusters.size() < resident) {
        uint64_t index = queue.next.fetch_add(1);
        if (index >= queue.count)
          break;
        uint64_t which = grid.checks ? (static_cast<unsigned __int128>(index) * step + start) % queue.count : index;
        if (queue.sampled)
          which = (*queue.sampled)[which];
        clusters.push_back(makeCluster(context, which));
        for (auto &block : clusters.back()->blocks)
          running.push_back(block.get());
      }
      if (running.empty())
        break;
      turn();
      grid.progress->tick();
      if (overLimit() || overDeadline())
        break;
    }
    grid.instructions += context.threadStepCount;
    grid.warpInstructions += context.stepCount;
  }

private:
  void turn() {
    size_t which = grid.checks ? random.below(running.size()) : rotation++ % running.size();
    Block &block = *running[which];
    context.block = &block;
    if (grid.checks && block.mbarriers && random.below(16) == 0)
      wakeSleepers(block);
    if (grid.checks && grid.program->usesAgents && random.below(4) == 0)
      finishSomeCopies(context, block);
    uint64_t before = context.stepCount;
    uint64_t slice = grid.checks ? 16 + random.below(512) : isPaced ? 32 * pace : 200000;
    while (context.stepCount - before < slice && !context.stopped && !grid.aborted)
      if (!stepBlock(block))
        break;
    if (block.liveThreads != 0)
      return;
    grid.progress->blockEnded();
    running.erase(running.begin() + static_cast<ptrdiff_t>(which));
    end(block);
  }

  /// All threads of the block have exited. Its memory stays for the others of the cluster.
  void end(Block &block) {
    finishAllCopies(context, block);
    while (performOneBulk(context, block)) {
    }
    if (grid.checks && !context.stopped)
      checkAtEnd(context, block);
    Cluster &cluster = *block.cluster;
    for (const auto &other : cluster.blocks)
      if (other->liveThreads != 0)
        return;
    clusters.erase(std::find_if(clusters.begin(), clusters.end(), [&](auto &held) { return held.get() == &cluster; }));
  }

  /// One fragment's quantum. False when the block has ended or cannot go on.
  bool stepBlock(Block &block) {
    if (block.bulk && random.below(8) == 0)
      performOneBulk(context, block);
    size_t count = block.warps.size();
    size_t first = grid.checks ? random.below(count) : warpRotation++ % count;
    for (size_t i = 0; i < count; ++i) {
      Warp &warp = *block.warps[(first + i) % count];
      if (warp.live == 0 || !warp.hasRunnable())
        continue;
      uint64_t quantum = grid.checks ? 1 + random.below(64) : isPaced ? pace : 4096;
      runFragment(context, warp, pickFragment(warp), quantum);
      if (!context.stopped && warp.live != 0 && !warp.hasRunnable() && !hasSleeper(warp))
        unstick(warp);
      return true;
    }
    if (block.liveThreads == 0 || context.stopped)
      return false;
    if (!wake(block) && std::all_of(block.cluster->blocks.begin(), block.cluster->blocks.end(),
                                    [](const auto &other) { return isStuck(*other); }))
      deadlock(*block.cluster);
    return false;
  }

  /// Nothing but another block can make this one go on; or it has ended.
  static bool isStuck(const Block &block) {
    if (block.bulk && !block.bulk->pending.empty())
      return false;
    for (const auto &warp : block.warps)
      if (warp->live != 0 && (warp->hasRunnable() || (hasSleeper(*warp) && block.idleWakes <= maxIdleWakes) ||
                              (warp->copies && !warp->copies->pending.empty())))
        return false;
    return true;
  }

  /// Nobody in the block can run. What is still on its way arrives; sleepers look again, but not for ever.
  bool wake(Block &block) {
    if (finishAllCopies(context, block) || performOneBulk(context, block))
      return true;
    if (++block.idleWakes > maxIdleWakes)
      return false;
    bool any = false;
    // Lanes that wait at joins may be what the sleepers of their own warp wait for.
    if (block.idleWakes % 16 == 0)
      for (auto &warp : block.warps)
        any |= hasSleeper(*warp) && releaseJoins(*warp);
    return wakeSleepers(block) || any;
  }

  /// What must not be left when a block has ended.
  static void checkAtEnd(ExecContext &context, Block &block) {
    checkTransactions(context, block);
    checkWgmmaAtEnd(context, block);
    checkRegisterPool(context, block);
    if (!block.races)
      return;
    if (const BlockRaces::Outstanding *access = block.races->unknownAtEnd())
      reportOutstanding(context, block, *access);
  }

  static void reportOutstanding(ExecContext &context, const Block &block, const BlockRaces::Outstanding &access) {
    const std::vector<Inst> &code = context.grid->program->code;
    auto inst = std::find_if(code.begin(), code.end(), [&](const Inst &one) { return one.line == access.line; });
    bool isOwn = access.globalThread / context.grid->races->threadsPerBlock == block.linear;
    context.report(isOwn ? FindingKind::UnfinishedCopy : FindingKind::ClusterMisuse,
                   inst != code.end() ? *inst : code.front(), noIndex, 0,
                   isOwn ? "the block ends and nothing has waited for this copy from or to its shared memory"
                         : "block " + std::to_string(block.rank) + " of a cluster ends while nothing orders this access "
                           "to its shared memory by another block before its end");
  }

  unsigned pickFragment(Warp &warp) {
    unsigned start = grid.checks ? static_cast<unsigned>(random.below(warpSize)) : fragmentRotation++;
    for (unsigned i = 0; i < warpSize; ++i) {
      unsigned slot = (start + i) % warpSize;
      if (warp.fragments[slot].mask != 0 && warp.fragments[slot].state == Fragment::Runnable)
        return slot;
    }
    return 0;
  }

  /// No fragment of the warp can run. Lanes at joins may be what the others wait for; lanes alone at an aligned barrier
  /// are an error.
  void unstick(Warp &warp) {
    for (unsigned i = 0; i < warpSize; ++i) {
      Fragment &fragment = warp.fragments[i];
      if (!waitsForOwnWarp(warp, fragment))
        continue;
      const Inst &inst = grid.program->code[fragment.pc];
      context.report(FindingKind::BarrierDivergence, inst, static_cast<unsigned>(__builtin_ctz(fragment.mask)), 0,
                     "only part of a warp executes this barrier; " + describe(warp));
      if (context.stopped)
        return;
      arriveUnaligned(context, warp, i);
    }
    if (!warp.hasRunnable())
      releaseJoins(warp);
  }

  void deadlock(const Cluster &cluster) {
    bool isAlone = cluster.blocks.size() == 1;
    std::string message = isAlone ? "no thread of the block can go on" : "no thread of the cluster can go on";
    // What polls in vain says most about the cause.
    const Inst *inst = &grid.program->code.front(), *polled = nullptr;
    for (const auto &block : cluster.blocks) {
      if (!isAlone)
        message += "\n    block " + std::to_string(block->rank) + (block->liveThreads == 0 ? ", ended" : "");
      for (const auto &warp : block->warps) {
        if (block->liveThreads != 0)
          message += "\n    " + describe(*warp);
        for (const Fragment &fragment : warp->fragments)
          if (fragment.mask != 0) {
            inst = &grid.program->code[fragment.place()];
            if (!polled && fragment.state == Fragment::Asleep)
              polled = inst;
          }
      }
    }
    context.warp = context.block->warps.front().get();
    context.report(FindingKind::Deadlock, polled ? *polled : *inst, noIndex, 0, message);
    context.stopped = true;
    grid.aborted = true;
  }

  bool overLimit() {
    uint64_t limit = grid.options->instructionLimit;
    if (limit == 0 || context.stepCount < limit)
      return false;
    giveUp("the launch did not end within " + std::to_string(limit) + " warp instructions");
    return true;
  }

  bool overDeadline() {
    if (grid.cancelled && *grid.cancelled) {
      giveUp("the launch was cancelled");
      return true;
    }
    using namespace std::chrono;
    if (grid.deadline == 0 || steady_clock::now().time_since_epoch() < nanoseconds(grid.deadline))
      return false;
    giveUp("the launch did not end before the deadline of the call that runs it");
    return true;
  }

  void giveUp(const std::string &why) {
    context.stopped = true;
    if (grid.aborted.exchange(true))
      return;
    grid.reason = FindingKind::Timeout;
    context.report(FindingKind::Timeout, grid.program->code.front(), noIndex, 0, why);
  }

  static constexpr uint32_t maxIdleWakes = 1000;
  /// Instructions of a turn where warps are to go side by side, as they do on a GPU: a cache sees what they share.
  static constexpr uint64_t pace = 16;
  Grid &grid;
  ClusterQueue &queue;
  uint64_t resident;
  Random random;
  const bool isPaced = grid.options->countTraffic && grid.options->cacheBytes != 0;
  ExecContext context;
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::vector<Block *> running;
  uint64_t step = 1, start = 0;
  size_t rotation = 0, warpRotation = 0;
  unsigned fragmentRotation = 0;
};

} // namespace

void runClusters(Grid &grid, ClusterQueue &queue, uint64_t resident, uint64_t seed) {
  Worker(grid, queue, resident, seed).run();
}

void ExecContext::reportWithOther(FindingKind kind, const Inst &inst, unsigned lane, uint64_t address,
                                  std::string message, uint32_t otherLine, bool isWarning) {
  Finding finding;
  finding.isWarning = isWarning;
  finding.kind = kind;
  finding.message = std::move(message);
  finding.kernel = grid->name;
  finding.line = inst.line;
  finding.instruction = inst.syntax ? inst.syntax->name() : "";
  auto file = grid->program->module->files.find(inst.source.file);
  if (inst.source.line != 0 && file != grid->program->module->files.end()) {
    finding.sourceFile = file->second;
    finding.sourceLine = inst.source.line;
  }
  const SourceLocation inlined = inst.syntax ? inst.syntax->inlined : SourceLocation();
  auto inlinedFile = grid->program->module->files.find(inlined.file);
  if (inlined.line != 0 && inlinedFile != grid->program->module->files.end()) {
    finding.inlinedFile = inlinedFile->second;
    finding.inlinedLine = inlined.line;
  }
  if (block && warp && lane != noIndex) {
    finding.hasThread = true;
    finding.block[0] = block->id.x;
    finding.block[1] = block->id.y;
    finding.block[2] = block->id.z;
    finding.warp = warp->index;
    finding.lane = lane;
  }
  finding.address = address;
  finding.otherLine = otherLine;
  grid->findings->add(std::move(finding));
  bool fatal = !isWarning && grid->options->failOnFinding;
  if (fatal && !grid->aborted.exchange(true))
    grid->reason = kind;
  stopped |= grid->aborted;
}

} // namespace tilewright::ptxsim
