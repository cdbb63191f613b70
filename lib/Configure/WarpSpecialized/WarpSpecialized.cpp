// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels with roles of warps have in common: their ring of stages in shared memory,
// and registers. See WarpSpecialized.h.

#include "WarpSpecialized.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "Footprint.h"
#include "tilewright/Configure/Streams.h"
#include "tilewright/Dialect/Packed.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

Refusal RoleStrategy::checkPlan(const KernelInfo &info, LoweringConfigAttr config,
                                TargetAttr target) const {
  if (!config.getMma())
    return refuse(Refused::Config, "strategy warp_specialized needs 'mma', an instruction of "
                                   "warpgroups or warps");
  if (Refusal why = whyNotStreamed(info, config))
    return why;
  return InstructionStrategy::checkPlan(info, config, target);
}

/// Bytes of a stage: tiles lie as descriptors and copy engines have them, without padding.
static int64_t tileBytes(const KernelInfo &info, const TilePlan &plan,
                         OpOperand &operand) {
  return tileElements(info, plan, operand) * bytesPerElement(operand.get().getType());
}

/// Bytes of the ring that hold what an operand in registers is computed from.
static int64_t rawBytes(const KernelInfo &info, LoweringConfigAttr config,
                        const TilePlan &plan) {
  Contraction product = *info.getOriented(config);
  std::optional<MatrixLoops> loops = findMatrixLoops(product, config);
  if (!loops || !hasAInRegisters(config, product))
    return 0;
  OpOperand *operand = copiedOperand(info, product.a, product, *loops);
  if (!operand)
    return 0;
  bool isPacked = bytesOf(operand->get()) != operand->get();
  int64_t bytes = tileBytes(info, plan, *operand) / (isPacked ? 2 : 1);
  // Scales and zero points of groups along the sum, a row of them a step.
  ArrayRef<unsigned> root = info.getClasses(info.getRoot());
  for (linalg::LinalgOp op : info.ops) {
    if (!isFusedProducer(info, op))
      continue;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      auto runsOver = [&](unsigned number) {
        return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
          return info.getClasses(op)[cast<AffineDimExpr>(expr).getPosition()] == number;
        });
      };
      bool isOfGroup = llvm::any_of(product.k, [&](unsigned loop) {
        return loop != loops->k && runsOver(root[loop]);
      });
      if (input != operand && isa<BlockArgument>(bytesOf(input->get())) && isOfGroup &&
          runsOver(root[loops->m]) && !runsOver(root[loops->k]))
        bytes += llvm::alignTo(config.getBlock()[loops->m] *
                                   bytesPerElement(input->get().getType()),
                               128);
    }
  }
  return config.getStages() * bytes;
}

int64_t RoleStrategy::operandBytes(const KernelInfo &info, LoweringConfigAttr config,
                                   const TilePlan &plan, TargetAttr target) const {
  if (chainedProduct(info, config)) {
    auto loops = findMatrixLoops(*info.getOriented(config), config);
    return loops ? chainedBytes(info, config, *loops) + storeBytes(info, config) : 0;
  }
  // A barrier in memory for a full, one for an empty stage.
  int64_t bytes = 16 * config.getStages() + storeBytes(info, config) +
                  rawBytes(info, config, plan);
  for (OpOperand *operand : rootInputs(info))
    if (llvm::is_contained(config.getPromote(), int64_t(operand->getOperandNumber())))
      bytes += config.getStages() * tileBytes(info, plan, *operand);
  return bytes;
}

bool RoleStrategy::isMovedByEngine(const KernelInfo &info, LoweringConfigAttr config,
                                   OpOperand &operand) const {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  auto loops = findMatrixLoops(*info.getOriented(config), config);
  if (!loops)
    return false;
  bool isStored = config.getTmaStore() && op.isDpsInit(&operand) &&
                  llvm::is_contained(info.results, op.getTiedOpResult(&operand)) &&
                  hasTileShape(info, op.getTiedOpResult(&operand), *loops) &&
                  (!op.payloadUsesValueFromOperand(&operand) ||
                   operand.get().getDefiningOp<linalg::FillOp>());
  return isStored || isLoadedTile(info, config, operand, *loops);
}

int64_t RoleStrategy::registers(const KernelInfo &info, LoweringConfigAttr config,
                                const TilePlan &plan, TargetAttr target) const {
  int64_t bytes = 0, ahead = 0;
  if (chainedProduct(info, config)) {
    auto loops = findMatrixLoops(*info.getOriented(config), config);
    bytes = loops ? 4 * plan.threads * chainedSums(config, *loops) : 0;
  } else {
    for (linalg::LinalgOp op : info.getProducts())
      bytes += fragmentBytes(info, op, config, plan, ahead);
  }
  return withAhead(kAddressRegisters + llvm::divideCeil(bytes, 4 * plan.threads), ahead,
                   plan, target);
}
