// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions on matrix units. A warp's part of the block tile is a grid of
// instruction tiles; a tile may hang over the edge of a small problem, where
// operands are filled with zeros and results are not written:
//
//   block = [128, 128, 32], warps = [2, 2, 1], mma = "mma.m16n8k16.f16.f32"

#include "MatrixUnit.h"
#include "CostModel.h"
#include "Enumerate.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

unsigned tilewright::longestLoop(const KernelInfo &info, ArrayRef<unsigned> loops) {
  unsigned longest = loops.front();
  for (unsigned loop : loops)
    if (nominalExtent(info, loop) >= nominalExtent(info, longest))
      longest = loop; // the innermost of equals
  return longest;
}

int64_t tilewright::rasterOf(const KernelInfo &info, unsigned m, unsigned n,
                        int64_t blockM, int64_t blockN) {
  return nominalExtent(info, m) >= 4 * blockM &&
                 nominalExtent(info, n) >= 4 * blockN
             ? 8
             : 1;
}

/// Stages of shared memory that are worth trying, best first: as many as there
/// are steps at most.
static SmallVector<int64_t> stagesOf(TargetAttr target, int64_t steps,
                                     bool waits) {
  if (!target.has("async_copy"))
    return {2, 1};
  if (waits)
    return {2};
  SmallVector<int64_t> stages;
  for (int64_t count : {4, 3, 5, 2})
    if (count == 2 || count <= steps)
      stages.push_back(count);
  return stages;
}

/// Whether a larger instruction of the same types does all that `instruction`
/// does, as fast: one of as many rows, or more where there are as many; likewise
/// along the sum, where less than two of its steps may be largely zeros.
static bool isCovered(const KernelInfo &info,
                      const MatrixInstruction &instruction,
                      ArrayRef<MatrixInstruction> larger, unsigned m,
                      unsigned k) {
  return llvm::any_of(larger, [&](const MatrixInstruction &other) {
    return (other.m == instruction.m ||
            (other.m > instruction.m && nominalExtent(info, m) >= other.m)) &&
           (other.k == instruction.k ||
            (other.k > instruction.k && nominalExtent(info, k) >= 2 * other.k));
  });
}

std::vector<LoweringConfigAttr>
MatrixUnit::enumerate(const KernelInfo &info, TargetAttr target) const {
  std::vector<LoweringConfigAttr> configs;
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  if (!names || !info.getContraction(info.getRoot()))
    return configs;
  MLIRContext *context = info.getRoot()->getContext();
  SmallVector<MatrixInstruction> tried;
  for (auto name : names.getAsRange<StringAttr>()) {
    const Contraction &contraction = *info.getContraction(info.getRoot());
    auto instruction = matchInstruction(info.getRoot(), name, &contraction);
    if (!instruction)
      continue;
    unsigned m = longestLoop(info, contraction.m), n = longestLoop(info, contraction.n),
             k = contiguousSum(info.getRoot(), contraction)
                     .value_or(longestLoop(info, contraction.k));
    if (isCovered(info, *instruction, tried, m, k))
      continue;
    tried.push_back(*instruction);
    // Registers between two stages wait for one step, whatever the stages.
    bool waits = isRegisterStaged(info, target);
    auto most = [&](unsigned loop, int64_t least) {
      return std::max<int64_t>(
          least, llvm::PowerOf2Ceil(nominalExtent(info, loop)));
    };
    bool chained = info.isChained();
    auto hasAll = [&](unsigned loop, int64_t block) {
      const LoopClass &loopClass =
          info.classes[info.getClasses(info.getRoot())[loop]];
      return (loopClass.parallel && !(chained && loop == n)) ||
             block >= loopClass.extent;
    };
    int64_t maxM = most(m, instruction->m), maxN = most(n, instruction->n),
            maxK = most(k, instruction->k);
    // Steps of other sums (the taps of a convolution) are steps of the same loop.
    int64_t others = 1;
    for (unsigned loop : contraction.k)
      if (loop != k)
        others *= nominalExtent(info, loop);
    SmallVector<int64_t> promote{contraction.a, contraction.b};
    llvm::sort(promote);
    static constexpr int64_t grids[][2] = {{2, 2}, {2, 4}, {4, 2}, {1, 4},
                                           {4, 1}, {1, 2}, {2, 1}, {1, 1}};
    for (int64_t blockM : {128, 64, 256, 32, 16})
      for (int64_t blockN : {128, 64, 256, 32, 16, 8})
        for (int64_t blockK : {32, 64, 128, 16, 8})
          for (auto [warpsM, warpsN] : grids) {
            // A tile that is reduced on chip has all of that loop; so has the
            // product of a product of its columns.
            if (!hasAll(m, blockM) || !hasAll(n, blockN))
              continue;
            if (blockM > maxM || blockN > maxN || blockK > maxK ||
                blockM % (instruction->m * warpsM) ||
                blockN % (instruction->n * warpsN) ||
                blockK % instruction->k ||
                (info.split && info.isSplit(k) && info.split->unit % blockK))
              continue;
            SmallVector<int64_t> block(info.getNumConfigLoops(), 1);
            SmallVector<int64_t> warps(block);
            block[m] = blockM, block[n] = blockN, block[k] = blockK;
            warps[m] = warpsM, warps[n] = warpsN;
            int64_t raster = rasterOf(info, m, n, blockM, blockN);
            int64_t steps = others * llvm::divideCeil(
                nominalExtent(info, k) / info.getSplits(), blockK);
            for (int64_t stages : stagesOf(target, steps, waits))
              configs.push_back(LoweringConfigAttr::get(
                  context, Strategy::MatrixUnit, block, warps, {}, stages,
                  promote, name, info.getSplits(), raster));
          }
  }
  return configs;
}

Refusal MatrixUnit::checkInstruction(StringAttr name, TargetAttr target) const {
  auto known = MatrixInstruction::parse(target.getContext(), name);
  if (known && known->warpgroup)
    return refuse(Refused::OtherStrategy,
                  "'" + name.getValue() + "' is for strategy warp_specialized");
  return whyNotListed(name, {"mma", "mma_emulated"}, "matrix instruction", target);
}

Refusal MatrixUnit::checkTiles(const KernelInfo &info, LoweringConfigAttr config,
                               const MatrixInstruction &instruction, const MatrixLoops &loops,
                               TargetAttr target) const {
  for (auto [loop, size] :
       {std::pair<unsigned, int64_t>{loops.m, instruction.m},
        {loops.n, instruction.n},
        {loops.k, instruction.k}}) {
    int64_t warps = entry(config.getWarps(), loop, 1);
    int64_t block = entry(config.getBlock(), loop, 0);
    if (block <= 0 || warps <= 0 || block % (size * warps))
      return refuse(Refused::Indivisible, "'block' entry " + Twine(block) + " of " +
                                              describeLoop(info, loop) +
                                              " is no multiple of the instruction's " +
                                              Twine(size) + " times " + Twine(warps) + " warps");
    if (loop == loops.k && warps != 1)
      return refuse(Refused::Config, "warps along the reduction loop");
  }
  return {};
}
