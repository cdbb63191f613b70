// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a planned kernel takes of a multiprocessor: shared memory and registers.

#include "CostModel.h"
#include "Enumerate.h"
#include "tilewright/Configure/TilePlan.h"
#include "tilewright/Dialect/Packed.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Padding.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tilewright;

/// Elements of the tile that `operand`'s map selects.
static int64_t tileElements(const KernelInfo &info, const TilePlan &plan,
                            OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  int64_t elements = 1;
  for (unsigned i = 0, e = map.getNumResults(); i < e; ++i)
    elements *= plan.classes[info.getClasses(op)[map.getDimPosition(i)]].inner;
  return elements;
}

/// Rows of `operand`'s tile in shared memory: along either dim for matrix
/// instructions, else one for each iteration of the summed loops.
static int64_t sharedRows(const KernelInfo &info, LoweringConfigAttr config,
                          const TilePlan &plan, OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  std::optional<Contraction> contraction = matchContraction(op);
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

/// Bytes of registers, over all threads, of a matrix product by instructions: the
/// accumulators, and the factors' fragments for two steps of the instruction.
/// Warps in a row read the same part of A, warps in a column the same of B. `ahead` gets
/// what is added for fragments of later steps of a slot, which ptxas reads early where
/// it has registers left: counted of the suites' kernels, 20 registers where a slot
/// has two steps, 32 where it has more (perf/static/plans).
static int64_t fragmentBytes(const KernelInfo &info, linalg::LinalgOp product,
                             LoweringConfigAttr config, const TilePlan &plan,
                             int64_t &ahead) {
  constexpr int64_t kAheadOfTwo = 20, kAhead = 32;
  Contraction contraction = *matchContraction(product);
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
  // A warpgroup's instruction reads its factors out of shared memory.
  if (instruction && instruction->warpgroup)
    return bytes(2, {}) * (config.getTwoLevelSums() ? 2 : 1);
  int64_t factors =
      bytes(contraction.a, contraction.n) + bytes(contraction.b, contraction.m);
  if (instruction && !instruction->opaque)
    ahead += std::min(4 * plan.threads * (steps > 2 ? kAhead : kAheadOfTwo),
                      factors * (steps - 1) / steps);
  return factors * std::min<int64_t>(2, steps) / steps + bytes(2, {});
}

static int64_t elementBits(OpOperand &operand) {
  Type type = getElementTypeOrSelf(operand.get().getType());
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

/// Whether `operand` surely goes from global to shared memory by asynchronous
/// copies of `bytes` or more: an argument whose rows are aligned, of elements that
/// are loaded as they lie: of 16 bits, or bytes with the sum along their rows.
static bool isCopied(OpOperand &operand, const Contraction &contraction,
                     TargetAttr target, int64_t bytes) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  int64_t row = type.getRank() ? type.getShape().back() : 1;
  int64_t bits = elementBits(operand);
  bool asTheyLie =
      bits == 16 || (bits == 8 && runsAlongSum(operand));
  return target.has("async_copy") && isa<BlockArgument>(operand.get()) &&
         asTheyLie && !ShapedType::isDynamic(row) && row * bits % (8 * bytes) == 0;
}

bool tilewright::waitsInRegisters(const KernelInfo &info, TargetAttr target) {
  linalg::LinalgOp root = info.getRoot();
  std::optional<Contraction> contraction = matchContraction(root);
  if (contraction && target.has("load_matrices"))
    for (unsigned number : {contraction->a, contraction->b}) {
      OpOperand &operand = root->getOpOperand(number);
      if (elementBits(operand) == 8 && !runsAlongSum(operand))
        return true;
    }
  return llvm::any_of(info.ops, [&](linalg::LinalgOp op) {
    return computesFactor(info, op);
  });
}

/// Bytes, over all threads, of the next step's tiles, which wait in registers
/// where copies are not asynchronous.
static int64_t stagedBytes(const KernelInfo &info, linalg::LinalgOp product,
                           LoweringConfigAttr config, const TilePlan &plan,
                           TargetAttr target) {
  Contraction contraction = *matchContraction(product);
  int64_t bytes = 0;
  bool copied = true;
  for (unsigned number : {contraction.a, contraction.b}) {
    OpOperand &operand = product->getOpOperand(number);
    copied &= isCopied(operand, contraction, target, 4);
    // Beside one that waits, only the widest copies are made.
    if (!isCopied(operand, contraction, target, 16))
      bytes += tileElements(info, plan, operand) *
               bytesPerElement(operand.get().getType());
  }
  return copied || config.getStages() < 2 ? 0 : bytes;
}

/// Registers of a thread for where the elements of padded factors lie, and whether they
/// are inside: each copy of a step has its own.
static int64_t paddedRegisters(const KernelInfo &info, linalg::LinalgOp product,
                               const TilePlan &plan, TargetAttr target) {
  constexpr int64_t kEach = 3;
  Contraction contraction = *matchContraction(product);
  int64_t registers = 0;
  for (unsigned number : {contraction.a, contraction.b}) {
    OpOperand &operand = product->getOpOperand(number);
    auto argument = dyn_cast<BlockArgument>(operand.get());
    if (!argument || !getPadding(argument))
      continue;
    int64_t element = bytesPerElement(operand.get().getType());
    int64_t bytes = tileElements(info, plan, operand) * element;
    int64_t width = isCopied(operand, contraction, target, 16)  ? 16
                    : isCopied(operand, contraction, target, 4) ? 4
                                                                : element;
    registers += kEach * llvm::divideCeil(bytes, width * plan.threads);
  }
  return registers;
}

/// Bytes of one slot of `operand`'s tile in shared memory: rows are padded
/// against bank conflicts by 16 bytes, or swizzled in blocks.
static int64_t slotBytes(const KernelInfo &info, LoweringConfigAttr config,
                         const TilePlan &plan, TargetAttr target,
                         OpOperand &operand) {
  constexpr int64_t kSwizzleBlock = 4096;
  int64_t element = bytesPerElement(operand.get().getType());
  int64_t bytes = tileElements(info, plan, operand) * element;
  if (config.isWarpSpecialized())
    return bytes;
  int64_t padded = bytes + 16 * sharedRows(info, config, plan, operand);
  if (config.getMma() && target.has("load_matrices") && element <= 2)
    return std::min(padded, int64_t(llvm::alignTo(bytes, kSwizzleBlock)));
  return padded;
}

/// Bytes of the ring that hold what an operand in registers is computed from.
static int64_t rawBytes(const KernelInfo &info, LoweringConfigAttr config,
                        const TilePlan &plan, TargetAttr target) {
  Contraction product = *matchOriented(info.getRoot(), config);
  std::optional<MatrixLoops> loops = findMatrixLoops(product, config);
  if (!loops || !hasAInRegisters(config, product))
    return 0;
  OpOperand *operand = copiedOperand(info, product.a, product, *loops);
  if (!operand)
    return 0;
  bool isPacked = bytesOf(operand->get()) != operand->get();
  int64_t bytes =
      slotBytes(info, config, plan, target, *operand) / (isPacked ? 2 : 1);
  // Scales and zero points of groups along the sum, a row of them a step.
  ArrayRef<unsigned> root = info.getClasses(info.getRoot());
  for (linalg::LinalgOp op : info.ops) {
    if (!computesFactor(info, op))
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

/// Bytes of shared memory for the operands that 'promote' names, and for the results that
/// copy engines store out of it.
static int64_t operandBytes(const KernelInfo &info, LoweringConfigAttr config,
                            const TilePlan &plan, TargetAttr target) {
  if (chainedProduct(info, config)) {
    auto loops = findMatrixLoops(*matchOriented(info.getRoot(), config), config);
    return loops ? chainedBytes(info, config, *loops) + storeBytes(info, config) : 0;
  }
  // Of two products, the steps of the first are those that are pipelined.
  SmallVector<linalg::LinalgOp> products{info.getRoot()};
  if (config.getMma())
    products = info.getProducts();
  int64_t bytes = 0;
  for (int64_t number : config.getPromote())
    for (linalg::LinalgOp op : products)
      if (plan.subgroup > 1 && number < op->getNumOperands())
        bytes += (op == products.front() ? config.getStages() : 1) *
                 slotBytes(info, config, plan, target, op->getOpOperand(number));
  // A barrier in memory for a full, one for an empty stage.
  if (config.isWarpSpecialized())
    bytes += 16 * config.getStages() + storeBytes(info, config) +
             rawBytes(info, config, plan, target);
  return bytes;
}

std::pair<double, double> tilewright::threadTile(const KernelInfo &info,
                                                 LoweringConfigAttr config,
                                                 const TilePlan &plan) {
  Contraction contraction = *matchContraction(info.getRoot());
  auto perWarp = [&](ArrayRef<unsigned> loops) {
    int64_t product = 1;
    for (unsigned loop : loops)
      product *= std::max<int64_t>(
          1, plan.classes[info.getClasses(info.getRoot())[loop]].inner /
                 entry(config.getWarps(), loop, 1));
    return product;
  };
  int64_t m = perWarp(contraction.m), n = perWarp(contraction.n);
  int64_t elements = std::max<int64_t>(1, m * n / plan.subgroup);
  std::pair<double, double> best{1, 1};
  double least = 3;
  for (int64_t rows = 1; rows <= elements; rows *= 2) {
    int64_t columns = elements / rows;
    double loads = 1.0 / rows + 1.0 / columns;
    if (m % rows || n % columns || loads >= least)
      continue;
    least = loads;
    best = {double(rows), double(columns)};
  }
  return best;
}

/// Registers beside those of addresses, of a thread that multiplies its rows and columns
/// of promoted tiles: its sums, and the more of what it reads of a step, as it is unrolled,
/// and of what it moves to shared memory, of the next step if that is under way.
static int64_t threadRegisters(const KernelInfo &info, LoweringConfigAttr config,
                               const TilePlan &plan) {
  constexpr double kUnrolled = 1.6, kMoved = 0.8, kMovedAhead = 1.4;
  linalg::LinalgOp root = info.getRoot();
  Contraction product = *matchContraction(root);
  auto [rows, columns] = threadTile(info, config, plan);
  double words =
      bytesPerElement(root.getDpsInits().front().getType()) / 4.0, moved = 0;
  for (unsigned number : {product.a, product.b})
    moved += double(tileElements(info, plan, root->getOpOperand(number))) *
             bytesPerElement(root->getOperand(number).getType());
  moved *= (config.getStages() > 1 ? kMovedAhead : kMoved) / (4.0 * plan.threads);
  return std::ceil(rows * columns * words +
                   std::max(kUnrolled * (rows + columns) * words, moved));
}

/// Whether rows of a reduction stay in registers, as widened to its sums, for the ops
/// behind it.
static bool holdsRows(const KernelInfo &info, const TilePlan &plan) {
  if (info.strategy != Strategy::Reduction)
    return false;
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

Footprint tilewright::estimate(const KernelInfo &info,
                               LoweringConfigAttr config, const TilePlan &plan,
                               TargetAttr target) {
  Footprint footprint;
  SmallVector<linalg::LinalgOp> products{info.getRoot()};
  if (config.getMma())
    products = info.getProducts();
  footprint.sharedBytes = operandBytes(info, config, plan, target);
  footprint.scratchBytes = estimateScratch(info, config, plan, target);
  // Behind the loop the ring of a single product is free for it.
  bool takesTurns = !config.isWarpSpecialized() && products.size() == 1 &&
                    !target.has("typed_shared_memory");
  footprint.sharedBytes =
      takesTurns ? std::max(footprint.sharedBytes, footprint.scratchBytes)
                 : footprint.sharedBytes + footprint.scratchBytes;

  // Values that live at once: the result tiles of the root and, where operands
  // come from registers, one slice of them along each sequential loop.
  // Addresses and indices take a few more.
  int64_t bytes = 0, results = 0, ahead = 0;
  for (OpOperand &init : info.getRoot().getDpsInitsMutable())
    results += tileElements(info, plan, init) * bytesPerElement(init.get().getType());
  int64_t held = holdsRows(info, plan)
                     ? bytesPerElement(info.getRoot().getDpsInits()[0].getType())
                     : 0;
  for (OpOperand *input : info.getRoot().getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType())) {
      int64_t own = tileElements(info, plan, *input) *
                    std::max(bytesPerElement(input->get().getType()), held);
      if (llvm::is_contained(config.getPromote(),
                             int64_t(input->getOperandNumber())))
        own = own / 8;
      bytes += own;
    }
  // What is computed element by element takes the place of what it is computed from.
  bytes =
      info.strategy == Strategy::Streaming ? std::max(bytes, results) : bytes + results;
  if (config.getMma()) {
    bytes = config.isWarpSpecialized()
                ? 0
                : stagedBytes(info, products.front(), config, plan, target);
    if (chainedProduct(info, config)) {
      auto loops = findMatrixLoops(*matchOriented(info.getRoot(), config), config);
      bytes = loops ? 4 * plan.threads * chainedSums(config, *loops) : 0;
    } else {
      for (linalg::LinalgOp op : products)
        bytes += fragmentBytes(info, op, config, plan, ahead);
    }
  }
  // Sums over several steps keep an accumulator per element of the tile.
  if (config.getStrategy() == Strategy::SkinnyContraction) {
    int64_t elements = 1;
    for (unsigned number : info.getClasses(info.getRoot()))
      elements *= plan.classes[number].inner;
    // A factor that is computed is there as it was read, converted, and widened.
    bool computed = llvm::any_of(info.ops, [&](linalg::LinalgOp op) {
      return computesFactor(info, op);
    });
    // Along the sums, a thread has as many elements of the smaller factor beside them.
    bool beside = plan.subgroup > 1 &&
                  runsAlongSum(largerFactor(info, *matchProduct(info.getRoot())));
    bytes += elements * (computed ? 4 : beside ? 2 : 1) *
             bytesPerElement(info.getRoot().getDpsInits()[0].getType());
  }
  if (plan.subgroup > 1 && !config.getMma() && !config.getPromote().empty() &&
      matchContraction(info.getRoot()))
    footprint.registers = 24 + threadRegisters(info, config, plan);
  else if (plan.subgroup > 1)
    footprint.registers = 24 + llvm::divideCeil(bytes, 4 * plan.threads);
  else
    footprint.registers =
        1 + llvm::divideCeil(bytes, target.getFact("vector_bytes", 32));
  if (config.getMma() && !config.isWarpSpecialized())
    footprint.registers += paddedRegisters(info, products.front(), plan, target);
  int64_t left =
      std::max<int64_t>(0, target.getFact("registers", 255) - footprint.registers);
  footprint.registers += std::min(left, ahead / (4 * plan.threads));
  return footprint;
}
