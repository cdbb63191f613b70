// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Streaming.h.

#include "Streaming.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "Footprint.h"

using namespace mlir;
using namespace tilewright;

std::vector<LoweringConfigAttr>
Streaming::enumerate(const KernelInfo &info, TargetAttr target) const {
  std::optional<unsigned> transposed = transposedLoop(info);
  if (!transposed)
    return enumerateTiles(info, target, kWarps, {1, 2, 4});

  // Square tiles: rows of both sides are whole runs of memory, and the tile is
  // turned around in shared memory.
  std::vector<LoweringConfigAttr> configs;
  int64_t lanes = target.getFact("subgroup", 32);
  int64_t width = accessWidth(info, target);
  SmallVector<unsigned> loops = loopsFromInnermost(info);
  for (int64_t warps : kWarps)
    for (int64_t side : {32, 64, 16}) {
      Schedule schedule(info);
      unsigned inner = loops.front();
      schedule.block[inner] = std::min(side, roundedExtent(info, inner));
      schedule.block[*transposed] =
          std::min(side, roundedExtent(info, *transposed));
      SmallVector<unsigned> pair{inner, *transposed};
      spreadWarps(schedule, pair, warps, lanes, width);
      addUnique(configs, schedule.get(info));
    }
  return configs;
}

/// What is computed element by element takes the place of what it is computed from.
int64_t Streaming::liveBytes(const KernelInfo &info, LoweringConfigAttr config,
                             const TilePlan &plan) const {
  return std::max(inputBytes(info, config, plan), resultBytes(info, plan));
}

std::string Streaming::explain(const KernelInfo &info) const {
  return "has only parallel loops";
}
