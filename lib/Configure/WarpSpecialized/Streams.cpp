// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `stream_k` of a config asks for, and whether it is possible, see Streams.h.

#include "tilewright/Configure/Streams.h"
#include "tilewright/Configure/Splits.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "WarpSpecialized.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// Tiles, and steps of a tile's sum. Blocks of a cluster have the same steps of
/// neighbouring tiles, which are counted as one.
struct Work {
  int64_t tiles = 1, steps = 1;
};
} // namespace

/// Of a kernel of static extents, whose sum along `sum` is cut; nothing where the numbers
/// overflow.
static std::optional<Work> workOf(const KernelInfo &info, LoweringConfigAttr config,
                                  unsigned sum) {
  Work work;
  for (unsigned loop = 0; loop < info.getNumConfigLoops(); ++loop) {
    const LoopClass &loopClass = info.classes[info.getClasses(info.getRoot())[loop]];
    int64_t step = entry(config.getBlock(), loop, 0);
    int64_t count = step ? llvm::divideCeil(loopClass.extent, step) : 1;
    if (loop < config.getCluster().size())
      count = llvm::divideCeil(count, config.getCluster()[loop]);
    // A sum of nothing has one step, of which nothing is there.
    if (loop == sum)
      work.steps = std::max<int64_t>(1, count);
    else if (loopClass.parallel && llvm::MulOverflow(work.tiles, count, work.tiles))
      return std::nullopt;
  }
  return work;
}

/// `blocks`, or clusters of them.
static int64_t blocksOf(LoweringConfigAttr config, int64_t blocks) {
  return blocks / llvm::product_of(config.getCluster());
}

/// Whether all extents of the root are known.
static bool isStatic(const KernelInfo &info) {
  return llvm::none_of(info.getClasses(info.getRoot()), [&](unsigned number) {
    return ShapedType::isDynamic(info.classes[number].extent);
  });
}

/// The loop that is cut into parts.
static unsigned splitLoop(const KernelInfo &info) {
  ArrayRef<unsigned> classes = info.getClasses(info.getRoot());
  return llvm::find(classes, info.split->reduced) - classes.begin();
}

Refusal tilewright::whyNotStreamed(const KernelInfo &info, LoweringConfigAttr config) {
  if (!config.getStreamK())
    return {};
  if (!config.getPersistent())
    return refuse(Refused::Config, "'stream_k' is for persistent blocks; 'persistent' is not true");
  if (int64_t cluster = llvm::product_of(config.getCluster()); config.getStreamK() % cluster)
    return refuse(Refused::Indivisible, "'stream_k' is " + std::to_string(config.getStreamK()) +
                                            " blocks, which are no whole clusters of " +
                                            std::to_string(cluster));
  if (!info.split)
    return refuse(Refused::Config,
                  "'stream_k' cuts sums into parts, which a second kernel adds up; 'splits' says "
                  "how many parts of a tile there is room for, 2 at least");
  if (!isStatic(info))
    return refuse(Refused::DynamicExtents,
                  "'stream_k' shares the steps of all tiles when the kernel is compiled, and "
                  "extents are dynamic");
  std::optional<Work> work = workOf(info, config, splitLoop(info));
  if (!work)
    return refuse(Refused::Extents, "'stream_k': there are too many tiles");
  std::string why = SharesAttr::whyNot(work->tiles, work->steps,
                                       blocksOf(config, config.getStreamK()),
                                       info.getSplits());
  return why.empty() ? Refusal() : refuse(Refused::Config, "'stream_k': " + why);
}

SharesAttr tilewright::sharesOf(const KernelInfo &info, LoweringConfigAttr config) {
  if (!config.getStreamK())
    return {};
  Work work = *workOf(info, config, splitLoop(info));
  return SharesAttr::get(config.getContext(), work.tiles, work.steps,
                         blocksOf(config, config.getStreamK()), info.getSplits());
}

LoweringConfigAttr Warpgroups::stream(const KernelInfo &info, LoweringConfigAttr config,
                                      TargetAttr target) const {
  // Where blocks for all parts fill the device as evenly, there is nothing to win.
  if (!info.split || config.getStreamK())
    return {};
  int64_t blocks = multiprocessorsOf(target);
  LoweringConfigAttr stream = config.withStream(blocks, info.getSplits());
  if (whyNotStreamed(info, stream))
    return {};
  SharesAttr shares = sharesOf(info, stream);
  bool isEven = shares.getTiles() * shares.getParts() % shares.getBlocks() == 0;
  return isEven ? LoweringConfigAttr() : stream;
}

std::string tilewright::adviseStream(const KernelInfo &info, LoweringConfigAttr config,
                                     TargetAttr target) {
  // Waves of which less than this is used, by sums of so many steps, are worth looking at
  // what a second kernel takes.
  constexpr double kMostUsed = 0.7;
  constexpr int64_t kMinSteps = 64, kMostParts = 4;
  const Contraction *product = info.getContraction(info.getRoot());
  if (!config.isForWarpgroups() || info.split || !isStatic(info) || !product ||
      product->k.size() != 1 || matchCombiners(info.getRoot()).empty())
    return "";
  std::optional<Work> work = workOf(info, config, product->k.front());
  int64_t multiprocessors = multiprocessorsOf(target),
          blocks = blocksOf(config, multiprocessors),
          cluster = llvm::product_of(config.getCluster());
  // A device that holds no whole cluster at a time shares nothing among several.
  if (!work || blocks == 0 || work->steps < kMinSteps ||
      double(work->tiles) > kMostUsed * double(llvm::alignTo(work->tiles, blocks)) ||
      !SharesAttr::whyNot(work->tiles, work->steps, blocks, kMostParts).empty())
    return "";
  return "the last wave of " + std::to_string(blocks * cluster) + " blocks has " +
         std::to_string(work->tiles % blocks * cluster) + " of " +
         std::to_string(work->tiles * cluster) +
         " tiles; a config pinned on the op with 'splits = " +
         std::to_string(SharesAttr::countParts(work->tiles, work->steps, blocks)) +
         ", persistent = true, stream_k = " + std::to_string(blocks * cluster) +
         "' lets these share all sums";
}
