// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making the blocks of a cluster: shared memory, warps with all lanes at the kernel's entry, special registers.

#include "machine/Blocks.h"
#include "machine/MemoryAccess.h"
#include "machine/Warp.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

void setSpecials(Warp &warp, const Grid &grid, const Block &block) {
  auto set = [&](Special special, auto value) {
    if (!grid.program->usedSpecials[static_cast<size_t>(special)])
      return;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      warp.special[static_cast<unsigned>(special) * warpSize + lane] = value(lane);
  };
  auto constant = [&](Special special, uint64_t value) { set(special, [&](unsigned) { return value; }); };
  const Dim3 &shape = grid.blockDim;
  auto thread = [&](unsigned lane) { return warp.index * warpSize + lane; };
  set(Special::TidX, [&](unsigned lane) { return thread(lane) % shape.x; });
  set(Special::TidY, [&](unsigned lane) { return thread(lane) / shape.x % shape.y; });
  set(Special::TidZ, [&](unsigned lane) { return thread(lane) / (shape.x * shape.y); });
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
  constant(Special::AggregateShared, block.shared.size());
  const Dim3 &cluster = grid.clusterDim;
  constant(Special::ClusterIdX, block.id.x / cluster.x);
  constant(Special::ClusterIdY, block.id.y / cluster.y);
  constant(Special::ClusterIdZ, block.id.z / cluster.z);
  constant(Special::NclusterIdX, grid.gridDim.x / cluster.x);
  constant(Special::NclusterIdY, grid.gridDim.y / cluster.y);
  constant(Special::NclusterIdZ, grid.gridDim.z / cluster.z);
  constant(Special::ClusterCtaidX, block.id.x % cluster.x);
  constant(Special::ClusterCtaidY, block.id.y % cluster.y);
  constant(Special::ClusterCtaidZ, block.id.z % cluster.z);
  constant(Special::ClusterNctaidX, cluster.x);
  constant(Special::ClusterNctaidY, cluster.y);
  constant(Special::ClusterNctaidZ, cluster.z);
  constant(Special::ClusterCtarank, block.rank);
  constant(Special::ClusterNctarank, cluster.count());
  constant(Special::IsExplicitCluster, grid.explicitCluster);
  std::fill_n(warp.special.begin() + static_cast<unsigned>(Special::Carry) * warpSize, warpSize, uint64_t(0));
}

/// The index'th of `counts` cells, x first.
Dim3 unflatten(uint64_t index, const Dim3 &counts) {
  return {static_cast<uint32_t>(index % counts.x), static_cast<uint32_t>(index / counts.x % counts.y),
          static_cast<uint32_t>(index / (uint64_t(counts.x) * counts.y))};
}

std::unique_ptr<Block> makeBlock(ExecContext &context, Cluster &cluster, const Dim3 &id, uint32_t rank) {
  Grid &grid = *context.grid;
  auto block = std::make_unique<Block>();
  uint64_t linear = id.x + uint64_t(grid.gridDim.x) * (id.y + uint64_t(grid.gridDim.y) * id.z);
  block->grid = &grid;
  block->cluster = &cluster;
  block->rank = rank;
  block->constants = rank == 0 || grid.constantsOfRank.empty() ? &grid.program->constants : &grid.constantsOfRank[rank - 1];
  block->linear = linear;
  block->id = id;
  block->smId = static_cast<uint32_t>(linear % grid.options->multiprocessors);
  uint64_t sharedBytes = uint64_t(grid.program->dynamicSharedOffset) + grid.dynamicShared;
  block->shared.assign(sharedBytes, 0);
  block->sharedBegin = grid.program->sharedBegin;
  block->sharedAddress = beginOfShared(rank) + block->sharedBegin;
  block->sharedBytes = static_cast<uint32_t>(sharedBytes - block->sharedBegin);
  if (grid.checks)
    block->definedShared.assign(sharedBytes, 0);
  if (grid.races)
    block->races = std::make_unique<BlockRaces>(*grid.races, linear);
  uint32_t threads = static_cast<uint32_t>(grid.blockDim.count());
  block->liveThreads = threads;
  for (uint32_t first = 0; first < threads; first += warpSize) {
    // Not make_unique, which would clear the rows of special registers that nobody reads.
    std::unique_ptr<Warp> warp(new Warp);
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

} // namespace

std::vector<std::vector<uint64_t>> constantsOfRanks(const Program &program, uint64_t clusterSize) {
  std::vector<std::vector<uint64_t>> result;
  for (uint32_t rank = 1; rank < clusterSize && !program.sharedRows.empty(); ++rank) {
    std::vector<uint64_t> &constants = result.emplace_back(program.constants);
    for (Row row : program.sharedRows) {
      uint64_t *lanes = constants.data() + uint64_t(row & rowIndexMask) * warpSize;
      std::fill_n(lanes, warpSize, (*lanes + beginOfShared(rank)) & 0xffffffff);
    }
  }
  return result;
}

std::unique_ptr<Cluster> makeCluster(ExecContext &context, uint64_t index) {
  const Grid &grid = *context.grid;
  const Dim3 &size = grid.clusterDim;
  auto cluster = std::make_unique<Cluster>();
  Dim3 at = unflatten(index, {grid.gridDim.x / size.x, grid.gridDim.y / size.y, grid.gridDim.z / size.z});
  for (uint32_t rank = 0; rank < size.count(); ++rank) {
    Dim3 within = unflatten(rank, size);
    Dim3 id = {at.x * size.x + within.x, at.y * size.y + within.y, at.z * size.z + within.z};
    cluster->blocks.push_back(makeBlock(context, *cluster, id, rank));
  }
  return cluster;
}

} // namespace tilewright::ptxsim
