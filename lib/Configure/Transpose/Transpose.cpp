// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Transpose.h.

#include "Transpose.h"
#include "Enumerate.h"

using namespace mlir;
using namespace tilewright;

bool Transpose::match(const KernelInfo &info, TargetAttr target) const {
  return info.strategy == getName() && transposedLoop(info);
}

std::vector<LoweringConfigAttr> Transpose::enumerate(const KernelInfo &info,
                                                     TargetAttr target) const {
  unsigned transposed = *transposedLoop(info);
  std::vector<LoweringConfigAttr> configs;
  int64_t lanes = target.getFact("subgroup", 32);
  int64_t width = accessWidth(info, target);
  SmallVector<unsigned> loops = loopsFromInnermost(info);
  for (int64_t warps : kWarps)
    for (int64_t side : {32, 64, 16}) {
      Schedule schedule(info);
      unsigned inner = loops.front();
      schedule.block[inner] = std::min(side, roundedExtent(info, inner));
      schedule.block[transposed] = std::min(side, roundedExtent(info, transposed));
      SmallVector<unsigned> pair{inner, transposed};
      spreadWarps(schedule, pair, warps, lanes, width);
      addUnique(configs, schedule.get(info));
    }
  return configs;
}
