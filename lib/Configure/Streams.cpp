// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `stream_k` of a config asks for, and whether it is possible, see Streams.h.

#include "tilewright/Configure/Streams.h"
#include "CostModel.h"
#include "Enumerate.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// Tiles, and steps of a tile's sum.
struct Work {
  int64_t tiles = 1, steps = 1;
};
} // namespace

/// Of a kernel of static extents that computes parts; nothing where the numbers overflow.
static std::optional<Work> workOf(const KernelInfo &info, LoweringConfigAttr config) {
  Work work;
  for (unsigned loop = 0; loop < info.getNumConfigLoops(); ++loop) {
    const LoopClass &loopClass = info.classes[info.getClasses(info.getRoot())[loop]];
    int64_t step = entry(config.getBlock(), loop, 0);
    int64_t count = step ? llvm::divideCeil(loopClass.extent, step) : 1;
    // A sum of nothing has one step, of which nothing is there.
    if (info.isSplit(loop))
      work.steps = std::max<int64_t>(1, count);
    else if (loopClass.parallel && llvm::MulOverflow(work.tiles, count, work.tiles))
      return std::nullopt;
  }
  return work;
}

std::string tilewright::whyNotStreamed(const KernelInfo &info, LoweringConfigAttr config) {
  if (!config.getStreamK())
    return "";
  if (!config.getPersistent())
    return "'stream_k' is for persistent blocks; 'persistent' is not true";
  if (llvm::any_of(config.getCluster(), [](int64_t blocks) { return blocks > 1; }))
    return "'stream_k' gives each block steps of its own, and blocks of a cluster copy "
           "the same steps for each other; leave 'cluster' out";
  if (!info.split)
    return "'stream_k' cuts sums into parts, which a second kernel adds up; 'splits' says "
           "how many parts of a tile there is room for, 2 at least";
  for (unsigned number : info.getClasses(info.getRoot()))
    if (ShapedType::isDynamic(info.classes[number].extent))
      return "'stream_k' shares the steps of all tiles when the kernel is compiled, and "
             "extents are dynamic";
  std::optional<Work> work = workOf(info, config);
  if (!work)
    return "'stream_k': there are too many tiles";
  std::string why = SharesAttr::whyNot(work->tiles, work->steps, config.getStreamK(),
                                       info.getSplits());
  return why.empty() ? "" : "'stream_k': " + why;
}

SharesAttr tilewright::sharesOf(const KernelInfo &info, LoweringConfigAttr config) {
  if (!config.getStreamK())
    return {};
  Work work = *workOf(info, config);
  return SharesAttr::get(config.getContext(), work.tiles, work.steps,
                         config.getStreamK(), info.getSplits());
}

LoweringConfigAttr tilewright::streamOf(const KernelInfo &info, LoweringConfigAttr config,
                                        TargetAttr target) {
  // Where blocks for all parts fill the device as evenly, there is nothing to win.
  if (!config.isForWarpgroups() || !info.split || config.getStreamK())
    return {};
  int64_t blocks = multiprocessorsOf(target);
  LoweringConfigAttr stream = config.withStream(blocks, info.getSplits());
  if (!whyNotStreamed(info, stream).empty())
    return {};
  SharesAttr shares = sharesOf(info, stream);
  return shares.getTiles() * shares.getParts() % blocks ? stream : LoweringConfigAttr();
}
