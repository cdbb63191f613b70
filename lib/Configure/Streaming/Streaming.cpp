// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Streaming.h.

#include "Streaming.h"
#include "Enumerate.h"
#include "Footprint.h"
#include "LiveValues.h"

using namespace mlir;
using namespace tilewright;

bool Streaming::match(const KernelInfo &info, TargetAttr target) const {
  return ScheduleStrategy::match(info, target) && !transposedLoop(info);
}

SmallVector<SmallVector<int64_t>> Streaming::warpSpellings(const KernelInfo &info,
                                                         LoweringConfigAttr config,
                                                         TargetAttr target) const {
  if (std::optional<unsigned> transposed = transposedLoop(info))
    return {spreadPinned(info, config, target, {loopsFromInnermost(info).front(), *transposed},
                         accessWidth(info, target))};
  return tileWarps(info, config, target);
}

std::vector<LoweringConfigAttr> Streaming::enumerate(const KernelInfo &info,
                                                     TargetAttr target) const {
  return enumerateTiles(info, target, kWarps, {1, 2, 4});
}

/// What is computed element by element takes the place of what it is computed from.
int64_t Streaming::liveBytes(const KernelInfo &info, LoweringConfigAttr config,
                             const TilePlan &plan) const {
  return std::max(inputBytes(info, config, plan) + loneElementBytes(info, plan),
                  resultBytes(info, plan));
}

int64_t Streaming::registers(const KernelInfo &info, LoweringConfigAttr config,
                             const TilePlan &plan, TargetAttr target) const {
  if (target.getBackend() != "nvvm")
    return ScheduleStrategy::registers(info, config, plan, target);
  return transposedLoop(info) ? countTransposeRegisters(info, plan, target)
                              : countLiveRegisters(info, plan, target);
}

std::string Streaming::explain(const KernelInfo &info) const {
  return "has only parallel loops";
}
