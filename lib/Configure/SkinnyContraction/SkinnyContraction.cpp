// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SkinnyContraction.h.

#include "SkinnyContraction.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "Footprint.h"
#include "LiveValues.h"
#include "Reduction/Reduction.h"
#include "tilewright/Analysis/Contractions.h"

using namespace mlir;
using namespace tilewright;

/// Sums that a thread keeps: with what it loads, they leave registers for several blocks on
/// a multiprocessor.
static constexpr int64_t kMostSums = 64;

bool SkinnyContraction::isFor(const KernelLoops &loops, TargetAttr target) const {
  // Threads that share a sum exchange partial results by shuffles.
  std::optional<Contraction> product = matchProduct(loops.root);
  return target && product && isSkinny(loops.root, *product);
}

bool SkinnyContraction::isAskedFor(const KernelLoops &loops, LoweringConfigAttr pinned,
                                   TargetAttr target) const {
  return target && pinned.getStrategy() == getName() && matchProduct(loops.root);
}

bool SkinnyContraction::match(const KernelInfo &info, TargetAttr target) const {
  // Bytes that hold nibbles are multiplied by instructions only.
  std::optional<Contraction> product = matchProduct(info.root);
  return ScheduleStrategy::match(info, target) && product && product->perElement == 1;
}

/// The larger operand, of which every element is read once.
static OpOperand &largerOperand(const KernelInfo &info,
                               const Contraction &contraction) {
  linalg::LinalgOp op = info.root;
  auto size = [&](unsigned number) {
    double product = 1;
    for (unsigned loop : loopsOf(op->getOpOperand(number)))
      product *= nominalExtent(info, loop);
    return product;
  };
  return op->getOpOperand(size(contraction.b) >= size(contraction.a)
                              ? contraction.b
                              : contraction.a);
}

/// Elements of the larger operand that a lane loads at once.
static int64_t loadWidth(OpOperand &larger, TargetAttr target) {
  return std::max<int64_t>(1, target.getFact("access_bytes", 16) /
                                  bytesPerElement(larger.get().getType()));
}

/// The loops of the larger operand, along contiguous memory first.
static SmallVector<unsigned> loadedLoops(OpOperand &larger, const Contraction &contraction) {
  SmallVector<unsigned> loops = loopsOf(larger);
  llvm::erase_if(loops, [&](unsigned loop) {
    return llvm::is_contained(contraction.batch, loop);
  });
  return loops;
}

SmallVector<SmallVector<int64_t>>
SkinnyContraction::warpSpellings(const KernelInfo &info, LoweringConfigAttr config,
                                 TargetAttr target) const {
  Contraction contraction = *matchProduct(info.getRoot());
  OpOperand &larger = largerOperand(info, contraction);
  SmallVector<SmallVector<int64_t>> spellings;
  if (SmallVector<unsigned> loops = loadedLoops(larger, contraction); !loops.empty())
    spellings.push_back(spreadPinned(info, config, target, loops, loadWidth(larger, target)));
  // Configs of a reduction are tried, too.
  llvm::append_range(spellings, tileWarps(info, config, target));
  return spellings;
}

/// `fewResults`: a tile has at most as many sums as threads; more do not fit into registers
/// once parts are added up.
static std::vector<LoweringConfigAttr>
enumerateSkinny(const KernelInfo &info, TargetAttr target, bool fewResults) {
  Contraction contraction = *matchProduct(info.getRoot());
  OpOperand &larger = largerOperand(info, contraction);
  bool isB = larger.getOperandNumber() == contraction.b;
  ArrayRef<unsigned> few = isB ? contraction.m : contraction.n;
  ArrayRef<unsigned> many = isB ? contraction.n : contraction.m;
  int64_t lanes = target.getFact("subgroup", 32);
  int64_t width = loadWidth(larger, target);
  // A tile of the larger operand is filled along contiguous memory first, all
  // of the few rows or columns of the other go with it.
  SmallVector<unsigned> loops = loadedLoops(larger, contraction);
  if (loops.empty())
    return enumerateReduction(info, target);
  bool alongSum = llvm::is_contained(contraction.k, loops.front());

  // A thread adds up every product of what it loads on its own, of a dual product both.
  int64_t sums = std::max<int64_t>(1, info.rootProducts.size());
  for (unsigned loop : few)
    sums *= roundedExtent(info, loop);

  std::vector<LoweringConfigAttr> configs;
  // Results are never so many that no sum is shared: a tile has several elements of one
  // of the last `counted` sums.
  auto add = [&](size_t counted) {
    for (int64_t warps : kWarps)
      for (int64_t elements : {width, 2 * width, 4 * width, 8 * width, width / 2,
                               width / 4, width / 8})
        for (int64_t run : {lanes * width, lanes * width / 4, 4 * lanes * width,
                            lanes * width / 16}) {
          if (elements < 1 || (elements > 1 && sums * elements > kMostSums))
            continue;
          Schedule schedule = fillTile(info, loops, warps * lanes * elements,
                                       std::max<int64_t>(run, width));
          if (!alongSum && !many.empty() &&
              llvm::all_of(ArrayRef<unsigned>(contraction.k).take_back(counted),
                           [&](unsigned loop) {
                             return schedule.block[loop] == 1 &&
                                    nominalExtent(info, loop) > 1;
                           }))
            continue;
          for (unsigned loop : few)
            schedule.block[loop] = roundedExtent(info, loop);
          // Every warp has a part of every sum.
          int64_t results = sums / std::max<int64_t>(1, info.rootProducts.size());
          for (unsigned loop : many)
            results *= std::max<int64_t>(1, schedule.block[loop]);
          if (fewResults && sums > 1 && results > warps * lanes)
            continue;
          for (unsigned loop : contraction.batch)
            if (loop < info.getNumConfigLoops())
              schedule.block[loop] = 1;
          spreadWarps(schedule, loops, warps, lanes, width);
          addUnique(configs, schedule.get(info));
        }
  };
  add(1);
  if (configs.empty())
    add(contraction.k.size());
  return configs;
}

std::vector<LoweringConfigAttr> SkinnyContraction::enumerate(const KernelInfo &info,
                                                             TargetAttr target) const {
  auto anyFits = [&](ArrayRef<LoweringConfigAttr> configs) {
    return llvm::any_of(
        configs, [&](LoweringConfigAttr config) { return bool(fits(info, config, target)); });
  };
  std::vector<LoweringConfigAttr> configs = enumerateSkinny(info, target, true);
  if (anyFits(configs))
    return configs;
  configs = enumerateSkinny(info, target, false);
  // All of several few rows, or subgroups of many lanes, may be more than a block holds: tiles
  // of a few results.
  if (!anyFits(configs))
    llvm::append_range(configs, enumerateReduction(info, target));
  return configs;
}

/// Sums over several steps keep an accumulator per element of the tile.
int64_t SkinnyContraction::liveBytes(const KernelInfo &info, LoweringConfigAttr config,
                                     const TilePlan &plan) const {
  int64_t elements = 1;
  for (unsigned number : info.getClasses(info.getRoot()))
    elements *= plan.classes[number].inner;
  // An operand that is computed is there as it was read, converted, and widened.
  bool computed = llvm::any_of(info.ops, [&](linalg::LinalgOp op) {
    return isFusedProducer(info, op);
  });
  // Along the sums, a thread has as many elements of the smaller operand beside them.
  bool beside = runsAlongSum(largerOperand(info, *matchProduct(info.getRoot())));
  return inputBytes(info, config, plan) + loneElementBytes(info, plan) +
         resultBytes(info, plan) +
         elements * std::max<int64_t>(1, info.rootProducts.size()) *
             (computed ? 4 : beside ? 2 : 1) *
             bytesPerElement(info.getRoot().getDpsInits()[0].getType());
}

int64_t SkinnyContraction::registers(const KernelInfo &info, LoweringConfigAttr config,
                                     const TilePlan &plan, TargetAttr target) const {
  return target.getBackend() == "nvvm"
             ? countLiveRegisters(info, plan, target,
                                  &largerOperand(info, *matchProduct(info.getRoot())))
             : ScheduleStrategy::registers(info, config, plan, target);
}

/// Threads lie over the larger operand, as it lies in memory.
std::optional<std::pair<double, double>>
SkinnyContraction::sharedSums(const KernelInfo &info, const TilePlan &plan, double results,
                              double reduced) const {
  linalg::LinalgOp root = info.getRoot();
  OpOperand &larger = largerOperand(info, *matchProduct(root));
  AffineMap map = root.getMatchingIndexingMap(&larger);
  ArrayRef<unsigned> classes = info.getClasses(root);
  double elements = 1;
  for (unsigned i = 0, e = map.getNumResults(); i < e; ++i)
    elements *= plan.classes[classes[map.getDimPosition(i)]].step;
  double columns = elements / reduced, rows = results / columns;
  double own = std::max(1.0, elements / double(plan.threads));
  if (runsAlongSum(larger)) {
    double threads = std::min<double>(plan.threads, reduced / own);
    return std::pair(threads,
                     rows * std::max(1.0, columns * threads / double(plan.threads)));
  }
  return std::pair(std::max(1.0, plan.threads / std::max(1.0, columns / own)),
                   rows * std::min(own, columns));
}

std::string SkinnyContraction::explain(const KernelInfo &info) const {
  return "multiplies few rows or columns: threads share each sum";
}

std::string SkinnyContraction::whyNoInstruction() const {
  return "reads the operands once, which takes longer than the products";
}
