// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches bodies and maps of sums of products, see Contractions.h.

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Nibbles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

/// Looks through one extension of a block argument; "" where there is none.
static BlockArgument stripExtension(Value value, StringRef &signedness) {
  if (auto ext = value.getDefiningOp<arith::ExtSIOp>()) {
    signedness = "signed";
    value = ext.getIn();
  } else if (auto ext = value.getDefiningOp<arith::ExtUIOp>()) {
    signedness = "unsigned";
    value = ext.getIn();
  } else if (auto ext = value.getDefiningOp<arith::ExtFOp>()) {
    value = ext.getIn();
  }
  return dyn_cast<BlockArgument>(value);
}

/// `ext(low a) * ext(low b) + ext(high a) * ext(high b)`.
static bool matchNibbleProducts(Operation *sum, Contraction &result,
                                BlockArgument operands[2]) {
  if (!isa_and_nonnull<arith::AddIOp>(sum))
    return false;
  bool seen[2] = {false, false};
  for (Value addend : sum->getOperands()) {
    auto mul = addend.getDefiningOp<arith::MulIOp>();
    if (!mul)
      return false;
    std::optional<Nibble> pair[2];
    for (unsigned side : {0, 1}) {
      Operation *extension = mul->getOperand(side).getDefiningOp();
      if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(extension))
        return false;
      std::optional<Nibble> nibble = matchNibble(extension->getOperand(0));
      if (!nibble ||
          (isa<arith::ExtUIOp>(extension) && !nibble->isUnsigned))
        return false;
      pair[side] = nibble;
    }
    if (pair[0]->isHigh != pair[1]->isHigh || seen[pair[0]->isHigh])
      return false;
    bool isFirst = !seen[0] && !seen[1];
    seen[pair[0]->isHigh] = true;
    for (unsigned side : {0, 1}) {
      auto operand = dyn_cast<BlockArgument>(pair[side]->byte);
      StringRef sign = pair[side]->isUnsigned ? "unsigned" : "signed";
      if (!operand || (!isFirst && (operands[side] != operand ||
                                   result.signedness[side] != sign)))
        return false;
      operands[side] = operand;
      result.signedness[side] = sign;
    }
  }
  result.perElement = 2;
  return true;
}

std::optional<Contraction> tilewright::matchProduct(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1)
    return std::nullopt;
  Block *body = op.getBlock();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  BlockArgument acc = body->getArgument(2);
  unsigned accSide = add->getOperand(0) == acc ? 0 : 1;
  if (add->getOperand(accSide) != acc || !acc.hasOneUse())
    return std::nullopt;
  Operation *product = add->getOperand(1 - accSide).getDefiningOp();

  Contraction result;
  BlockArgument operands[2];
  if (isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product)) {
    for (unsigned side : {0, 1})
      operands[side] =
          stripExtension(product->getOperand(side), result.signedness[side]);
  } else if (!matchNibbleProducts(product, result, operands)) {
    return std::nullopt;
  }
  for (BlockArgument operand : operands)
    if (!operand || operand.getOwner() != body || operand.getArgNumber() > 1)
      return std::nullopt;
  if (operands[0] == operands[1])
    return std::nullopt;
  result.a = operands[0].getArgNumber();
  result.b = operands[1].getArgNumber();

  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation())
      return std::nullopt;
  for (unsigned loop = 0, e = op.getNumLoops(); loop < e; ++loop) {
    AffineExpr dim = getAffineDimExpr(loop, op.getContext());
    bool inA = maps[result.a].getResultPosition(dim).has_value();
    bool inB = maps[result.b].getResultPosition(dim).has_value();
    bool inC = maps[2].getResultPosition(dim).has_value();
    if (!inC) {
      if (!inA || !inB)
        return std::nullopt;
      result.k.push_back(loop);
    } else if (inA && inB) {
      result.batch.push_back(loop);
    } else if (inA) {
      result.m.push_back(loop);
    } else if (inB) {
      result.n.push_back(loop);
    } else if (op->hasAttr(kSplitAttr) && loop + 1 == e) {
      result.batch.push_back(loop); // counts parts
    } else {
      return std::nullopt;
    }
  }
  return result;
}

std::optional<Contraction>
tilewright::matchContraction(linalg::LinalgOp op) {
  std::optional<Contraction> result = matchProduct(op);
  if (!result || result->m.empty() || result->n.empty())
    return std::nullopt;
  return result;
}

std::optional<Contraction>
tilewright::matchContractionByRows(linalg::LinalgOp op) {
  std::optional<Contraction> product = matchContraction(op);
  if (!product)
    return product;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  if (llvm::is_contained(product->m, last)) {
    std::swap(product->a, product->b);
    std::swap(product->signedness[0], product->signedness[1]);
    std::swap(product->m, product->n);
  }
  auto found = llvm::find(product->n, last);
  if (found != product->n.end())
    std::rotate(found, found + 1, product->n.end());
  return product;
}

std::optional<Contraction> tilewright::matchOriented(linalg::LinalgOp op,
                                                     LoweringConfigAttr config) {
  std::optional<Contraction> contraction = matchContraction(op);
  return contraction ? std::optional(orient(*contraction, config)) : std::nullopt;
}

Contraction tilewright::orient(const Contraction &contraction, LoweringConfigAttr config) {
  if (!config || !config.isForWarpgroups())
    return contraction;
  ArrayRef<int64_t> warps = config.getWarps();
  auto has = [&](ArrayRef<unsigned> loops) {
    return llvm::any_of(loops, [&](unsigned loop) {
      return loop < warps.size() && warps[loop] > 1;
    });
  };
  return has(contraction.n) && !has(contraction.m) ? swapped(contraction) : contraction;
}

Contraction tilewright::swapped(Contraction contraction) {
  std::swap(contraction.a, contraction.b);
  std::swap(contraction.m, contraction.n);
  std::swap(contraction.signedness[0], contraction.signedness[1]);
  return contraction;
}

/// Whether `op`, which stands behind `other` in its block, reads what becomes of it.
static bool readsResultOf(Operation *op, Operation *other) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> open{op};
  while (!open.empty())
    for (Value operand : open.pop_back_val()->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer == other)
        return true;
      if (producer && producer->getBlock() == other->getBlock() &&
          other->isBeforeInBlock(producer) && seen.insert(producer).second)
        open.push_back(producer);
    }
  return false;
}

std::optional<unsigned> tilewright::sharedOperand(linalg::LinalgOp first,
                                                  linalg::LinalgOp second) {
  std::optional<Contraction> one = matchContraction(first), other = matchContraction(second);
  if (!one || !other || first == second || first->getBlock() != second->getBlock())
    return std::nullopt;
  if (second->isBeforeInBlock(first))
    std::swap(first, second);
  auto isAlike = [&](unsigned number) {
    return first.getIndexingMapsArray()[number] == second.getIndexingMapsArray()[number];
  };
  auto areOfOneType = [&](unsigned number) {
    return getElementTypeOrSelf(first->getOperand(number)) ==
           getElementTypeOrSelf(second->getOperand(number));
  };
  if (one->a != other->a || one->perElement != other->perElement ||
      one->signedness[0] != other->signedness[0] ||
      one->signedness[1] != other->signedness[1] ||
      first.getIteratorTypesArray() != second.getIteratorTypesArray() || !isAlike(2) ||
      !llvm::all_of(ArrayRef<unsigned>{0, 1, 2}, areOfOneType) ||
      first->hasAttr(kSplitAttr) || second->hasAttr(kSplitAttr) ||
      readsResultOf(second, first))
    return std::nullopt;
  for (unsigned number : {one->a, one->b})
    if (first->getOperand(number) == second->getOperand(number) && isAlike(number))
      return number;
  return std::nullopt;
}

std::optional<MatrixLoops>
tilewright::findMatrixLoops(const Contraction &contraction,
                            LoweringConfigAttr config) {
  auto tiled = [&](ArrayRef<unsigned> loops, unsigned &result) {
    unsigned count = 0;
    for (unsigned loop : loops)
      if (loop < config.getBlock().size() && config.getBlock()[loop] != 1)
        result = loop, ++count;
    return count == 1;
  };
  MatrixLoops result{};
  if (!tiled(contraction.m, result.m) || !tiled(contraction.n, result.n) ||
      !tiled(contraction.k, result.k))
    return std::nullopt;
  return result;
}

std::optional<unsigned>
tilewright::contiguousSum(linalg::LinalgOp op, const Contraction &contraction) {
  constexpr int64_t kLong = 32;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (unsigned number : {contraction.a, contraction.b}) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(number));
    unsigned loop = map.getDimPosition(map.getNumResults() - 1);
    if (llvm::is_contained(contraction.k, loop) &&
        (ShapedType::isDynamic(extents[loop]) || extents[loop] >= kLong))
      return loop;
  }
  return std::nullopt;
}

bool tilewright::runsAlongSum(OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  return map.getNumResults() &&
         op.getIteratorTypesArray()[map.getDimPosition(map.getNumResults() - 1)] ==
             utils::IteratorType::reduction;
}

/// The tensor of the kernel that `value` is, or is filled into.
static BlockArgument findArgument(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto cast = dyn_cast<tensor::CastOp>(op))
      value = cast.getSource();
    else if (auto fill = dyn_cast<linalg::FillOp>(op))
      value = fill.getDpsInits()[0];
    else
      return {};
  }
  return cast<BlockArgument>(value);
}

SmallVector<int64_t> tilewright::promisedExtents(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto kernel = op->getParentOfType<func::FuncOp>();
  if (!kernel || !kernel->hasAttr(kAtMostAttr))
    return extents;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = findArgument(operand.get());
    if (!argument || !isa<RankedTensorType>(argument.getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (loop && ShapedType::isDynamic(extents[loop.getPosition()]))
        extents[loop.getPosition()] =
            promisedMost(kernel, operandNumber(argument), dim);
    }
  }
  return extents;
}

bool tilewright::isSkinny(linalg::LinalgOp op, const Contraction &contraction) {
  constexpr int64_t kMost = 16;
  SmallVector<int64_t> extents = promisedExtents(op);
  auto few = [&](ArrayRef<unsigned> loops) {
    int64_t product = 1;
    for (unsigned loop : loops) {
      if (ShapedType::isDynamic(extents[loop]) || extents[loop] > kMost)
        return false;
      product *= extents[loop];
    }
    return product <= kMost;
  };
  // A dot of two vectors reads each once: a reduction.
  return (contraction.m.size() || contraction.n.size()) &&
         (few(contraction.m) || few(contraction.n));
}

bool tilewright::isRowAlongSum(linalg::LinalgOp op) {
  std::optional<Contraction> product = matchContractionByRows(op);
  if (!product || product->perElement > 1)
    return false;
  SmallVector<int64_t> extents = promisedExtents(op);
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(product->b));
  return llvm::all_of(product->m, [&](unsigned loop) { return extents[loop] == 1; }) &&
         llvm::is_contained(product->k, map.getDimPosition(map.getNumResults() - 1));
}
