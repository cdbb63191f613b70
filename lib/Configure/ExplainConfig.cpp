// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What --explain says of a kernel's config; see ExplainConfig.h.

#include "ExplainConfig.h"
#include "Strategy.h"
#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Configure/Splits.h"
#include "tilewright/Configure/Streams.h"
#include "tilewright/Dialect/Attention.h"
#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Nibbles.h"
#include "tilewright/Dialect/Padding.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;
using namespace tilewright;

std::string tilewright::toString(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

void tilewright::explainEarlierStages(func::FuncOp kernel,
                                      SmallVectorImpl<std::string> &explain) {
  if (auto said = kernel->getAttrOfType<ArrayAttr>(kExplainAttr))
    for (auto line : said.getAsRange<StringAttr>())
      explain.push_back(line.str());
}

void tilewright::setExplanation(func::FuncOp kernel, ArrayRef<std::string> explain) {
  SmallVector<StringRef> lines(explain.begin(), explain.end());
  kernel->setAttr(kExplainAttr, Builder(kernel.getContext()).getStrArrayAttr(lines));
}

void tilewright::explainKernel(const KernelInfo &info,
                               SmallVectorImpl<std::string> &explain) {
  func::FuncOp kernel = info.kernel;
  explainEarlierStages(kernel, explain);
  for (BlockArgument argument : kernel.getArguments())
    if (getPadding(argument))
      explain.push_back("argument " + std::to_string(argument.getArgNumber()) +
                        " is padded where it is read, not in memory");
  auto ofOps = [&](StringRef attribute, StringRef what) {
    for (linalg::LinalgOp op : info.ops)
      if (auto reason = op->getAttrOfType<StringAttr>(attribute))
        explain.push_back((what + reason.getValue()).str());
  };
  ofOps(kCopiesAttr, "a copy that the compiler added: ");
  ofOps(kUnpackedAttr, "i4 is multiplied as bytes: ");
  ofOps(kDecomposedAttr,
        "the last of several kernels of attention, with the scores in memory: ");
}

void tilewright::explainRefusals(ArrayRef<Candidate> candidates,
                                 SmallVectorImpl<std::string> &explain) {
  auto keyOf = [](const Candidate &candidate) {
    return std::pair(candidate.config.getStrategy(), candidate.refused.getKind());
  };
  std::map<std::pair<Strategy, Refused>, unsigned> count;
  for (const Candidate &candidate : candidates)
    if (candidate.refused)
      ++count[keyOf(candidate)];
  for (const Candidate &candidate : candidates) {
    unsigned times = candidate.refused ? std::exchange(count[keyOf(candidate)], 0) : 0;
    if (times == 0)
      continue;
    std::string line =
        "refused " + toString(candidate.config) + ": " + candidate.refused.str();
    if (times > 1)
      line += " (and " + std::to_string(times - 1) + " more like it)";
    explain.push_back(line);
  }
}

std::string tilewright::whyWhole(const KernelInfo &info, TargetAttr target) {
  OrRefusal<Split> split = chooseSplit(info.getRoot(), target);
  std::string whole = split ? "it was dispatched whole" : split.why().str();
  bool alone = llvm::count_if(info.ops, [](linalg::LinalgOp op) {
                 return !isa<linalg::FillOp>(op.getOperation());
               }) == 1;
  if (auto guarded = chooseGuardedSplit(info.getRoot(), target);
      guarded && alone && !guarded->tile.empty())
    whole = "another kernel computes " + std::to_string(guarded->split.parts) +
            " parts, where the host finds it " +
            std::to_string(guarded->fewestElements) +
            " long or more and at most " + std::to_string(guarded->mostResults) +
            " tiles of 128 x 128 results";
  return whole;
}

/// Parts are equally long but for the last: says how many have nothing of the loop.
static std::string describeEmptyParts(const KernelInfo &info) {
  int64_t extent = info.classes[info.split->reduced].extent, parts = info.getSplits();
  if (ShapedType::isDynamic(extent) || extent == 0)
    return "";
  int64_t length = llvm::alignTo(llvm::divideCeil(extent, parts), info.split->unit);
  int64_t empty = parts - llvm::divideCeil(extent, length);
  return empty ? "; " + std::to_string(empty) + " of them have nothing to compute, as each is " +
                     std::to_string(length) + " long"
               : "";
}

void tilewright::explainGrid(const KernelInfo &info, StringRef whole,
                             SmallVectorImpl<std::string> &explain) {
  auto config = info.root->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (info.split) {
    auto loops = info.getClasses(info.getRoot());
    auto loop = llvm::find(loops, info.split->reduced) - loops.begin();
    if (SharesAttr shares = sharesOf(info, config)) {
      int64_t cluster = llvm::product_of(config.getCluster());
      explain.push_back(std::to_string(shares.getBlocks()) +
                        (cluster > 1 ? " clusters of " + std::to_string(cluster) + " blocks"
                                     : " blocks") +
                        " share the " +
                        std::to_string(shares.getSteps()) + " steps along loop " +
                        std::to_string(loop) + " of each of " +
                        std::to_string(shares.getTiles()) +
                        (cluster > 1 ? " clusters of tiles, " : " tiles, ") +
                        std::to_string(shares.getParts()) +
                        " parts of a tile at most; a second kernel combines them");
      return;
    }
    explain.push_back("computes " + std::to_string(info.getSplits()) +
                      " parts of loop " + std::to_string(loop) +
                      ", multiples of " + std::to_string(info.split->unit) +
                      " long, one block each; a second kernel combines them" +
                      describeEmptyParts(info));
    return;
  }
  if (std::optional<unsigned> summed = clusterSumLoop(info, config)) {
    ClusterSum sum = planClusterSum(info, config, *summed);
    ArrayRef<unsigned> loops = info.getClasses(info.getRoot());
    int64_t sliced = llvm::find(loops, sum.sliced) - loops.begin();
    explain.push_back("computes " + std::to_string(sum.parts) + " parts of the " +
                      std::to_string(sum.steps) + " steps along loop " +
                      std::to_string(*summed) +
                      " by the blocks of a cluster, which add them up through each "
                      "other's shared memory, each " +
                      std::to_string(config.getBlock()[sliced] / sum.parts) + " of a tile's " +
                      std::to_string(config.getBlock()[sliced]) + " elements along loop " +
                      std::to_string(sliced) + "; there is no second kernel");
    return;
  }
  const ScheduleStrategy &strategy = strategyOf(info, config, getTarget(info.kernel));
  if (std::optional<unsigned> shared = strategy.sharedLoop(config)) {
    int64_t extent = info.classes[info.getClasses(info.getRoot())[*shared]].extent;
    explain.push_back("the " + std::to_string(config.getCluster()[*shared]) +
                      " blocks of a cluster share the " + std::to_string(extent) +
                      " elements along loop " + std::to_string(*shared) +
                      ": each keeps its part in registers, and stores what it has "
                      "reduced in the others' shared memory");
    return;
  }
  if (std::string advice = adviseStream(info, config, getTarget(info.kernel));
      !advice.empty())
    explain.push_back(advice);
  if (config.getMma() && isForMatrixUnit(info.root, getTarget(info.kernel)) &&
      llvm::any_of(info.getClasses(info.root), [&](unsigned number) {
        return ShapedType::isDynamic(info.classes[number].extent);
      }))
    explain.push_back("the sum is not cut into parts: " + whole.str());
  if (!strategyOf(info, getTarget(info.kernel)).sharesSums() ||
      llvm::any_of(info.classes, [](const LoopClass &loopClass) {
        return loopClass.parallel && loopClass.extent != 1;
      }))
    return;
  explain.push_back("one block does the whole reduction: " + whole.str());
}
