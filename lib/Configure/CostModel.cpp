// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs of planned kernels, by which schedules are ranked: of GPUs the bound in closed
// form (Bound.h), of CPUs CpuCost.cpp.

#include "CostModel.h"
#include "Bound.h"
#include "tilewright/Configure/KeptRows.h"

#include "tilewright/Dialect/MatrixInstruction.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tilewright;

/// Differences between times that the model does not see.
static constexpr double kNoise = 0.01;

int64_t tilewright::nominalExtent(const LoopClass &loopClass) {
  return ShapedType::isDynamic(loopClass.extent)
             ? loopClass.nominal * loopClass.parts
             : std::max<int64_t>(1, loopClass.extent);
}

int64_t tilewright::nominalExtent(const KernelInfo &info, unsigned rootLoop) {
  return nominalExtent(info.classes[info.getClasses(info.getRoot())[rootLoop]]);
}

int64_t tilewright::bytesPerElement(Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isIntOrFloat())
    return std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8);
  return 4;
}

int64_t tilewright::accessedBytes(const KernelInfo &info) {
  int64_t bytes = 8;
  for (OpOperand &operand : info.getRoot()->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      bytes = std::min(bytes, bytesPerElement(operand.get().getType()));
  return bytes;
}

double tilewright::countPasses(const KernelInfo &info, const TilePlan &plan) {
  auto loops = [&](linalg::LinalgOp op, bool reductions) {
    for (auto [iterator, number] :
         llvm::zip_equal(op.getIteratorTypesArray(), info.getClasses(op)))
      if ((iterator != utils::IteratorType::parallel) == reductions &&
          !info.classes[number].parallel && plan.classes[number].loop)
        return true;
    return false;
  };
  double passes = 0;
  for (linalg::LinalgOp op : info.ops)
    passes += loops(op, true);
  for (OpResult result : info.results)
    passes += loops(cast<linalg::LinalgOp>(result.getOwner()), false);
  return std::max(1.0, passes - double(plan.onlineSums));
}

int64_t tilewright::multiprocessorsOf(TargetAttr target) {
  return std::max<int64_t>(1, int64_t(chipOf(target).multiprocessors));
}

int64_t tilewright::registerLimit(TargetAttr target, int64_t threads) {
  int64_t planned = target.getFact("registers", kNamedRegisters);
  // Drivers of other devices allocate registers as they see fit. A target of more than an
  // instruction can name sets no limit per multiprocessor.
  return target.getBackend() == "nvvm" && planned <= kNamedRegisters
             ? std::min(planned, registersEach(threads, chipOf(target)))
             : planned;
}

int64_t tilewright::blocksEachOf(TargetAttr target) {
  return int64_t(chipOf(target).blocksEach);
}

/// Whether blocks walk along rows that several ops run over, and keep none of them.
static bool walksRows(const KernelInfo &info, LoweringConfigAttr config,
                      const TilePlan &plan) {
  if (config.getStrategy() != Strategy::Reduction || !keptRows(info, config).empty())
    return false;
  for (auto [number, loopClass] : llvm::enumerate(info.classes))
    if (!loopClass.parallel && plan.classes[number].loop &&
        llvm::count_if(info.ops, [&, number = unsigned(number)](linalg::LinalgOp op) {
          return llvm::is_contained(info.getClasses(op), number);
        }) > 1)
      return true;
  return false;
}

double tilewright::estimateTime(const KernelInfo &info, LoweringConfigAttr config,
                                const TilePlan &plan, TargetAttr target) {
  if (plan.subgroup <= 1)
    return estimateCpu(info, plan, target);
  const ChipFacts &chip = chipOf(target);
  Bound bound = boundOf(countWork(info, config, plan, target, chip), chip);
  double time = bound.cycles * 1e3 / chip.clockMhz;
  // Between equals the larger instruction, of which fewer are issued.
  auto instruction = config.getMma()
                         ? MatrixInstruction::parse(config.getContext(), config.getMma())
                         : std::nullopt;
  if (instruction)
    time *= 1 + 1.0 / (instruction->m * instruction->n * instruction->k);
  // … rows on chip before rows that are read as often as caches ask for it,
  if (walksRows(info, config, plan))
    time *= 1 + kNoise;
  // … and blocks of about four warps.
  return time + 1e-3 * std::abs(plan.threads - 4.0 * plan.subgroup);
}

std::string tilewright::describe(const Bound &bound, const ChipFacts &chip, TargetAttr target) {
  std::string shares;
  for (auto [name, share] : bound.shares)
    shares += llvm::formatv("{0}{1} {2:f0} %", shares.empty() ? "" : ", ", name, 100 * share);
  // Of an architecture that is not in the table, the facts are those of the one before.
  bool isOwnChip = target.has("sm") && target.getFact("sm", 0) == chip.architecture;
  return llvm::formatv("predicted, not measured: {0:f1} us on {1}{2}, bounded by {3} ({4}); "
                       "{5} {6} on a multiprocessor, {7:f1} waves of them",
                       bound.cycles / chip.clockMhz, isOwnChip ? "" : "a GPU like ",
                       chip.name, bound.resource, shares, int64_t(bound.resident),
                       bound.resident == 1 ? "block" : "blocks", bound.waves)
      .str();
}

std::string tilewright::describeBound(const KernelInfo &info, LoweringConfigAttr config,
                                      TargetAttr target) {
  OrRefusal<TilePlan> plan = planTiles(info, config, target);
  if (!plan || plan->subgroup <= 1 || llvm::any_of(info.classes, [](const LoopClass &loopClass) {
        return ShapedType::isDynamic(loopClass.extent) || loopClass.extent == 0;
      }))
    return "";
  const ChipFacts &chip = chipOf(target);
  return describe(boundOf(countWork(info, config, *plan, target, chip), chip), chip, target);
}
