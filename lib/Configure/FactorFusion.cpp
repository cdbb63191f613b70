// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a factor of a product is computed on its way into the product's tiles. Every
// block that reads an element computes it, and holds it in registers, which
// asynchronous copies need not:
//
//   readers * (operations + kStaging)  <=  kOperationsPerByte * bytes saved
//
// Saved is what the factor would have been written and read back. Example: 4096 x 4096
// weights of i8, cast to f16. 2 + 2 bytes are saved for each element, worth 32
// operations; a cast takes one, and three to go through registers: computed with up to
// 8 rows of blocks, that is 1024 rows of the result.
//
// Where sizes are dynamic, nobody knows how many blocks there will be. What is smaller in
// memory than the factor (weights) is computed: a few rows are then faster by as much as
// it is smaller, and many rows slower by what converting costs next to multiplying.
//
// CPUs compute a factor while they pack it, or where it is read once (one row), by the same
// figures; only what is smaller in memory, as others are read where they lie.

#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Configure/Splits.h"
#include "tilewright/Configure/TileFusion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Operations for which a GPU reads a byte of its memory, roughly: 19.5 Tflop/s and
/// 1.6 TB/s of an A100, 67 and 3.4 of an H100; half of it, as not all of them are adds.
static constexpr int64_t kOperationsPerByte = 8;
/// What it takes to bring an element into shared memory by way of registers.
static constexpr int64_t kStaging = 3;
/// The most rows or columns of a tile, and what a dynamic extent is taken for where
/// what is read is no smaller than the factor.
static constexpr int64_t kTile = 128, kNominal = 1024;

/// What one element takes, in operations as cheap as an addition.
static int64_t operationsOf(Operation &op) {
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

/// Blocks that read the same element of `factor`, if dynamic extents are `nominal`.
static int64_t readersOf(linalg::LinalgOp product, OpOperand *factor,
                         int64_t nominal, bool &assumed) {
  AffineMap map = product.getMatchingIndexingMap(factor);
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

bool tilewright::mayComputeFactor(ArrayRef<linalg::LinalgOp> producers,
                                  linalg::LinalgOp product, unsigned factor,
                                  TargetAttr target, std::string &reason) {
  if (!target) {
    reason = "the target is not known";
    return false;
  }
  if (!matchProduct(product)) {
    reason = "what reads it is no plain product";
    return false;
  }
  // A pinned config that leaves an operand to registers has it computed there.
  auto pinned = product->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  bool isAsked = pinned && pinned.isWarpSpecialized() &&
                 !llvm::is_contained(pinned.getPromote(), int64_t(factor));
  if ((product->hasAttr(kConfigAttr) && !isAsked) ||
      llvm::any_of(producers, [](linalg::LinalgOp op) {
        return op->hasAttr(kConfigAttr);
      })) {
    reason = "a lowering config is pinned on it or on the product";
    return false;
  }
  if (isAsked) {
    reason = "factor " + std::to_string(factor) +
             " of the product is computed in registers, as the pinned config says";
    return true;
  }
  OpOperand *operand = product.getDpsInputOperand(factor);
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
  if (target.getFact("subgroup", 1) <= 1 && read >= bytes) {
    reason = "on CPUs, factors of products that take no less to read than the factor are "
             "computed once, before";
    return false;
  }
  if (target.getFact("subgroup", 1) <= 1 && matchProduct(product)->k.size() > 2) {
    reason = "on CPUs, factors of products that sum over more than two loops are computed "
             "once, before: these are not packed";
    return false;
  }
  // More bytes than the factor has are read again by each block, out of a cache.
  int64_t more = std::max<int64_t>(0, read - bytes) * 2;
  bool assumed = false;
  int64_t readers =
      readersOf(product, operand, read < bytes ? kTile : kNominal, assumed);
  int64_t cost = readers * (operations + kStaging + more);
  int64_t worth = 2 * bytes * kOperationsPerByte;
  bool pays = cost <= worth;
  std::string what = "factor " + std::to_string(factor) + " of the product";
  std::string each = std::to_string(operations + kStaging + more);
  std::string numbers =
      std::to_string(readers) + (readers == 1 ? " block reads" : " blocks read") +
      (assumed ? " (assumed)" : "") + " an element, each for the time of " + each +
      " operations; writing it and reading it back takes the time of " +
      std::to_string(worth);
  reason = (pays ? what + " is computed on its way into the tiles and never written: "
                 : "computing " + what + " on its way into the tiles does not pay: ") +
           numbers;
  return pays;
}
