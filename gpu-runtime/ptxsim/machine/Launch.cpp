// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many blocks are resident, which of them run, and what is counted of a launch; Worker.cpp runs them.

#include "machine/Launch.h"
#include "machine/Blocks.h"
#include "machine/Progress.h"
#include "machine/Worker.h"

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <thread>

namespace tilewright::ptxsim {

static uint64_t blocksPerMultiprocessor(const MachineOptions &options, uint64_t threadsPerBlock, uint64_t sharedBytes) {
  uint64_t warps = (threadsPerBlock + warpSize - 1) / warpSize;
  uint64_t perMultiprocessor = std::min<uint64_t>(32, 64 / std::max<uint64_t>(warps, 1));
  uint64_t sharedPerMultiprocessor = (options.computeCapability >= 90 ? 228ull : 164ull) << 10;
  perMultiprocessor = std::min(perMultiprocessor, sharedPerMultiprocessor / (sharedBytes + 1024));
  return std::max<uint64_t>(perMultiprocessor, 1);
}

uint64_t residentBlocks(const MachineOptions &options, uint64_t threadsPerBlock, uint64_t sharedBytes) {
  return blocksPerMultiprocessor(options, threadsPerBlock, sharedBytes) * options.multiprocessors;
}

uint64_t residentClusters(const MachineOptions &options, uint64_t threadsPerBlock, uint64_t sharedBytes,
                          uint64_t size) {
  constexpr uint64_t group = 16;
  uint64_t each = blocksPerMultiprocessor(options, threadsPerBlock, sharedBytes);
  return options.multiprocessors / group * (each * group / size) + options.multiprocessors % group * each / size;
}

/// Linear numbers of the blocks of MachineOptions::blocks that the grid has, each once.
static std::vector<uint64_t> sampledBlocks(const MachineOptions &options, const Dim3 &grid) {
  std::vector<uint64_t> result;
  for (const auto &[x, y, z] : options.blocks) {
    uint64_t linear = x + uint64_t(grid.x) * (y + uint64_t(grid.y) * z);
    bool isInside = x < grid.x && y < grid.y && z < grid.z;
    if (isInside && std::find(result.begin(), result.end(), linear) == result.end())
      result.push_back(linear);
  }
  return result;
}

/// Numbers of the clusters that these blocks belong to, each once; clusters run whole.
static std::vector<uint64_t> clustersOf(const std::vector<uint64_t> &blocks, const LaunchRequest &request) {
  const Dim3 &grid = request.grid, &size = request.cluster;
  std::vector<uint64_t> result;
  for (uint64_t block : blocks) {
    uint64_t x = block % grid.x / size.x, y = block / grid.x % grid.y / size.y, z = block / grid.x / grid.y / size.z;
    uint64_t cluster = x + grid.x / size.x * (y + grid.y / size.y * z);
    if (std::find(result.begin(), result.end(), cluster) == result.end())
      result.push_back(cluster);
  }
  return result;
}

static void setUp(Grid &grid, const LaunchRequest &request, DeviceMemory &memory, const MachineOptions &options,
                  FindingLog &findings) {
  grid.program = request.program;
  grid.name = request.name;
  grid.gridDim = request.grid;
  grid.blockDim = request.block;
  grid.clusterDim = request.cluster;
  grid.explicitCluster = request.explicitCluster;
  grid.constantsOfRank = constantsOfRanks(*request.program, request.cluster.count());
  grid.dynamicShared = request.dynamicShared;
  grid.params = request.params;
  grid.params.resize(std::max<size_t>(grid.params.size(), request.program->paramBytes));
  grid.launchId = request.launchId;
  grid.owner = request.owner;
  grid.deadline = request.deadline;
  grid.cancelled = request.cancelled;
  grid.memory = &memory;
  grid.options = &options;
  grid.findings = &findings;
  grid.checks = options.checks;
}

/// Null where races are not looked for.
static std::unique_ptr<GridRaces> makeRaces(const LaunchRequest &request, const MachineOptions &options) {
  uint64_t threads = request.block.count();
  // Threads are numbered with 32 bits; grids beyond that are run without race checks.
  if (!options.checks || !options.raceChecks ||
      GridRaces::rows * request.grid.count() * (threads + 31) >= 0xffffffffull)
    return nullptr;
  auto ordered = request.launchOrdered ? request.launchOrdered : [](uint32_t) { return true; };
  ClusterShape clusters = {{request.grid.x, request.grid.y, request.grid.z},
                           {request.cluster.x, request.cluster.y, request.cluster.z}};
  auto races = std::make_unique<GridRaces>(static_cast<uint32_t>(request.launchId), static_cast<uint32_t>(threads),
                                           request.program->usesAgents, clusters, std::move(ordered));
  races->mayOverlap = request.mayOverlap;
  return races;
}

namespace {

/// What MachineOptions::countTraffic asks for; empty without it.
struct Counters {
  std::unique_ptr<SharedTraffic> shared;
  std::unique_ptr<GlobalTraffic> global;
  std::unique_ptr<IssueCounts> issue;

  Counters(const LaunchRequest &request, DeviceMemory &memory, const MachineOptions &options,
           std::vector<uint64_t> sampled) {
    if (!options.countTraffic)
      return;
    shared = std::make_unique<SharedTraffic>(*request.program);
    sampled.resize(std::min<size_t>(sampled.size(), 64));
    global = std::make_unique<GlobalTraffic>(*request.program, memory, options.cacheBytes, sampled);
    uint64_t warps = (request.block.count() + warpSize - 1) / warpSize;
    issue = std::make_unique<IssueCounts>(*request.program, static_cast<unsigned>(warps));
  }

  void attachTo(Grid &grid) const {
    grid.issue = issue.get();
    grid.traffic = shared.get();
    grid.globalTraffic = global.get();
  }

  void addTo(LaunchResult &result) const {
    if (!shared)
      return;
    result.traffic = shared->rows();
    result.globalTraffic = global->rows();
    result.footprints = global->footprints();
    result.stages = global->stages();
    result.issue = issue->rows();
  }
};

} // namespace

/// Runs the queue on this thread and `workers - 1` others.
static void runOnThreads(Grid &grid, ClusterQueue &queue, unsigned workers, uint64_t resident) {
  auto work = [&](unsigned index) {
    runClusters(grid, queue, resident / workers, grid.options->seed * 1000003 + grid.launchId + index);
  };
  std::vector<std::thread> others;
  others.reserve(workers);
  try {
    for (unsigned i = 1; i < workers; ++i)
      others.emplace_back(work, i);
  } catch (const std::system_error &error) {
    // Those that there are take all clusters.
    std::fprintf(stderr, "ptxsim: %zu of %u threads run the blocks: %s\n", others.size() + 1, workers, error.what());
  }
  work(0);
  for (std::thread &thread : others)
    thread.join();
}

LaunchResult runGrid(const LaunchRequest &request, DeviceMemory &memory, const MachineOptions &options,
                     FindingLog &findings) {
  Grid grid;
  setUp(grid, request, memory, options, findings);
  uint64_t blockCount = request.grid.count(), threads = request.block.count();
  LaunchResult result;
  if (blockCount == 0 || threads == 0)
    return result;
  std::unique_ptr<GridRaces> races = makeRaces(request, options);
  grid.races = races.get();
  uint64_t sharedBytes = request.program->dynamicSharedOffset + request.dynamicShared;
  uint64_t clusterSize = request.cluster.count();
  uint64_t resident = clusterSize == 1 ? residentBlocks(options, threads, sharedBytes)
                                       : residentClusters(options, threads, sharedBytes, clusterSize);
  std::vector<uint64_t> sampled = sampledBlocks(options, request.grid), clusters = clustersOf(sampled, request);
  bool isSampled = !options.blocks.empty();
  if (isSampled && clusters.empty())
    std::fprintf(stderr, "ptxsim: %s: nothing runs, no block of PTXSIM_BLOCKS is in its grid of %u x %u x %u\n",
                 request.name.c_str(), request.grid.x, request.grid.y, request.grid.z);
  ClusterQueue queue;
  queue.count = isSampled ? clusters.size() : blockCount / clusterSize;
  queue.sampled = isSampled ? &clusters : nullptr;
  if (queue.count == 0)
    return result;
  resident = std::min(queue.count, std::max<uint64_t>(resident, 1));
  unsigned workers = options.workers != 0 ? options.workers : std::max(1u, std::thread::hardware_concurrency());
  workers = options.checks ? 1 : static_cast<unsigned>(std::min<uint64_t>(workers, resident));
  Counters counters(request, memory, options, sampled);
  counters.attachTo(grid);
  Progress progress(request.name, blockCount, options.progressSeconds);
  grid.progress = &progress;
  runOnThreads(grid, queue, workers, resident);
  result.completed = !grid.aborted;
  result.reason = grid.reason;
  result.warpInstructions = grid.warpInstructions;
  result.threadInstructions = grid.instructions;
  counters.addTo(result);
  if (options.countTraffic)
    result.shape = {{request.grid.x, request.grid.y, request.grid.z},
                    {request.block.x, request.block.y, request.block.z},
                    sharedBytes, queue.count * clusterSize};
  return result;
}

} // namespace tilewright::ptxsim
