// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers and shared memory of products by matrix instructions that read registers.

#include "MatrixUnit.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "Footprint.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Padding.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

int64_t tilewright::fragmentBytes(const KernelInfo &info, linalg::LinalgOp product,
                                  LoweringConfigAttr config, const TilePlan &plan,
                                  int64_t &ahead) {
  constexpr int64_t kAheadOfTwo = 20, kAhead = 32;
  const Contraction &contraction = *info.getContraction(product);
  auto instruction =
      MatrixInstruction::parse(product->getContext(), config.getMma());
  int64_t steps = 1;
  for (unsigned loop : contraction.k)
    steps *= plan.classes[info.getClasses(product)[loop]].inner;
  steps = instruction ? std::max<int64_t>(1, steps / instruction->k) : 1;
  auto bytes = [&](unsigned number, ArrayRef<unsigned> others) {
    OpOperand &operand = product->getOpOperand(number);
    int64_t result = tileElements(info, plan, operand) *
                     bytesPerElement(operand.get().getType());
    for (unsigned loop : others)
      result *= entry(config.getWarps(), loop, 1);
    return result;
  };
  // A warpgroup's instruction reads its operands out of shared memory.
  if (instruction && instruction->warpgroup)
    return bytes(2, {}) * (config.getTwoLevelSums() ? 2 : 1);
  int64_t operands = 0;
  for (auto [number, others] : {std::pair(contraction.a, ArrayRef(contraction.n)),
                                std::pair(contraction.b, ArrayRef(contraction.m))})
    if (info.isChained() ||
        llvm::is_contained(stepOperands(info), &product->getOpOperand(number)))
      operands += bytes(number, others);
  if (instruction && !instruction->opaque)
    ahead += std::min(4 * plan.threads * (steps > 2 ? kAhead : kAheadOfTwo),
                      operands * (steps - 1) / steps);
  return operands * std::min<int64_t>(2, steps) / steps + bytes(2, {});
}

static int64_t elementBits(OpOperand &operand) {
  Type type = getElementTypeOrSelf(operand.get().getType());
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

/// Whether `operand` surely goes from global to shared memory by asynchronous
/// copies of `bytes` or more: an argument whose rows are aligned, of elements that
/// are loaded as they lie: of 16 bits, or bytes with the sum along their rows.
static bool isCopied(OpOperand &operand, TargetAttr target, int64_t bytes) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  int64_t row = type.getRank() ? type.getShape().back() : 1;
  int64_t bits = elementBits(operand);
  bool asTheyLie =
      bits == 16 || (bits == 8 && runsAlongSum(operand));
  return target.has("async_copy") && isa<BlockArgument>(operand.get()) &&
         asTheyLie && !ShapedType::isDynamic(row) && row * bits % (8 * bytes) == 0;
}

bool tilewright::isRegisterStaged(const KernelInfo &info, TargetAttr target) {
  linalg::LinalgOp root = info.getRoot();
  const Contraction *contraction = info.getContraction(root);
  if (contraction && target.has("load_matrices"))
    for (linalg::LinalgOp op : info.rootProducts)
      for (unsigned number : {contraction->a, contraction->b}) {
        OpOperand &operand = op->getOpOperand(number);
        if (elementBits(operand) == 8 && !runsAlongSum(operand))
          return true;
      }
  return llvm::any_of(info.ops, [&](linalg::LinalgOp op) {
    return isFusedProducer(info, op);
  });
}

/// Bytes, over all threads, of the next step's tiles, which wait in registers
/// where copies are not asynchronous.
static int64_t stagedBytes(const KernelInfo &info, LoweringConfigAttr config,
                           const TilePlan &plan, TargetAttr target) {
  int64_t bytes = 0;
  bool copied = true;
  for (OpOperand *operand : stepOperands(info)) {
    copied &= isCopied(*operand, target, 4);
    // Beside one that waits, only the widest copies are made.
    int64_t tile = tileElements(info, plan, *operand),
            each = bytesPerElement(operand->get().getType());
    if (!isCopied(*operand, target, 16))
      bytes += tile * std::max<int64_t>(each, isReadAlone(info, *operand) ? 4 : 0);
    // Beside two products' sums there is no room for what is shifted into place.
    if (info.isDual() && hasRowsOf(info, *operand, 4) && !hasRowsOf(info, *operand, 16))
      bytes += tile * each;
  }
  return copied || config.getStages() < 2 ? 0 : bytes;
}

/// Whether the rows of windows end within a tile and are copied element by element, as
/// they may begin anywhere.
static bool isClippedAlone(const KernelInfo &info, const TilePlan &plan, OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  auto argument = dyn_cast<BlockArgument>(operand.get());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!argument || !getView(info.kernel, operandNumber(argument)))
    return false;
  auto aligned = info.kernel->getAttrOfType<DenseI64ArrayAttr>(kAlignedAttr);
  if (aligned && llvm::is_contained(aligned.asArrayRef(), operandNumber(argument)) &&
      !isReadAlone(info, operand))
    return false;
  unsigned row = info.getClasses(op)[map.getDimPosition(map.getNumResults() - 1)];
  int64_t extent = info.classes[row].extent;
  return !ShapedType::isDynamic(extent) && extent % plan.classes[row].inner;
}

/// Registers of a thread for where the elements of padded operands and of clipped windows
/// lie, and whether they are inside: each copy of a step has its own.
static int64_t checkRegisters(const KernelInfo &info, const TilePlan &plan,
                              TargetAttr target) {
  constexpr int64_t kEach = 3;
  int64_t registers = 0;
  for (OpOperand *operand : stepOperands(info)) {
    auto argument = dyn_cast<BlockArgument>(operand->get());
    bool isAlone = isClippedAlone(info, plan, *operand);
    if (!argument || (!getPadding(argument) && !isAlone))
      continue;
    int64_t element = bytesPerElement(operand->get().getType());
    int64_t bytes = tileElements(info, plan, *operand) * element;
    int64_t width = isAlone                          ? element
                    : isCopied(*operand, target, 16) ? 16
                    : isCopied(*operand, target, 4)  ? 4
                                                     : element;
    registers += kEach * llvm::divideCeil(bytes, width * plan.threads);
  }
  return registers;
}

/// Registers of a thread for what windows whose strides only a launch tells take in kernels for
/// operands of 2^31 elements and more: each copy of a step has an offset, a place and an address
/// of 64 bits of its own, and waits in registers, as it may begin anywhere.
static int64_t wideWindowRegisters(const KernelInfo &info, const TilePlan &plan) {
  constexpr int64_t kEach = 8, kWidth = 16;
  auto bits = info.kernel->getAttrOfType<IntegerAttr>(kIndexBitsAttr);
  if (!bits || bits.getInt() != 64)
    return 0;
  int64_t registers = 0;
  for (OpOperand *operand : stepOperands(info)) {
    auto argument = dyn_cast<BlockArgument>(operand->get());
    StridedLayoutAttr view =
        argument ? getView(info.kernel, operandNumber(argument)) : StridedLayoutAttr();
    if (!view || !llvm::is_contained(view.getStrides(), ShapedType::kDynamic))
      continue;
    int64_t bytes = tileElements(info, plan, *operand) *
                    bytesPerElement(operand->get().getType());
    registers += kEach * llvm::divideCeil(bytes, kWidth * plan.threads);
  }
  return registers;
}

int64_t MatrixUnit::operandBytes(const KernelInfo &info, LoweringConfigAttr config,
                                 const TilePlan &plan, TargetAttr target) const {
  int64_t bytes = 0;
  auto add = [&](OpOperand &operand, int64_t stages) {
    if (llvm::is_contained(config.getPromote(), int64_t(operand.getOperandNumber())))
      bytes += stages * stageBytes(info, config, plan, target, operand);
  };
  for (OpOperand *operand : stepOperands(info))
    add(*operand, config.getStages());
  // Of two that are chained, the steps of the first are those that are pipelined.
  if (info.isChained())
    for (linalg::LinalgOp op : llvm::drop_begin(info.getProducts()))
      for (OpOperand *operand : op.getDpsInputOperands())
        add(*operand, 1);
  return bytes;
}

bool MatrixUnit::takesTurns(const KernelInfo &info) const { return !info.isChained(); }

int64_t MatrixUnit::registers(const KernelInfo &info, LoweringConfigAttr config,
                              const TilePlan &plan, TargetAttr target) const {
  int64_t bytes = stagedBytes(info, config, plan, target), ahead = 0;
  for (linalg::LinalgOp op : info.getProducts())
    bytes += fragmentBytes(info, op, config, plan, ahead);
  return withAhead(kAddressRegisters + llvm::divideCeil(bytes, 4 * plan.threads) +
                       checkRegisters(info, plan, target) + wideWindowRegisters(info, plan),
                   ahead, plan, target);
}
