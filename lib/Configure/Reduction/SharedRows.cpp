// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that the blocks of a cluster share (`cluster` of strategy reduction): where a row
// that several ops run over is longer than what a block keeps, each block keeps a part.
//
//   softmax of 131072 columns: block = [1, 32768], cluster = [1, 4]
//   65000 columns:             block = [1, 16384], cluster = [1, 4], the last part is short
//
// Every element is read and written once, as of shorter rows; each reduction costs a
// barrier of the cluster.

#include "CostModel.h"
#include "Enumerate.h"
#include "Reduction.h"
#include "tilewright/Dialect/Clusters.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

std::optional<unsigned> Reduction::sharedLoop(LoweringConfigAttr config) const {
  for (auto [loop, blocks] : llvm::enumerate(config.getCluster()))
    if (blocks > 1)
      return loop;
  return std::nullopt;
}

/// Why blocks of a cluster cannot have parts of loop `shared`; none if they can.
static Refusal whyNotShared(const KernelInfo &info, LoweringConfigAttr config, unsigned shared,
                            TargetAttr target) {
  if (!target.has("multicast"))
    return refuse(Refused::Target,
                  "'cluster': " + target.getName().str() +
                      " has no clusters whose blocks see each other's shared memory; cuda:sm_90 "
                      "and sm_100 have");
  int64_t blocks = config.getCluster()[shared];
  std::string along = "'cluster' has " + std::to_string(blocks) +
                      " blocks along loop " + std::to_string(shared);
  for (auto [loop, others] : llvm::enumerate(config.getCluster()))
    if (others > 1 && loop != shared)
      return refuse(Refused::Config,
                    along + ", and others along another loop; a row is shared along one");
  if (blocks > kMostClusterBlocks)
    return refuse(Refused::Config,
                  along + "; there are at most " + std::to_string(kMostClusterBlocks));
  if (info.split)
    return refuse(Refused::Config,
                  along + ", and the kernel computes parts of a sum; one or the other");
  ArrayRef<unsigned> root = info.getClasses(info.getRoot());
  if (shared >= root.size() ||
      info.getRoot().getIteratorTypesArray()[shared] == utils::IteratorType::parallel)
    return refuse(Refused::Config, along + ", which is not reduced: blocks share nothing of it");
  const LoopClass &row = info.classes[root[shared]];
  if (row.sequential)
    return refuse(Refused::Neighbours,
                  along + ", which is reduced by a body of its own, term by term");
  if (ShapedType::isDynamic(row.extent))
    return refuse(Refused::DynamicExtents,
                  along + ", whose extent is dynamic: how long a part is must be known");
  int64_t step = entry(config.getBlock(), shared, 0);
  if (step <= 1 || int64_t(llvm::divideCeil(row.extent, step)) != blocks)
    return refuse(Refused::Config,
                  along + " and 'block' " + std::to_string(step) + " of its " +
                      std::to_string(row.extent) + " elements, which is a part for each of " +
                      std::to_string(step < 1 ? 1 : llvm::divideCeil(row.extent, step)) +
                      " blocks");
  return {};
}

Refusal Reduction::checkPlan(const KernelInfo &info, LoweringConfigAttr config,
                             TargetAttr target) const {
  if (std::optional<unsigned> shared = sharedLoop(config))
    if (Refusal why = whyNotShared(info, config, *shared, target))
      return why;
  return whyNotKept(info, config, target);
}

LoweringConfigAttr tilewright::withSharedRows(const KernelInfo &info,
                                              LoweringConfigAttr config,
                                              TargetAttr target) {
  linalg::LinalgOp root = info.getRoot();
  for (auto [loop, iterator] : llvm::enumerate(root.getIteratorTypesArray())) {
    int64_t step = entry(config.getBlock(), loop, 0);
    if (iterator == utils::IteratorType::parallel || step <= 1)
      continue;
    int64_t extent = info.classes[info.getClasses(root)[loop]].extent;
    if (ShapedType::isDynamic(extent) || extent <= step)
      continue;
    SmallVector<int64_t> cluster(config.getBlock().size(), 1);
    cluster[loop] = llvm::divideCeil(extent, step);
    LoweringConfigAttr shared = config.withCluster(cluster);
    if (!whyNotShared(info, shared, loop, target))
      return shared;
  }
  return {};
}
