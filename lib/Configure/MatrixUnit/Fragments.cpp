// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers and shared memory of products by matrix instructions that read registers.

#include "MatrixUnit.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "Footprint.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Float8.h"
#include "tilewright/Dialect/Padding.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

int64_t tilewright::fragmentBytes(const KernelInfo &info, linalg::LinalgOp product,
                                  LoweringConfigAttr config, const TilePlan &plan,
                                  int64_t &ahead, int64_t held) {
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
  // Hopper's warps multiply 8-bit floats as f16, to which ptxas 13.0 converts fragments: twice as
  // many registers beside them.
  TargetAttr target = getTarget(info.kernel);
  if (target && target.has("multicast") && instruction && isFloat8(instruction->operands[0]))
    operands *= 3;
  int64_t two = operands * std::min<int64_t>(2, steps) / steps,
          kept = operands * std::min(held, steps) / steps;
  if (instruction && !instruction->opaque)
    ahead += two - kept + std::min(4 * plan.threads * (steps > 2 ? kAhead : kAheadOfTwo),
                                   operands * (steps - 1) / steps);
  return kept + bytes(2, {});
}

/// Bytes, over all threads, of the next step's tiles, which wait in registers
/// where copies are not asynchronous.
static int64_t stagedBytes(const KernelInfo &info, LoweringConfigAttr config,
                           const TilePlan &plan, TargetAttr target) {
  int64_t bytes = 0;
  bool copied = true;
  for (OpOperand *operand : stepOperands(info)) {
    int64_t copy = copyBytes(info, plan, *operand, target);
    copied &= copy > 0;
    // Beside one that waits, only the widest copies are made.
    int64_t tile = tileElements(info, plan, *operand),
            each = bytesPerElement(operand->get().getType());
    if (copy < 16)
      bytes += tile * std::max<int64_t>(each, isReadAlone(info, *operand) ? 4 : 0);
    // Beside two products' sums there is no room for what is shifted into place.
    if (info.isDual() && hasRowsOf(info, *operand, 4) && !hasRowsOf(info, *operand, 16))
      bytes += tile * each;
  }
  return copied || config.getStages() < 2 ? 0 : bytes;
}

/// Registers of a thread in which 8-bit floats become what is multiplied: the 16 of a load have
/// two temporaries each, where they are not halves with eight bits cut off.
static int64_t convertedRegisters(const KernelInfo &info) {
  constexpr int64_t kOfLoad = 32;
  auto isExpanded = [](OpOperand *input) {
    Type type = getElementTypeOrSelf(input->get().getType());
    return isFloat8(type) && !isa<Float8E5M2Type>(type);
  };
  for (linalg::LinalgOp op : info.ops)
    if (isFusedProducer(info, op) && llvm::any_of(op.getDpsInputOperands(), isExpanded))
      return kOfLoad;
  return 0;
}

/// Registers of a thread for addresses of bytes and words, where only a launch tells how far apart
/// rows are: each copy is of a row of its own. What is transposed in registers has two addresses,
/// one in either memory. Of 16 bits, a step has few copies.
static int64_t rowRegisters(const KernelInfo &info, const TilePlan &plan, TargetAttr target) {
  constexpr int64_t kAddress = 2, kWidest = 16;
  int64_t registers = 0;
  for (OpOperand *operand : stepOperands(info)) {
    auto type = cast<RankedTensorType>(operand->get().getType());
    int64_t each = bytesPerElement(type);
    bool isTransposed = !runsAlongSum(*operand);
    if (!isa<BlockArgument>(operand->get()) || !type.getRank() ||
        (each != 4 && (each != 1 || !isTransposed)) ||
        !ShapedType::isDynamicShape(type.getShape().drop_front()))
      continue;
    int64_t copied = isTransposed ? 0 : copyBytes(info, plan, *operand, target);
    registers += kAddress * (isTransposed ? 2 : 1) *
                 llvm::divideCeil(tileElements(info, plan, *operand) * each,
                                  (copied ? copied : kWidest) * plan.threads);
  }
  return registers;
}

/// Whether the rows of windows end within a tile and are copied element by element, as
/// they may begin anywhere.
static bool isClippedAlone(const KernelInfo &info, const TilePlan &plan, OpOperand &operand,
                           TargetAttr target) {
  auto argument = dyn_cast<BlockArgument>(operand.get());
  if (!argument || !getView(info.kernel, operandNumber(argument)) ||
      copyBytes(info, plan, operand, target))
    return false;
  unsigned row = info.getClasses(operand).back();
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
    auto op = cast<linalg::LinalgOp>(operand->getOwner());
    bool isAlone = isClippedAlone(info, plan, *operand, target);
    if (!argument || (!getPadding(argument) && !isAlone))
      continue;
    int64_t element = bytesPerElement(operand->get().getType());
    int64_t bytes = tileElements(info, plan, *operand) * element;
    // Elements of a row are all there, or none, where nothing ends along it.
    std::optional<Padding> padding = getPadding(operand->get());
    int64_t row = op.getMatchingIndexingMap(operand).getNumResults() - 1;
    bool endsInRow = isAlone || padding->constrains(row);
    int64_t width = endsInRow ? element : 16;
    registers += kEach * llvm::divideCeil(bytes, width * plan.threads);
  }
  return registers;
}

/// Whether rows of `operand`'s tile are apart by what only a launch tells: along a dim of open
/// size, or by open strides.
static bool isOpenWindow(const KernelInfo &info, const TilePlan &plan, OpOperand &operand) {
  auto argument = dyn_cast<BlockArgument>(operand.get());
  StridedLayoutAttr view =
      argument ? getView(info.kernel, operandNumber(argument)) : StridedLayoutAttr();
  if (!view)
    return false;
  return llvm::is_contained(view.getStrides(), ShapedType::kDynamic) ||
         llvm::any_of(info.getClasses(operand), [&](unsigned number) {
           return plan.classes[number].inner > 1 &&
                  ShapedType::isDynamic(info.classes[number].extent);
         });
}

/// Registers of a thread for what open windows take that may begin anywhere: each copy of a step
/// waits in registers, and has an offset, a place and an address of its own, of 64 bits each in
/// kernels for operands of 2^31 elements and more.
static int64_t openWindowRegisters(const KernelInfo &info, const TilePlan &plan) {
  constexpr int64_t kWidth = 16;
  int64_t each = getIndexBits(info.kernel) == 64 ? 8 : 3;
  int64_t registers = 0;
  for (OpOperand *operand : stepOperands(info)) {
    if (!isOpenWindow(info, plan, *operand))
      continue;
    int64_t bytes = tileElements(info, plan, *operand) *
                    bytesPerElement(operand->get().getType());
    registers += each * llvm::divideCeil(bytes, kWidth * plan.threads);
  }
  return registers;
}

/// Bytes, over all threads, of the sums and of what meets them behind the loop out of rows that
/// may begin anywhere (a residual), which is read element by element. ptxas reads it piece by
/// piece, but not beside addresses of open windows or of 64 bits: 0 where there are none.
static int64_t bytesBehindSums(const KernelInfo &info, const TilePlan &plan) {
  constexpr int64_t kRegister = 4;
  if (getIndexBits(info.kernel) != 64 && llvm::none_of(stepOperands(info), [&](OpOperand *operand) {
        return isOpenWindow(info, plan, *operand);
      }))
    return 0;
  int64_t bytes = 0;
  ArrayRef<linalg::LinalgOp> products = info.getProducts();
  for (linalg::LinalgOp op : info.ops) {
    if (llvm::is_contained(products, op) || isFusedProducer(info, op))
      continue;
    for (OpOperand *input : op.getDpsInputOperands())
      if (isa<BlockArgument>(input->get()) && isReadAlone(info, *input))
        bytes += kRegister * tileElements(info, plan, *input);
  }
  if (bytes)
    bytes += kRegister * tileElements(info, plan, info.getRoot()->getOpOperand(2));
  return bytes;
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
  // A ring reads each step's fragments while it multiplies those of the last one; what is
  // computed or transposed on its way takes as much in between.
  int64_t held = bytes && !isRegisterStaged(info, target) ? 1 : 2;
  for (linalg::LinalgOp op : info.getProducts())
    bytes += fragmentBytes(info, op, config, plan, ahead, held);
  int64_t addresses = isOneStep(info, plan) ? kPlaceRegisters : kAddressRegisters;
  int64_t inLoop = addresses + llvm::divideCeil(bytes, 4 * plan.threads) +
                   convertedRegisters(info) + checkRegisters(info, plan, target) +
                   rowRegisters(info, plan, target) + openWindowRegisters(info, plan);
  int64_t behind = addresses + llvm::divideCeil(bytesBehindSums(info, plan), 4 * plan.threads);
  return std::max(withAhead(inLoop, ahead, plan, target), behind);
}
