// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making blocks, choosing whose turn it is, and noticing that nobody can go on.

#include "machine/Launch.h"
#include "collectives/Collectives.h"
#include "machine/Interpreter.h"
#include "machine/Warp.h"
#include "matrix/Wgmma.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

namespace tilewright::ptxsim {
namespace {

/// splitmix64: small, and the same everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

void setSpecials(Warp &warp, const Grid &grid, const Block &block) {
  auto set = [&](Special special, auto value) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      warp.special[static_cast<unsigned>(special) * warpSize + lane] = value(lane);
  };
  auto constant = [&](Special special, uint64_t value) { set(special, [&](unsigned) { return value; }); };
  const Dim3 &shape = grid.blockDim;
  auto thread = [&](unsigned lane) { return uint64_t(warp.index) * warpSize + lane; };
  set(Special::TidX, [&](unsigned lane) { return thread(lane) % shape.x; });
  set(Special::TidY, [&](unsigned lane) { return thread(lane) / shape.x % shape.y; });
  set(Special::TidZ, [&](unsigned lane) { return thread(lane) / (uint64_t(shape.x) * shape.y); });
  constant(Special::NtidX, shape.x);
  constant(Special::NtidY, shape.y);
  constant(Special::NtidZ, shape.z);
  constant(Special::CtaidX, block.id.x);
  constant(Special::CtaidY, block.id.y);
  constant(Special::CtaidZ, block.id.z);
  constant(Special::NctaidX, grid.gridDim.x);
  constant(Special::NctaidY, grid.gridDim.y);
  constant(Special::NctaidZ, grid.gridDim.z);
  set(Special::LaneId, [](unsigned lane) { return uint64_t(lane); });
  constant(Special::WarpId, warp.index);
  constant(Special::NumWarps, (shape.count() + warpSize - 1) / warpSize);
  set(Special::LaneMaskEq, [](unsigned lane) { return uint64_t(1) << lane; });
  set(Special::LaneMaskLe, [](unsigned lane) { return (uint64_t(2) << lane) - 1; });
  set(Special::LaneMaskLt, [](unsigned lane) { return (uint64_t(1) << lane) - 1; });
  set(Special::LaneMaskGe, [](unsigned lane) { return ~((uint64_t(1) << lane) - 1) & 0xffffffff; });
  set(Special::LaneMaskGt, [](unsigned lane) { return ~((uint64_t(2) << lane) - 1) & 0xffffffff; });
  constant(Special::SmId, block.smId);
  constant(Special::NumSm, grid.options->multiprocessors);
  constant(Special::GridId, grid.launchId);
  constant(Special::TotalShared, block.shared.size());
  constant(Special::DynamicShared, grid.dynamicShared);
  constant(Special::WarpSize, warpSize);
  constant(Special::ClusterIdX, block.id.x);
  constant(Special::ClusterIdY, block.id.y);
  constant(Special::ClusterIdZ, block.id.z);
  constant(Special::NclusterIdX, grid.gridDim.x);
  constant(Special::NclusterIdY, grid.gridDim.y);
  constant(Special::NclusterIdZ, grid.gridDim.z);
  for (Special one : {Special::ClusterNctaidX, Special::ClusterNctaidY, Special::ClusterNctaidZ,
                      Special::ClusterNctarank})
    constant(one, 1);
  // The rest (place in the cluster, carry flag) begins as zero.
}

std::unique_ptr<Block> makeBlock(ExecContext &context, uint64_t linear) {
  Grid &grid = *context.grid;
  auto block = std::make_unique<Block>();
  block->grid = &grid;
  block->linear = linear;
  block->id = {static_cast<uint32_t>(linear % grid.gridDim.x),
               static_cast<uint32_t>(linear / grid.gridDim.x % grid.gridDim.y),
               static_cast<uint32_t>(linear / (uint64_t(grid.gridDim.x) * grid.gridDim.y))};
  block->smId = static_cast<uint32_t>(linear % grid.options->multiprocessors);
  uint64_t sharedBytes = uint64_t(grid.program->dynamicSharedOffset) + grid.dynamicShared;
  block->shared.assign(sharedBytes, 0);
  if (grid.checks)
    block->definedShared.assign(sharedBytes, 0);
  if (grid.races)
    block->races = std::make_unique<BlockRaces>(*grid.races, linear);
  uint32_t threads = static_cast<uint32_t>(grid.blockDim.count());
  block->liveThreads = threads;
  for (uint32_t first = 0; first < threads; first += warpSize) {
    auto warp = std::make_unique<Warp>();
    warp->block = block.get();
    warp->index = first / warpSize;
    warp->live = static_cast<uint32_t>(lowBits(std::min(threads - first, warpSize)));
    warp->kernelFrame = std::make_unique<Frame>();
    setUpFrame(context, *warp, *warp->kernelFrame, grid.program->functions.front(), 0, warp->live);
    setSpecials(*warp, grid, *block);
    Fragment &fragment = warp->fragments[0];
    fragment.mask = warp->live;
    fragment.pc = grid.program->functions.front().entry;
    fragment.frame = warp->kernelFrame.get();
    block->warps.push_back(std::move(warp));
  }
  return block;
}

/// Takes turns among the blocks that one host thread holds.
class Worker {
public:
  Worker(Grid &grid, std::atomic<uint64_t> &nextBlock, uint64_t blockCount, uint64_t resident, uint64_t seed)
      : grid(grid), nextBlock(nextBlock), blockCount(blockCount), resident(std::max<uint64_t>(resident, 1)),
        random(seed) {
    context.grid = &grid;
    context.checks = grid.checks;
    context.next = [](void *generator) { return static_cast<Random *>(generator)->next(); };
    context.generator = &random;
    context.allocationCache.assign(grid.program->code.size(), nullptr);
    // Blocks start in an order of their own: index * step + start, modulo the count.
    step = random.below(blockCount) | 1;
    while (std::gcd(step, blockCount) != 1)
      ++step;
    start = random.below(blockCount);
  }

  void run() {
    while (!grid.aborted && !context.stopped) {
      while (blocks.size() < resident) {
        uint64_t index = nextBlock.fetch_add(1);
        if (index >= blockCount)
          break;
        uint64_t linear = grid.checks ? (static_cast<unsigned __int128>(index) * step + start) % blockCount : index;
        blocks.push_back(makeBlock(context, linear));
      }
      if (blocks.empty())
        break;
      turn();
      if (overLimit())
        break;
    }
    grid.instructions += context.threadStepCount;
    grid.warpInstructions += context.stepCount;
  }

private:
  void turn() {
    size_t which = grid.checks ? random.below(blocks.size()) : rotation++ % blocks.size();
    Block &block = *blocks[which];
    context.block = &block;
    if (grid.checks && block.mbarriers && random.below(16) == 0)
      wakeSleepers(block);
    if (grid.checks && grid.program->usesAgents && random.below(4) == 0)
      finishSomeCopies(context, block);
    uint64_t before = context.stepCount;
    uint64_t slice = grid.checks ? 16 + random.below(512) : 200000;
    while (context.stepCount - before < slice && !context.stopped && !grid.aborted)
      if (!stepBlock(block))
        break;
    if (block.liveThreads == 0 && grid.checks)
      checkAtEnd(context, block);
    if (block.liveThreads == 0)
      blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(which));
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
      uint64_t quantum = grid.checks ? 1 + random.below(64) : 4096;
      runFragment(context, warp, pickFragment(warp), quantum);
      if (!context.stopped && warp.live != 0 && !warp.hasRunnable() && !hasSleeper(warp))
        unstick(warp);
      return true;
    }
    if (block.liveThreads != 0 && !context.stopped && !wake(block))
      deadlock(block);
    return false;
  }

  /// Nobody in the block can run. What is still on its way arrives; sleepers look again, but not for ever.
  bool wake(Block &block) {
    constexpr uint32_t maxIdleWakes = 1000;
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

  void deadlock(Block &block) {
    std::string message = "no thread of the block can go on";
    const Inst *inst = &grid.program->code.front();
    for (auto &warp : block.warps) {
      message += "\n    " + describe(*warp);
      for (const Fragment &fragment : warp->fragments)
        if (fragment.mask != 0)
          inst = &grid.program->code[fragment.pc];
    }
    context.warp = block.warps.front().get();
    context.report(FindingKind::Deadlock, *inst, noIndex, 0, message);
    context.stopped = true;
    grid.aborted = true;
  }

  bool overLimit() {
    uint64_t limit = grid.options->instructionLimit;
    if (limit == 0 || context.stepCount < limit)
      return false;
    context.report(FindingKind::Timeout, grid.program->code.front(), noIndex, 0,
                   "the launch did not end within " + std::to_string(limit) + " warp instructions");
    context.stopped = true;
    grid.aborted = true;
    return true;
  }

  Grid &grid;
  std::atomic<uint64_t> &nextBlock;
  uint64_t blockCount;
  uint64_t resident;
  Random random;
  ExecContext context;
  std::vector<std::unique_ptr<Block>> blocks;
  uint64_t step = 1, start = 0;
  size_t rotation = 0, warpRotation = 0;
  unsigned fragmentRotation = 0;
};

} // namespace

void ExecContext::reportWithOther(FindingKind kind, const Inst &inst, unsigned lane, uint64_t address,
                                  std::string message, uint32_t otherLine) {
  Finding finding;
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
  bool fatal = grid->options->failOnFinding || !checks;
  if (fatal && !grid->aborted.exchange(true))
    grid->reason = kind;
  stopped |= grid->aborted;
}

uint64_t residentBlocks(const MachineOptions &options, uint64_t threadsPerBlock, uint64_t sharedBytes) {
  uint64_t warps = (threadsPerBlock + warpSize - 1) / warpSize;
  uint64_t perMultiprocessor = std::min<uint64_t>(32, 64 / std::max<uint64_t>(warps, 1));
  uint64_t sharedPerMultiprocessor = (options.computeCapability >= 90 ? 228ull : 164ull) << 10;
  perMultiprocessor = std::min(perMultiprocessor, sharedPerMultiprocessor / (sharedBytes + 1024));
  return std::max<uint64_t>(perMultiprocessor, 1) * options.multiprocessors;
}

LaunchResult runGrid(const LaunchRequest &request, DeviceMemory &memory, const MachineOptions &options,
                     FindingLog &findings) {
  Grid grid;
  grid.program = request.program;
  grid.name = request.name;
  grid.gridDim = request.grid;
  grid.blockDim = request.block;
  grid.dynamicShared = request.dynamicShared;
  grid.params = request.params;
  grid.params.resize(std::max<size_t>(grid.params.size(), request.program->paramBytes));
  grid.launchId = request.launchId;
  grid.owner = request.owner;
  grid.memory = &memory;
  grid.options = &options;
  grid.findings = &findings;
  grid.checks = options.checks;
  uint64_t blockCount = request.grid.count();
  uint64_t threads = request.block.count();
  LaunchResult result;
  if (blockCount == 0 || threads == 0)
    return result;
  std::unique_ptr<GridRaces> races;
  // Threads are numbered with 32 bits; grids beyond that are run without race checks.
  if (options.checks && options.raceChecks && 4 * blockCount * (threads + 31) < 0xffffffffull) {
    auto ordered = request.launchOrdered ? request.launchOrdered : [](uint32_t) { return true; };
    races = std::make_unique<GridRaces>(static_cast<uint32_t>(request.launchId), static_cast<uint32_t>(threads),
                                        request.program->usesAgents, std::move(ordered));
    grid.races = races.get();
  }
  uint64_t resident = std::min(blockCount, residentBlocks(options, threads, request.program->dynamicSharedOffset +
                                                                                request.dynamicShared));
  unsigned workers = options.workers != 0 ? options.workers : std::max(1u, std::thread::hardware_concurrency());
  workers = options.checks ? 1 : static_cast<unsigned>(std::min<uint64_t>(workers, resident));
  std::atomic<uint64_t> nextBlock{0};
  auto work = [&](unsigned index) {
    Worker(grid, nextBlock, blockCount, resident / workers, options.seed * 1000003 + request.launchId + index).run();
  };
  std::vector<std::thread> threadsRunning;
  for (unsigned i = 1; i < workers; ++i)
    threadsRunning.emplace_back(work, i);
  work(0);
  for (std::thread &thread : threadsRunning)
    thread.join();
  result.completed = !grid.aborted;
  result.reason = grid.reason;
  result.warpInstructions = grid.warpInstructions;
  result.threadInstructions = grid.instructions;
  return result;
}

} // namespace tilewright::ptxsim
