// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether an operand of a product is computed on its way into the product's tiles. Every
// block that reads an element computes it, and holds it in registers, which
// asynchronous copies need not:
//
//   readers * (operations + kStaging)  <=  operations per byte of memory * bytes saved
//
// Saved is what the operand would have been written and read back. Example: 4096 x 4096
// weights of i8, cast to f16. 2 + 2 bytes are saved for each element, worth 32
// operations; a cast takes one, and three to go through registers: computed with up to
// 8 rows of blocks, that is 1024 rows of the result.
//
// Where sizes are dynamic, nobody knows how many blocks there will be. What is smaller in
// memory than the operand (weights) is computed: a few rows are then faster by as much as
// it is smaller, and many rows slower by what converting costs next to multiplying.
//
// An operand whose rows are reduced first (a norm) takes a pass over the rows of the block's
// tile for each reduction after another; what all blocks of a multiprocessor need for that
// and for normalising stands against a kernel of its own:
//
//   waves * rows * k * max(operations / lanes, bytes read again / port)
//     <=  launch + bytes written and read back / bandwidth
//
// CPUs compute an operand while they pack it, or where it is read once (one row), by the same
// figures; only what is smaller in memory, as others are read where they lie.

#include "Bound.h"
#include "CostModel.h"
#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Configure/Splits.h"
#include "tilewright/Configure/TileFusion.h"
#include "tilewright/Configure/TransposedOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

/// What it takes to bring an element into shared memory by way of registers.
static constexpr int64_t kStaging = 3;
/// The most rows or columns of a tile.
static constexpr int64_t kTile = 128;

int64_t tilewright::operationsOf(Operation &op) {
  if (op.hasTrait<OpTrait::IsTerminator>() || isa<linalg::IndexOp>(op) ||
      matchPattern(&op, m_Constant()))
    return 0;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
          arith::RemSIOp, arith::RemUIOp, math::SqrtOp, math::RsqrtOp>(op))
    return 8;
  if (isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::FloorOp, math::CeilOp,
          math::RoundEvenOp>(op))
    return 1;
  return isa<math::MathDialect>(op.getDialect()) ? 24 : 1;
}

/// Blocks that read the same element of `operand`, if dynamic extents are `nominal`.
static int64_t readersOf(linalg::LinalgOp product, OpOperand *operand,
                         int64_t nominal, bool &assumed) {
  AffineMap map = product.getMatchingIndexingMap(operand);
  int64_t readers = 1, longest = 1;
  for (auto [loop, extent] : llvm::enumerate(product.getStaticLoopRanges())) {
    if (map.isFunctionOfDim(loop) ||
        product.getIteratorTypesArray()[loop] != utils::IteratorType::parallel)
      continue;
    // The loop that counts the parts of a split sum does not repeat anything.
    if (product->hasAttr(kSplitAttr) && loop + 1 == product.getNumLoops())
      continue;
    bool isDynamic = ShapedType::isDynamic(extent);
    assumed |= isDynamic;
    int64_t count = isDynamic ? nominal : std::max<int64_t>(extent, 1);
    longest = std::max(longest, count);
    if (llvm::MulOverflow(readers, count, readers))
      return std::numeric_limits<int32_t>::max();
  }
  // A tile has many of one loop, one of the others.
  return llvm::divideCeil(readers, std::min(longest, kTile));
}

/// Whether a dual product, which warpgroups multiply out of memory alone, loses more without
/// them than a kernel of its own costs that computes the shared `operand`.
static bool needsWarpgroups(OpOperand &operand, TargetAttr target) {
  double elements = 1;
  auto type = cast<RankedTensorType>(operand.get().getType());
  for (int64_t extent : type.getShape())
    elements *= double(ShapedType::isDynamic(extent) ? kNominal : extent);
  const ChipFacts &chip = chipOf(target);
  double apart = chip.kernelMicroseconds +
                 2 * elements * double(bytesPerElement(type)) / chip.memoryBytes / chip.clockMhz;
  std::optional<double> lost = lostByWarps(cast<linalg::LinalgOp>(operand.getOwner()), target);
  return !lost || *lost > apart;
}

OrRefusal<std::string> tilewright::mayFuseProducers(ArrayRef<linalg::LinalgOp> producers,
                                                    linalg::LinalgOp product, unsigned number,
                                                    unsigned products, TargetAttr target) {
  if (!target)
    return refuse(Refused::Target, "the target is not known");
  if (!matchProduct(product))
    return refuse(Refused::NotContraction, "what reads it is no plain product");
  if (llvm::any_of(producers, isAddedCopy))
    return refuse(Refused::Unrelated, "");
  // A pinned config that leaves an operand to registers has it computed there.
  auto pinned = product->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  bool isAsked = pinned && pinned.isWarpSpecialized() &&
                 !llvm::is_contained(pinned.getPromote(), int64_t(number));
  if ((product->hasAttr(kConfigAttr) && !isAsked) ||
      llvm::any_of(producers, [](linalg::LinalgOp op) { return op->hasAttr(kConfigAttr); }))
    return refuse(Refused::Pinned, "a lowering config is pinned on it or on the product");
  std::string what = "operand " + std::to_string(number) + " of the product";
  if (isAsked)
    return what + " is computed in registers, as the pinned config says";
  OpOperand *operand = product.getDpsInputOperand(number);
  Type element = getElementTypeOrSelf(operand->get().getType());
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  int64_t operations = 0, read = 0;
  for (linalg::LinalgOp op : producers) {
    for (Operation &inner : *op.getBlock())
      operations += operationsOf(inner);
    for (OpOperand *input : op.getDpsInputOperands())
      if (auto type = dyn_cast<RankedTensorType>(input->get().getType());
          type && type.getRank() == int64_t(op.getNumLoops()))
        read += llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  }
  if (target.getFact("subgroup", 1) <= 1 && read >= bytes)
    return refuse(Refused::NotProfitable, "on CPUs, operands of products that take no less to "
                                          "read than the operand are computed once, before");
  if (target.getFact("subgroup", 1) <= 1 && matchProduct(product)->k.size() > 2)
    return refuse(Refused::NotContraction,
                  "on CPUs, operands of products that sum over more than two loops are computed "
                  "once, before: these are not packed");
  // More bytes than the operand has are read again by each block, out of a cache.
  int64_t more = std::max<int64_t>(0, read - bytes) * 2;
  bool assumed = false;
  int64_t readers =
      readersOf(product, operand, read < bytes ? kTile : kNominal, assumed);
  int64_t cost = readers * (operations + kStaging + more);
  int64_t worth = 2 * bytes * int64_t(chipOf(target).operationsPerByte);
  bool pays = cost <= worth;
  if (pays && products > 1 && needsWarpgroups(*operand, target))
    return refuse(Refused::NotProfitable,
                  "computing " + what +
                      " on its way into the tiles does not pay: warps would "
                      "multiply two products of it, and not warpgroups");
  std::string each = std::to_string(operations + kStaging + more);
  std::string numbers =
      std::to_string(readers) + (readers == 1 ? " block reads" : " blocks read") +
      (assumed ? " (assumed)" : "") + " an element, each for the time of " + each +
      " operations; writing it and reading it back takes the time of " +
      std::to_string(worth);
  if (pays)
    return what + " is computed on its way into the tiles and never written: " + numbers;
  return refuse(Refused::NotProfitable,
                "computing " + what + " on its way into the tiles does not pay: " + numbers);
}

//===----------------------------------------------------------------------===//
// Operands whose rows are reduced first
//===----------------------------------------------------------------------===//

namespace {
/// What each element of an operand takes of a block that normalises its rows.
struct RowWork {
  int64_t operations = 0, bytes = 0, passes = 0;
};
} // namespace

static RowWork countRows(ArrayRef<linalg::LinalgOp> producers, int64_t rank) {
  RowWork work;
  work.operations = kStaging;
  llvm::SmallDenseSet<Value> ofRows;
  for (linalg::LinalgOp op : producers) {
    bool reduces = op.getNumReductionLoops() != 0;
    if (reduces || int64_t(op.getNumLoops()) < rank)
      ofRows.insert(op->result_begin(), op->result_end());
    if (int64_t(op.getNumLoops()) < rank)
      continue;
    auto once = bodyOfRows(
        op, [&](OpOperand &input) { return ofRows.contains(input.get()); });
    for (Operation &inner : *op.getBlock())
      work.operations += once.contains(&inner) ? 0 : operationsOf(inner);
    work.passes += reduces;
    if (reduces)
      for (OpOperand *input : op.getDpsInputOperands())
        if (auto type = dyn_cast<RankedTensorType>(input->get().getType());
            type && type.getRank() == rank)
          work.bytes += llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  }
  return work;
}

OrRefusal<std::string> tilewright::mayFuseNorm(ArrayRef<linalg::LinalgOp> producers,
                                               linalg::LinalgOp product, unsigned number,
                                               unsigned products, TargetAttr target) {
  OpOperand *operand = product.getDpsInputOperand(number);
  std::string what = "operand " + std::to_string(number) + " of the product";
  auto fail = [&](Refused kind, const Twine &why) {
    return refuse(kind, "the rows of " + what + " are not reduced in its kernel: " + why);
  };
  std::optional<Contraction> contraction = matchContraction(product);
  if (!target || !contraction)
    return fail(Refused::NotContraction, "what reads it is no plain product");
  if (target.getFact("subgroup", 1) <= 1)
    return fail(Refused::Target, "on CPUs, a launch costs less than reading them again");
  if (product->hasAttr(kSplitAttr))
    return fail(Refused::Config,
                "the product is computed in parts, and each would need all of its rows");
  if (product->hasAttr(kConfigAttr) || llvm::any_of(producers, [](linalg::LinalgOp op) {
        return op->hasAttr(kConfigAttr);
      }))
    return fail(Refused::Pinned, "a lowering config is pinned on it or on the product");
  if (isSkinny(product, *contraction))
    return fail(Refused::Extents,
                "the product has so few rows or columns that threads share its sums");
  bool assumed = false;
  double rows = 1, columns = 1, length = 1;
  AffineMap map = product.getMatchingIndexingMap(operand);
  for (auto [loop, extent, type] :
       llvm::enumerate(product.getStaticLoopRanges(), product.getIteratorTypesArray())) {
    bool isSum = type == utils::IteratorType::reduction;
    if (isSum && ShapedType::isDynamic(extent))
      return fail(Refused::DynamicExtents, "how long they are is not known before the launch");
    assumed |= ShapedType::isDynamic(extent);
    double count = ShapedType::isDynamic(extent) ? kNominal : std::max<int64_t>(extent, 1);
    (isSum ? length : map.isFunctionOfDim(loop) ? rows : columns) *= count;
  }

  // Tiles that fill a multiprocessor each.
  constexpr double kRows = 64, kIssued = 128;
  const ChipFacts &chip = chipOf(target);
  RowWork work = countRows(producers, map.getNumResults());
  double blocks = std::ceil(rows / kRows) * std::ceil(columns / kTile);
  double waves = std::ceil(blocks / chip.multiprocessors);
  double elements = std::min(rows, kRows) * length;
  double cycles = waves * elements *
                  std::max(work.operations / kIssued, work.bytes / chip.l2PortBytes);
  // Warpgroups multiply what copy engines bring; warps instead, a share as fast.
  if (target.has("warpgroup_mma"))
    cycles += products * waves * elements * std::min<double>(columns, kTile) /
              chip.tensor.lookup("f16_f32") * (1 / chip.mmaSyncShare - 1);
  double inKernel = cycles / chip.clockMhz;
  int64_t bytes = std::max<int64_t>(1, getElementTypeOrSelf(operand->get().getType())
                                               .getIntOrFloatBitWidth() / 8);
  double apart = chip.kernelMicroseconds +
                 2 * rows * length * bytes / chip.memoryBytes / chip.clockMhz;
  bool pays = inKernel <= apart;
  std::string numbers =
      llvm::formatv("{0} blocks{1} read {2} bytes of them in {3} again and normalise them in "
                    "about {4:f1} us; a kernel of its own takes about {5:f1} us more than "
                    "the product's alone, its launch included",
                    int64_t(blocks), assumed ? " (assumed)" : "",
                    int64_t(std::min(rows, kRows) * length * work.bytes),
                    work.passes == 1 ? "one pass" : std::to_string(work.passes) + " passes",
                    inKernel, apart)
          .str();
  if (!pays)
    return fail(Refused::NotProfitable, numbers);
  return "the rows of " + what +
         " are reduced in its kernel, and normalised on their way "
         "into the tiles: " +
         numbers;
}
