// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a planned kernel takes of a multiprocessor, shared memory and registers: what its
// strategy says, and memory through which values move between threads (Scratch.cpp).

#include "Footprint.h"
#include "Bound.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "Strategy.h"
#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Dialect/Divisibility.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tilewright;

int64_t tilewright::tileElements(const KernelInfo &info, const TilePlan &plan,
                                 OpOperand &operand) {
  int64_t elements = 1;
  for (unsigned number : info.getClasses(operand))
    elements *= plan.classes[number].inner;
  return elements;
}

/// The inputs of `ops`, those that all of them share once.
static SmallVector<OpOperand *> inputsOf(ArrayRef<linalg::LinalgOp> ops) {
  SmallVector<OpOperand *> inputs;
  for (linalg::LinalgOp op : ops)
    for (OpOperand *input : op.getDpsInputOperands())
      if (llvm::none_of(inputs, [&](OpOperand *known) {
            return known->getOwner() != op &&
                   known->getOperandNumber() == input->getOperandNumber() &&
                   known->get() == input->get();
          }))
        inputs.push_back(input);
  return inputs;
}

SmallVector<OpOperand *> tilewright::rootInputs(const KernelInfo &info) {
  return inputsOf(info.isDual() ? ArrayRef(info.rootProducts) : ArrayRef(info.root));
}

SmallVector<OpOperand *> tilewright::stepOperands(const KernelInfo &info) {
  return info.isChained() ? inputsOf(info.getProducts().front()) : rootInputs(info);
}

int64_t tilewright::inputBytes(const KernelInfo &info, LoweringConfigAttr config,
                               const TilePlan &plan, int64_t held) {
  int64_t bytes = 0;
  for (OpOperand *input : rootInputs(info))
    if (isa<RankedTensorType>(input->get().getType())) {
      int64_t own = tileElements(info, plan, *input) *
                    std::max(bytesPerElement(input->get().getType()), held);
      if (llvm::is_contained(config.getPromote(),
                             int64_t(input->getOperandNumber())))
        own = own / 8;
      bytes += own;
    }
  return bytes;
}

int64_t tilewright::resultBytes(const KernelInfo &info, const TilePlan &plan) {
  int64_t bytes = 0;
  for (OpOperand &init : info.getRoot().getDpsInitsMutable())
    bytes += tileElements(info, plan, init) * bytesPerElement(init.get().getType());
  return info.isDual() ? bytes * int64_t(info.rootProducts.size()) : bytes;
}

/// Rows of `operand`'s tile in shared memory: along either dim for matrix
/// instructions, else one for each iteration of the summed loops.
static int64_t sharedRows(const KernelInfo &info, LoweringConfigAttr config,
                          const TilePlan &plan, OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  const Contraction *contraction = info.getContraction(op);
  int64_t rows = 1, elements = 1, shortest = std::numeric_limits<int64_t>::max();
  for (unsigned i = 0, e = map.getNumResults(); i < e; ++i) {
    unsigned loop = map.getDimPosition(i);
    int64_t extent = plan.classes[info.getClasses(op)[loop]].inner;
    if (!contraction || llvm::is_contained(contraction->k, loop))
      rows *= extent;
    elements *= extent;
    if (extent > 1)
      shortest = std::min(shortest, extent);
  }
  return config.getMma() ? std::max<int64_t>(1, elements / shortest) : rows;
}

int64_t tilewright::stageBytes(const KernelInfo &info, LoweringConfigAttr config,
                              const TilePlan &plan, TargetAttr target,
                              OpOperand &operand) {
  constexpr int64_t kSwizzleBlock = 4096;
  int64_t element = bytesPerElement(operand.get().getType());
  int64_t bytes = tileElements(info, plan, operand) * element;
  int64_t padded = bytes + 16 * sharedRows(info, config, plan, operand);
  if (config.getMma() && target.has("load_matrices") && element <= 2)
    return std::min(padded, int64_t(llvm::alignTo(bytes, kSwizzleBlock)));
  return padded;
}

bool tilewright::hasRowsOf(const KernelInfo &info, OpOperand &operand, int64_t bytes) {
  auto argument = dyn_cast<BlockArgument>(operand.get());
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!argument || !type || type.getRank() == 0)
    return true;
  int64_t last = type.getRank() - 1;
  int64_t divisor = type.isDynamicDim(last)
                        ? promisedDivisor(info.kernel, operandNumber(argument), last)
                        : type.getDimSize(last);
  return divisor * bytesPerElement(type) % bytes == 0;
}

bool tilewright::isReadAlone(const KernelInfo &info, OpOperand &operand) {
  return getTarget(info.kernel).getBackend() == "nvvm" && !hasRowsOf(info, operand, 4);
}

int64_t tilewright::loneElementBytes(const KernelInfo &info, const TilePlan &plan) {
  int64_t each = getIndexBits(info.kernel) / 8, bytes = 0;
  for (OpOperand *input : rootInputs(info))
    if (isReadAlone(info, *input))
      bytes += tileElements(info, plan, *input) *
               std::max<int64_t>(0, each - bytesPerElement(input->get().getType()));
  return bytes;
}

int64_t tilewright::freeRegisters(const TilePlan &plan, TargetAttr target) {
  const ChipFacts &chip = chipOf(target);
  double threads = std::min(chip.threads, chip.blocks * double(plan.threads));
  // A limit of the target's is no reason to refuse what ptxas would fill if it could.
  return std::min(registersEach(int64_t(threads), chip),
                  registerLimit(target, plan.threads + plan.copyThreads));
}

bool tilewright::isOneStep(const KernelInfo &info, const TilePlan &plan) {
  auto hasSteps = [](auto pair) {
    auto &[loopClass, tile] = pair;
    return !loopClass.parallel && tile.loop &&
           (ShapedType::isDynamic(loopClass.extent) ||
            llvm::divideCeil(loopClass.extent, loopClass.parts) > tile.step);
  };
  return !info.isChained() &&
         llvm::none_of(llvm::zip_equal(info.classes, plan.classes), hasSteps);
}

int64_t tilewright::withAhead(int64_t registers, int64_t ahead, const TilePlan &plan,
                              TargetAttr target) {
  int64_t limit = registerLimit(target, plan.threads + plan.copyThreads),
          left = std::max<int64_t>(0, limit - registers);
  return registers + std::min(left, ahead / (4 * plan.threads));
}

int64_t ScheduleStrategy::operandBytes(const KernelInfo &info, LoweringConfigAttr config,
                                       const TilePlan &plan, TargetAttr target) const {
  int64_t bytes = 0;
  for (OpOperand *operand : rootInputs(info))
    if (llvm::is_contained(config.getPromote(), int64_t(operand->getOperandNumber())))
      bytes += config.getStages() * stageBytes(info, config, plan, target, *operand);
  return bytes;
}

int64_t ScheduleStrategy::liveBytes(const KernelInfo &info, LoweringConfigAttr config,
                                    const TilePlan &plan) const {
  return inputBytes(info, config, plan) + resultBytes(info, plan);
}

int64_t ScheduleStrategy::registers(const KernelInfo &info, LoweringConfigAttr config,
                                    const TilePlan &plan, TargetAttr target) const {
  return kAddressRegisters +
         llvm::divideCeil(liveBytes(info, config, plan), 4 * plan.threads);
}

Footprint tilewright::estimate(const KernelInfo &info,
                               LoweringConfigAttr config, const TilePlan &plan,
                               TargetAttr target) {
  const ScheduleStrategy &strategy = strategyOf(info, config, target);
  Footprint footprint;
  footprint.sharedBytes = strategy.operandBytes(info, config, plan, target);
  footprint.scratchBytes = estimateScratch(info, config, plan, target);
  // Behind the loop the ring of a single product is free for it.
  footprint.sharedBytes =
      strategy.takesTurns(info) && !target.has("typed_shared_memory")
          ? std::max(footprint.sharedBytes, footprint.scratchBytes)
          : footprint.sharedBytes + footprint.scratchBytes;
  footprint.registers = strategy.registers(info, config, plan, target);
  return footprint;
}
