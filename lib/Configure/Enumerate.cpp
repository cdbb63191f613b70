// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles for GPUs. A tile of a streaming or reduction kernel is filled from
// the loop along contiguous memory outwards, so that neighbouring lanes touch
// neighbouring addresses whatever the shape:
//
//   512 elements on ? x 3 x 20   ->  block = [8, 4, 32]   (rounded up)
//   512 elements on ? x 4096     ->  block = [1, 512], or, with at most 128
//                                    along a row, [4, 128]

#include "Enumerate.h"
#include "CostModel.h"
#include "tilewright/Dialect/Picks.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// The widest tile of a dynamic extent in streaming and reduction kernels: it
/// may turn out to be small.
static constexpr int64_t kDynamicTile = 512;

int64_t tilewright::roundedExtent(const KernelInfo &info, unsigned loop) {
  return llvm::PowerOf2Ceil(nominalExtent(info, loop));
}

static bool isUnbounded(const KernelInfo &info, unsigned loop) {
  return ShapedType::isDynamic(
      info.classes[info.getClasses(info.getRoot())[loop]].most);
}

SmallVector<unsigned> tilewright::loopsOf(OpOperand &operand) {
  AffineMap map = cast<linalg::LinalgOp>(operand.getOwner())
                      .getMatchingIndexingMap(&operand);
  SmallVector<unsigned> loops;
  for (int64_t dim = int64_t(map.getNumResults()) - 1; dim >= 0; --dim)
    loops.push_back(map.getDimPosition(dim));
  return loops;
}

/// The tensor input with the most dims; the first of several.
static OpOperand *largestInput(linalg::LinalgOp op) {
  OpOperand *largest = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (type && (!largest || type.getRank() > cast<RankedTensorType>(
                                                  largest->get().getType())
                                                  .getRank()))
      largest = input;
  }
  return largest;
}

SmallVector<unsigned> tilewright::loopsFromInnermost(const KernelInfo &info) {
  linalg::LinalgOp op = info.root;
  SmallVector<unsigned> loops;
  OpOperand *input = largestInput(op);
  if (op.getNumReductionLoops() && input)
    loops = loopsOf(*input);
  auto append = [&](ArrayRef<unsigned> more) {
    for (unsigned loop : more)
      if (!llvm::is_contained(loops, loop))
        loops.push_back(loop);
  };
  append(loopsOf(*op.getDpsInitOperand(0)));
  for (unsigned loop = op.getNumLoops(); loop-- > 0;)
    append(loop);
  llvm::erase_if(loops, [&](unsigned loop) {
    return loop >= info.getNumConfigLoops();
  });
  return loops;
}

std::optional<unsigned> tilewright::transposedLoop(const KernelInfo &info) {
  SmallVector<unsigned> loops = loopsFromInnermost(info);
  linalg::LinalgOp op = info.root;
  OpOperand *input = largestInput(op);
  if (loops.empty() || !input)
    return std::nullopt;
  SmallVector<unsigned> own = loopsOf(*input);
  if (own.empty() || own.front() == loops.front() ||
      !llvm::is_contained(own, loops.front()) ||
      nominalExtent(info, own.front()) == 1 ||
      nominalExtent(info, loops.front()) == 1)
    return std::nullopt;
  return own.front();
}

LoweringConfigAttr Schedule::get(const KernelInfo &info, int64_t stages,
                                 ArrayRef<int64_t> promote) const {
  return LoweringConfigAttr::get(info.getRoot()->getContext(), info.strategy, block, warps,
                                 {}, stages, promote, {}, info.getSplits(),
                                 /*raster=*/1);
}

void tilewright::spreadWarps(Schedule &schedule, ArrayRef<unsigned> loops,
                             int64_t warps, int64_t lanes, int64_t width) {
  int64_t perWarp = lanes * width;
  for (unsigned loop : loops) {
    int64_t fit = std::max<int64_t>(1, schedule.block[loop] / perWarp);
    int64_t taken = std::min(warps, fit);
    perWarp = std::max<int64_t>(1, perWarp / schedule.block[loop]);
    schedule.warps[loop] = taken;
    warps /= taken;
  }
  // A tile smaller than the block: the surplus does what others do.
  if (warps > 1 && !loops.empty())
    schedule.warps[loops.back()] *= warps;
}

SmallVector<int64_t> tilewright::spreadPinned(const KernelInfo &info, LoweringConfigAttr config,
                                              TargetAttr target, ArrayRef<unsigned> loops,
                                              int64_t width) {
  Schedule schedule(info);
  ArrayRef<unsigned> classes = info.getClasses(info.getRoot());
  for (unsigned loop = 0; loop < info.getNumConfigLoops(); ++loop) {
    int64_t block = entry(config.getBlock(), loop, 0);
    schedule.block[loop] = info.classes[classes[loop]].sequential ? 1
                           : block ? block
                                   : roundedExtent(info, loop);
  }
  spreadWarps(schedule, loops, llvm::product_of(config.getWarps()),
              target.getFact("subgroup", 32), width);
  return schedule.warps;
}

SmallVector<SmallVector<int64_t>> tilewright::tileWarps(const KernelInfo &info,
                                                        LoweringConfigAttr config,
                                                        TargetAttr target) {
  SmallVector<unsigned> loops = loopsFromInnermost(info);
  SmallVector<SmallVector<int64_t>> spellings{
      spreadPinned(info, config, target, loops, accessWidth(info, target))};
  // All of them along contiguous memory is plain, too.
  SmallVector<int64_t> along(info.getNumConfigLoops(), 1);
  along[loops.front()] = llvm::product_of(config.getWarps());
  spellings.push_back(along);
  // Blocks that read terms ahead may have one element a thread.
  if (llvm::any_of(info.getClasses(info.getRoot()),
                   [&](unsigned number) { return info.classes[number].sequential; }))
    spellings.push_back(spreadPinned(info, config, target, loops, 1));
  return spellings;
}

bool tilewright::isPicked(const KernelInfo &info, unsigned loop) {
  if (!info.kernel->hasAttr(kPicksAttr))
    return false;
  unsigned number = info.getClasses(info.getRoot())[loop];
  return llvm::any_of(info.ops, [&](linalg::LinalgOp op) {
    return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      return getPick(input->get()) &&
             info.getClasses(op)[op.getMatchingIndexingMap(input).getDimPosition(0)] == number;
    });
  });
}

Schedule tilewright::fillTile(const KernelInfo &info, ArrayRef<unsigned> loops,
                              int64_t elements, int64_t cap) {
  Schedule schedule(info);
  int64_t left = elements;
  for (unsigned loop : loops) {
    int64_t most = roundedExtent(info, loop);
    // A part of a split loop is at least one unit long.
    if (info.split &&
        info.getClasses(info.getRoot())[loop] == info.split->reduced)
      most = std::min(most, info.split->unit);
    else if (isUnbounded(info, loop))
      most = std::min(most, kDynamicTile);
    if (info.classes[info.getClasses(info.getRoot())[loop]].sequential || isPicked(info, loop))
      most = 1;
    if (loop == loops.front())
      most = std::min(most, cap);
    schedule.block[loop] = std::min(most, left);
    left /= schedule.block[loop];
  }
  return schedule;
}

int64_t tilewright::accessWidth(const KernelInfo &info, TargetAttr target) {
  return std::max<int64_t>(
      1, target.getFact("access_bytes", 16) / accessedBytes(info));
}

/// Of a loop whose terms a body of its own takes one by one: configs that read several at once.
/// As a chain is long, and there may be few, also such where a thread has one of them.
static void addTermsAhead(std::vector<LoweringConfigAttr> &configs, const KernelInfo &info,
                          ArrayRef<unsigned> loops, ArrayRef<int64_t> warpCounts,
                          int64_t lanes) {
  std::optional<unsigned> taken;
  int64_t extent = 0;
  for (auto [loop, number] : llvm::enumerate(info.getClasses(info.getRoot())))
    if (info.classes[number].sequential) {
      taken = loop;
      extent = nominalExtent(info.classes[number]);
    }
  if (!taken)
    return;
  std::vector<LoweringConfigAttr> all = configs;
  for (int64_t warps : warpCounts) {
    Schedule schedule = fillTile(info, loops, warps * lanes, warps * lanes);
    spreadWarps(schedule, loops, warps, lanes, 1);
    addUnique(all, schedule.get(info));
  }
  for (LoweringConfigAttr config : all) {
    addUnique(configs, config);
    for (int64_t terms : {8, 16}) {
      SmallVector<int64_t> block(config.getBlock());
      block[*taken] = terms;
      if (terms <= extent)
        addUnique(configs, config.withBlock(block));
    }
  }
}

std::vector<LoweringConfigAttr>
tilewright::enumerateTiles(const KernelInfo &info, TargetAttr target,
               ArrayRef<int64_t> warpCounts, ArrayRef<int64_t> perThread) {
  std::vector<LoweringConfigAttr> configs;
  int64_t lanes = target.getFact("subgroup", 32);
  int64_t width = accessWidth(info, target);
  SmallVector<unsigned> loops = loopsFromInnermost(info);
  for (int64_t warps : warpCounts) {
    for (int64_t accesses : perThread) {
      int64_t elements = warps * lanes * width * accesses;
      for (int64_t cap : {lanes, lanes * width, 4 * lanes * width,
                          int64_t(1) << 20}) {
        Schedule schedule = fillTile(info, loops, elements, cap);
        spreadWarps(schedule, loops, warps, lanes, width);
        addUnique(configs, schedule.get(info));
      }
    }
  }
  addTermsAhead(configs, info, loops, warpCounts, lanes);
  return configs;
}
