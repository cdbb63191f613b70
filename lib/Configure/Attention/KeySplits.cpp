// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In how many parts attention takes its keys: as many as give each multiprocessor blocks,
// where blocks of queries alone are too few.
//
//   32 heads, 1 query, 32768 keys on 108 multiprocessors: 6 parts of each head
//   ? sequences of 8 heads of keys:                       27 parts where the host finds up
//                                                         to 13 sequences, else one

#include "CostModel.h"
#include "tilewright/Configure/Attention.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Keys that are worth a part, and a second kernel; the most parts.
static constexpr int64_t kMinKeysOfPart = 256, kMinKeys = 1024, kMostParts = 64;
/// The most parts where sequences or heads may be more than the fewest that are possible:
/// what the second kernel reads grows with them.
static constexpr int64_t kMostGuardedParts = 32;

/// Blocks that a multiprocessor has at once, by the shared memory of the default config. Parts
/// of the keys are the same for all sizes of subgroups, so that one's fragments do not decide.
static int64_t residentBlocks(AttentionOp op, TargetAttr target) {
  OrRefusal<LoweringConfigAttr> config = chooseAttentionConfig(op, target, /*anyFragments=*/true);
  if (!config)
    return blocksEachOf(target);
  OrRefusal<AttentionPlan> plan = planAttention(op, *config, target);
  if (!plan || plan->shared == 0)
    return blocksEachOf(target);
  return std::clamp<int64_t>(target.getFact("shared_memory") / plan->shared, 1,
                             blocksEachOf(target));
}

/// Blocks along the loops of known extents, heads and queries; those of the others go to
/// `split`. None where queries, or heads that share rows, are not known.
static std::optional<int64_t> countBlocks(AttentionOp op, ArrayRef<int64_t> extents,
                                          KeySplit &split) {
  OrRefusal<SharedRows> shared = findSharedRows(op);
  int64_t blocks = 1;
  for (unsigned loop = 0; loop <= op.getQueryLoop(); ++loop) {
    bool isQueries = loop == op.getQueryLoop(), isGroup = shared && loop == *findGroupLoop(op);
    if (ShapedType::isDynamic(extents[loop])) {
      if (isQueries || isGroup)
        return std::nullopt;
      split.blockLoops.push_back(loop);
      continue;
    }
    int64_t tile = isQueries ? (shared ? shared->headQueries : 16)
                   : isGroup ? shared->heads()
                             : 1;
    if (llvm::MulOverflow(blocks, int64_t(llvm::divideCeil(extents[loop], tile)), blocks))
      blocks = INT64_MAX;
  }
  return blocks;
}

OrRefusal<KeySplit> tilewright::chooseKeySplit(AttentionOp op, TargetAttr target) {
  if (op.getKeyParts())
    return refuse(Refused::Config, "they are in parts");
  KeySplit split;
  if (auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr)) {
    split.parts = config.getSplits();
    if (split.parts == 1)
      return refuse(Refused::Pinned, "the pinned lowering config has no 'splits'");
    return split;
  }
  if (op.getKeysBefore() >= 0)
    return refuse(Refused::NotProfitable, "a window leaves few of them to a block of queries");
  SmallVector<int64_t> extents = op.getLoopExtents();
  std::optional<int64_t> blocks = countBlocks(op, extents, split);
  if (!blocks)
    return refuse(Refused::DynamicExtents,
                  "how many blocks of queries a head has is not known before the "
                  "launch; 'splits' in a pinned lowering config asks for parts");
  int64_t keys = extents[op.getKeyLoop()];
  bool isGpu = target.getFact("subgroup", 1) > 1;
  if (*blocks == 0 || keys == 0)
    return refuse(Refused::Extents, "there are no scores");
  int64_t most = isGpu ? multiprocessorsOf(target) : kCpuTasks / 4;
  if (*blocks > most)
    return refuse(Refused::NotProfitable, Twine(*blocks) + " blocks of queries fill the machine");
  // Blocks that are all there at once: what is left over takes as long as all of them, and
  // what the second kernel takes grows with the parts.
  if (isGpu)
    split.parts = std::max<int64_t>(
        2, residentBlocks(op, target) * multiprocessorsOf(target) / *blocks);
  else
    split.parts = llvm::PowerOf2Ceil(llvm::divideCeil(kCpuTasks, *blocks));
  split.parts =
      std::min(split.parts, split.blockLoops.empty() ? kMostParts : kMostGuardedParts);
  if (!split.blockLoops.empty())
    split.mostBlocks = most / *blocks;
  if (ShapedType::isDynamic(keys)) {
    split.fewestKeys = kMinKeys;
    return split;
  }
  if (keys < kMinKeys)
    return refuse(Refused::NotProfitable, Twine(keys) + " are too few for a second kernel to pay");
  split.parts = std::min<int64_t>(split.parts,
                                  llvm::bit_floor(uint64_t(keys / kMinKeysOfPart)));
  return split;
}
