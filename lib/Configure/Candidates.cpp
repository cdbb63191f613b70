// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumerates schedules and ranks them.

#include "tilewright/Configure/Configure.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

static std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info, TargetAttr target) {
  MLIRContext *ctx = target.getContext();
  unsigned loops = info.getRoot().getNumLoops();
  SmallVector<int64_t> block(loops, 1), warps(loops, 1), thread(loops, 1);
  if (info.strategy == Strategy::SimtContraction) {
    auto c = *matchContraction(info.getRoot());
    block[c.m.back()] = 64; block[c.n.back()] = 64; block[c.k.back()] = 16;
    warps[c.m.back()] = 2; warps[c.n.back()] = 2;
    thread[c.m.back()] = 8; thread[c.n.back()] = 8;
    return {LoweringConfigAttr::get(ctx, info.strategy, block, warps, thread, 2, {0, 1}, {})};
  }
  if (loops) { block[loops-1] = 128; thread[loops-1] = 4; }
  if (loops > 1) { block[loops-2] = 8; warps[loops-2] = 4; }
  return {LoweringConfigAttr::get(ctx, info.strategy, block, warps, thread, 1, {}, {})};
}

std::vector<Candidate> tilewright::listConfigs(const KernelInfo &info, TargetAttr target) {
  std::vector<Candidate> candidates;
  for (LoweringConfigAttr config : enumerate(info, target)) {
    Candidate c; c.config = config;
    (void)fits(info, config, target, c.refused);
    candidates.push_back(c);
  }
  return candidates;
}
