// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Split-K inside a cluster, for few rows: the parts of a tile's sum are those of the blocks
// of a cluster, which add them up through each other's shared memory, each a slice of the
// tile. There are no parts in memory, and no second kernel:
//
//   block = [64, 256, 64], warps = [4, 1, 1], stages = 4, splits = 4, cluster = [1, 1, 4]
//
// Four blocks sum a quarter of K each; then block r has rows 16 r to 16 r + 15 of the tile,
// and what follows the product (bias, activation, cast, residual) for them. Slices are cut
// along the loop of rows and columns that is not the last one of the result, so that each
// has whole rows of memory. Blocks that share an operand may be in the cluster, too: with
// cluster = [2, 1, 4] two of them read each tile of B.

#include "CostModel.h"
#include "Enumerate.h"
#include "WarpSpecialized.h"
#include "tilewright/Configure/Splits.h"
#include "tilewright/Dialect/Clusters.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

std::optional<unsigned> tilewright::clusterSumLoop(const KernelInfo &info,
                                                   LoweringConfigAttr config) {
  return config.isWarpSpecialized() ? clusterSumLoop(info.getRoot(), config) : std::nullopt;
}

/// The loop of rows or columns along which a tile of the root's result is sliced: the one
/// whose elements are no neighbours in memory.
static unsigned slicedLoop(linalg::LinalgOp root, unsigned m, unsigned n) {
  AffineMap map = root.getMatchingIndexingMap(root.getDpsInitOperand(0));
  for (int64_t dim = int64_t(map.getNumResults()) - 1; dim >= 0; --dim)
    if (unsigned loop = map.getDimPosition(dim); loop == m || loop == n)
      return loop == m ? n : m;
  return m;
}

ClusterSum tilewright::planClusterSum(const KernelInfo &info, LoweringConfigAttr config,
                                      unsigned summed) {
  linalg::LinalgOp root = info.getRoot();
  ClusterSum sum;
  sum.parts = config.getCluster()[summed];
  sum.reduced = info.getClasses(root)[summed];
  MatrixLoops loops = *findMatrixLoops(*info.getOriented(config), config);
  sum.sliced = info.getClasses(root)[slicedLoop(root, loops.m, loops.n)];
  sum.steps = llvm::divideCeil(info.classes[sum.reduced].extent, config.getBlock()[summed]);
  // Loops of one step are none.
  for (auto [loop, iterator] : llvm::enumerate(root.getIteratorTypesArray()))
    sum.inLoops |= iterator == utils::IteratorType::reduction && loop != summed &&
                   info.classes[info.getClasses(root)[loop]].extent != config.getBlock()[loop];
  return sum;
}

/// The field of a config that blocks with parts of a sum do not carry out, and why; empty if
/// there is none.
static Refusal whyNotField(LoweringConfigAttr config) {
  if (config.getStreamK())
    return refuse(Refused::Config,
                  "'stream_k' shares sums among all blocks, whatever their cluster; leave out one");
  if (config.getPersistent())
    return refuse(Refused::Config,
                  "'persistent' blocks would have to wait for each other between tiles; the few "
                  "tiles of sums in parts are one each: leave it out");
  if (config.getTmaStore())
    return refuse(
        Refused::Config,
        "'tma_store' stores tiles in layouts of an instruction's sums; each block's slice "
        "is stored by threads: leave it out");
  return {};
}

Refusal tilewright::whyNotSummedInCluster(const KernelInfo &info, LoweringConfigAttr config,
                                          const MatrixLoops &loops, TargetAttr target) {
  std::optional<unsigned> summed = clusterSumLoop(info, config);
  if (!summed)
    return {};
  linalg::LinalgOp root = info.getRoot();
  int64_t parts = config.getCluster()[*summed];
  std::string along = "'cluster' has " + std::to_string(parts) + " blocks along loop " +
                      std::to_string(*summed);
  if (!target.has("multicast"))
    return refuse(Refused::Target,
                  along + ", but " + target.getName().str() +
                      " has no clusters whose blocks see each other's shared memory");
  if (*summed != loops.k)
    return refuse(Refused::Config,
                  along + ", which is summed, but not the loop of the tile's steps");
  if (info.split)
    return refuse(Refused::Config,
                  along + ", and the kernel computes parts that a second one adds up; one or the "
                          "other");
  if (!config.isForWarpgroups())
    return refuse(Refused::OtherStrategy,
                  along + ", which is summed; that is for instructions of warpgroups");
  if (Refusal why = whyNotField(config))
    return why.after(along + ", which is summed: ");
  if (info.isDual() || info.isChained())
    return refuse(Refused::Neighbours,
                  along + ", which is summed; that is for kernels of one product, and this one has "
                          "two");
  int64_t all = llvm::product_of(config.getCluster());
  if (all > kMostClusterBlocks || !llvm::isPowerOf2_64(parts))
    return refuse(Refused::Config, along + ", of " + std::to_string(all) +
                                       " in all; there are 2, 4 or 8, and at most " +
                                       std::to_string(kMostClusterBlocks) + " in all");
  if (!root.getDpsInits().front().getDefiningOp<linalg::FillOp>())
    return refuse(Refused::Layout,
                  along + ", which is summed, and sums begin with what is in memory; that would "
                          "count once for each part");
  int64_t extent = root.getStaticLoopRanges()[*summed];
  if (ShapedType::isDynamic(extent))
    return refuse(Refused::DynamicExtents,
                  along + ", whose extent is dynamic: how long a part is must be known");
  ClusterSum sum = planClusterSum(info, config, *summed);
  if (sum.steps < parts)
    return refuse(Refused::Extents,
                  along + ", which has no step of " + std::to_string(config.getBlock()[*summed]) +
                      " for each: there are " + std::to_string(extent) + " elements");
  if (sum.inLoops && (sum.steps % parts || extent % config.getBlock()[*summed]))
    return refuse(
        Refused::Indivisible,
        along + ", inside of other summed loops, where all parts have as many whole steps; " +
            std::to_string(extent) + " elements are no multiple of " + std::to_string(parts) +
            " times " + std::to_string(config.getBlock()[*summed]));
  for (unsigned loop : {loops.m, loops.n}) {
    unsigned number = info.getClasses(root)[loop];
    if (!info.classes[number].parallel)
      return refuse(Refused::Neighbours,
                    along + ", which is summed, and another op reduces along loop " +
                        std::to_string(loop) + ", of which a block has a slice");
    int64_t blocks = entry(config.getCluster(), loop, 1);
    int64_t across = root.getStaticLoopRanges()[loop];
    if (blocks > 1 && (ShapedType::isDynamic(across) ||
                       llvm::divideCeil(across, config.getBlock()[loop]) % blocks))
      return refuse(Refused::Indivisible,
                    along + ", which is summed, and " + std::to_string(blocks) + " along loop " +
                        std::to_string(loop) +
                        ", of whose tiles there may be no multiple: all blocks of "
                        "a cluster have a tile");
    if (number != sum.sliced)
      continue;
    int64_t tile = config.getBlock()[loop];
    if (tile % parts || tile / parts < 2)
      return refuse(Refused::Indivisible, along + ", and a tile has " + std::to_string(tile) +
                                              " elements along loop " + std::to_string(loop) +
                                              ", which are no slices of two or more for each");
  }
  return {};
}

/// `config`, a plain one, with `parts` of the sum in clusters that have `pair` beside.
static LoweringConfigAttr withParts(LoweringConfigAttr config, unsigned summed,
                                    int64_t parts, ArrayRef<int64_t> pair) {
  SmallVector<int64_t> cluster(config.getBlock().size(), 1);
  if (!pair.empty())
    cluster.assign(pair.begin(), pair.end());
  cluster[summed] = parts;
  return config.withSplits(parts).withCluster(cluster);
}

SmallVector<LoweringConfigAttr>
tilewright::withClusterSums(const KernelInfo &info, LoweringConfigAttr config) {
  SmallVector<LoweringConfigAttr> configs;
  std::optional<MatrixLoops> loops =
      findMatrixLoops(*info.getOriented(config), config);
  if (!info.getRoot()->hasAttr(kClusterSumAttr) || !loops)
    return configs;
  SmallVector<SmallVector<int64_t>> pairs{{}};
  for (int64_t blocks : {2, 4})
    if (SmallVector<int64_t> pair = sharingBlocks(info, config, *loops, blocks); !pair.empty())
      pairs.push_back(pair);
  for (int64_t parts : {2, 4, 8})
    for (ArrayRef<int64_t> pair : pairs)
      if (parts * llvm::product_of(pair) <= kMostClusterBlocks)
        configs.push_back(withParts(config, loops->k, parts, pair));
  return configs;
}
