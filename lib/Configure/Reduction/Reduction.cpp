// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Reduction.h.

#include "Reduction.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "Footprint.h"
#include "LiveValues.h"
#include "tilewright/Configure/KeptRows.h"
#include "tilewright/Configure/OnlineSums.h"
#include "tilewright/Dialect/UserNames.h"

using namespace mlir;
using namespace tilewright;

/// Accesses of a thread to a row that its block holds.
static constexpr int64_t kRowAccesses[] = {1, 2, 4, 8};

/// Warps of a block that holds a long row, and elements of its rows that a thread
/// keeps: of 128 registers, which is what so many threads have, half.
static constexpr int64_t kRowWarps = 16, kMostHeld = 64, kWideSubgroup = 64;

/// … and of a block that holds a part of a row: several of fewer warps compute by turns.
static constexpr int64_t kSharedWarps[] = {8, kRowWarps};

/// Warps of a block whose rows are in shared memory, which few blocks share, and accesses of
/// a thread in a step.
static constexpr int64_t kKeptWarps[] = {4, 8, 16, 32}, kKeptAccesses[] = {1, 2, 4};

bool Reduction::isFor(const KernelLoops &loops, TargetAttr target) const {
  return llvm::any_of(loops.ops, [](linalg::LinalgOp op) {
    return op.getNumReductionLoops() != 0;
  });
}

bool Reduction::isAskedFor(const KernelLoops &loops, LoweringConfigAttr pinned,
                           TargetAttr target) const {
  return target && pinned.getStrategy() == getName() && matchProduct(loops.root) &&
         !loops.getContraction(loops.root);
}

/// Elements that go into one result of the root.
static int64_t reducedElements(const KernelInfo &info) {
  linalg::LinalgOp op = info.root;
  int64_t elements = 1;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      elements *= nominalExtent(info, loop);
  return elements;
}

/// What runs over the loops that the root reduces: ops, and arguments that they read.
static std::pair<unsigned, unsigned> countRows(const KernelInfo &info) {
  unsigned ops = 0;
  llvm::SmallPtrSet<Value, 8> arguments;
  auto isReduced = [&](unsigned number) { return !info.classes[number].parallel; };
  for (linalg::LinalgOp op : info.ops) {
    ops += llvm::any_of(info.getClasses(op), isReduced);
    for (OpOperand *input : op.getDpsInputOperands())
      if (isa<BlockArgument>(input->get()) &&
          llvm::any_of(info.getClasses(*input), isReduced))
        arguments.insert(input->get());
  }
  return {ops, arguments.size()};
}

std::vector<LoweringConfigAttr>
tilewright::enumerateReduction(const KernelInfo &info, TargetAttr target) {
  int64_t width = accessWidth(info, target);
  ArrayRef<int64_t> accessCounts(kRowAccesses);
  // Beside a maximum and a sum for each element, wide subgroups have registers for few.
  if (target.getFact("subgroup", 32) >= kWideSubgroup && !findOnlineSums(info).empty())
    while (accessCounts.size() > 1 && accessCounts.back() * width > kMostHeld / 4)
      accessCounts = accessCounts.drop_back();
  std::vector<LoweringConfigAttr> configs =
      enumerateTiles(info, target, kWarps, accessCounts);
  // Rows that are read more than once stay on chip even if it takes a larger block.
  int64_t held = kWarps[std::size(kWarps) - 1] * target.getFact("subgroup", 32) *
                 width * kRowAccesses[std::size(kRowAccesses) - 1];
  auto [ops, arguments] = countRows(info);
  if (ops < 2 || reducedElements(info) <= held)
    return configs;
  if (info.strategy == Strategy::Reduction) {
    // … or in shared memory,
    std::vector<LoweringConfigAttr> walking =
        enumerateTiles(info, target, kKeptWarps, kKeptAccesses);
    for (LoweringConfigAttr config : walking)
      if (LoweringConfigAttr kept = withKeptRows(info, config, target))
        addUnique(configs, kept);
  }
  int64_t mostHeld = arguments > 1 ? kMostHeld / 2 : kMostHeld;
  // Steps over rows that no block holds keep nothing. AMD's GPUs, whose subgroups have 64, give
  // a lane of so many warps 128 registers, and their driver loads several steps ahead.
  int64_t lanes = target.getFact("subgroup", 32);
  if (lanes >= kWideSubgroup && reducedElements(info) > kRowWarps * lanes * mostHeld)
    mostHeld /= 4;
  // A maximum and a sum for each element of a step leave registers for few.
  int64_t mostWalked = mostHeld;
  if (reducedElements(info) > kRowWarps * lanes * mostHeld && !findOnlineSums(info).empty())
    mostWalked = std::min(mostWalked, kMostHeld / 4);
  for (int64_t accesses = 1; accesses * width <= mostHeld; accesses *= 2)
    for (LoweringConfigAttr config :
         enumerateTiles(info, target, kSharedWarps, accesses)) {
      if (accesses * width <= mostWalked && llvm::product_of(config.getWarps()) == kRowWarps)
        addUnique(configs, config);
      // … of all blocks of a cluster, where they are still longer.
      if (LoweringConfigAttr shared = withSharedRows(info, config, target))
        addUnique(configs, shared);
    }
  return configs;
}

SmallVector<SmallVector<int64_t>> Reduction::warpSpellings(const KernelInfo &info,
                                                         LoweringConfigAttr config,
                                                         TargetAttr target) const {
  return tileWarps(info, config, target);
}

std::vector<LoweringConfigAttr> Reduction::enumerate(const KernelInfo &info,
                                                     TargetAttr target) const {
  return enumerateReduction(info, target);
}

/// Whether rows of a reduction stay in registers, as widened to its sums, for the ops
/// behind it.
static bool holdsRows(const KernelInfo &info, const TilePlan &plan) {
  SmallVector<unsigned> reduced;
  for (auto [number, iterator] : llvm::zip_equal(info.getClasses(info.getRoot()),
                                                 info.getRoot().getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction && !plan.classes[number].loop)
      reduced.push_back(number);
  return llvm::any_of(info.ops, [&](linalg::LinalgOp op) {
    return op != info.getRoot() && llvm::any_of(reduced, [&](unsigned number) {
             return llvm::is_contained(info.getClasses(op), number);
           });
  });
}

int64_t Reduction::operandBytes(const KernelInfo &info, LoweringConfigAttr config,
                                const TilePlan &plan, TargetAttr target) const {
  return keptBytes(info, config);
}

int64_t Reduction::liveBytes(const KernelInfo &info, LoweringConfigAttr config,
                             const TilePlan &plan) const {
  // Bytes are widened before they are combined.
  int64_t each = bytesPerElement(info.getRoot().getDpsInits()[0].getType());
  bool ofBytes = llvm::any_of(info.getRoot().getDpsInputOperands(), [](OpOperand *input) {
    return bytesPerElement(input->get().getType()) == 1;
  });
  int64_t held = holdsRows(info, plan) ? each : ofBytes ? std::max<int64_t>(4, each) : 0;
  int64_t bytes = inputBytes(info, config, plan, held) + loneElementBytes(info, plan) +
                  resultBytes(info, plan);
  // Of a sum in the loop of its maximum there is an element of both for each of a step.
  if (plan.onlineSums)
    bytes += 2 * inputBytes(info, config, plan, /*held=*/4);
  return bytes;
}

int64_t Reduction::registers(const KernelInfo &info, LoweringConfigAttr config,
                             const TilePlan &plan, TargetAttr target) const {
  return target.getBackend() == "nvvm"
             ? countLiveRegisters(info, plan, target)
             : ScheduleStrategy::registers(info, config, plan, target);
}

std::string Reduction::explain(const KernelInfo &info) const {
  return "reduces " + std::to_string(info.getRoot().getNumReductionLoops()) + " of " +
         std::to_string(info.getRoot().getNumLoops()) + " loops";
}

void Reduction::explainMore(const KernelInfo &info, LoweringConfigAttr config, StringRef,
                            SmallVectorImpl<std::string> &lines) const {
  for (OpOperand *operand : keptRows(info, config)) {
    int64_t run = keptRowCopies(info, config, *operand);
    lines.push_back("rows of " + nameOperand(*operand) +
                    " are read from memory once: the block keeps them in shared memory (" +
                    std::to_string(keptBytes(info, config)) + " bytes in all), " +
                    (run ? "where asynchronous copies of " + std::to_string(run) +
                               " bytes a thread put them, steps ahead"
                         : std::string("by way of registers")));
  }
  OrRefusal<TilePlan> plan = planTiles(info, config, getTarget(info.kernel));
  if (plan && plan->onlineSums)
    lines.push_back("sums of exponentials are taken in the loop that finds the maxima: a block "
                    "does not hold its rows, and reads them once less");
}
