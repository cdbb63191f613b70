// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs that are indexed by anything but loops, constants and sums of loops are gathers:
//
//   linalg.generic <(i, j) -> (i, 9 - j), (i, j)> ins(%x) { ^bb0(%a, %o): yield %a }
// becomes
//   linalg.generic <(i, j) -> (i, j)> {
//     %i = linalg.index 0;  %j = linalg.index 1;  %k = subi 9, %j
//     %a = tensor.extract %x[%i, %k]
//     yield %a
//   }
//
// An op with a reduction reads an element several times: where the input has a loop for each dim
// at most, as a flipped filter or an enlarged image, it is gathered once, by an op in front, and
// indexed by loops. A constant that is added to loops is the offset of a slice.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_READOTHERMAPSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// A loop times a positive constant.
static bool isMultiple(AffineExpr expr) {
  if (isa<AffineDimExpr>(expr))
    return true;
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul || !isa<AffineDimExpr>(product.getLHS()))
    return false;
  auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
  return factor && factor.getValue() > 0;
}

/// What later passes read: a constant, or multiples of loops and a constant of 0 and more.
static bool isSumOfLoops(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (sum && sum.getKind() == AffineExprKind::Add)
    return isSumOfLoops(sum.getLHS()) && isSumOfLoops(sum.getRHS());
  return isMultiple(expr);
}

/// Loops are never negative.
static bool isNatural(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || (isNatural(binary.getLHS()) && isNatural(binary.getRHS()));
}

/// `expr` of `loops`, by ops that bodies may have.
static Value compute(OpBuilder &b, Location loc, AffineExpr expr, ValueRange loops) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loops[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(b, loc, constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value left = compute(b, loc, binary.getLHS(), loops),
        right = compute(b, loc, binary.getRHS(), loops);
  bool natural = isNatural(binary.getLHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, left, right);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, left, right);
  case AffineExprKind::CeilDiv:
    return natural ? arith::CeilDivUIOp::create(b, loc, left, right).getResult()
                   : arith::CeilDivSIOp::create(b, loc, left, right).getResult();
  case AffineExprKind::FloorDiv:
    return natural ? arith::DivUIOp::create(b, loc, left, right).getResult()
                   : arith::FloorDivSIOp::create(b, loc, left, right).getResult();
  default: {
    if (natural)
      return arith::RemUIOp::create(b, loc, left, right);
    Value whole = arith::FloorDivSIOp::create(b, loc, left, right);
    return arith::SubIOp::create(b, loc, left, arith::MulIOp::create(b, loc, whole, right));
  }
  }
}

static Value extract(OpBuilder &b, Location loc, Value tensor, AffineMap map) {
  SmallVector<Value> loops, places;
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    loops.push_back(linalg::IndexOp::create(b, loc, loop));
  for (AffineExpr expr : map.getResults())
    places.push_back(compute(b, loc, expr, loops));
  return tensor::ExtractOp::create(b, loc, tensor, places);
}

/// The loops of `map`, where each dim has one at most.
static std::optional<SmallVector<unsigned>> loopsOf(AffineMap map) {
  SmallVector<unsigned> loops;
  for (AffineExpr expr : map.getResults()) {
    unsigned count = 0;
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
      if (expr.isFunctionOfDim(loop)) {
        ++count;
        if (!llvm::is_contained(loops, loop))
          loops.push_back(loop);
      }
    if (count > 1)
      return std::nullopt;
  }
  return loops;
}

/// What `operand` is at the places of `loops`, gathered in front of `op`.
static Value gather(OpBuilder &b, linalg::GenericOp op, OpOperand &operand,
                    ArrayRef<unsigned> loops, ArrayRef<OpFoldResult> extents) {
  Location loc = op.getLoc();
  SmallVector<AffineExpr> dims(op.getNumLoops(), b.getAffineConstantExpr(0));
  for (auto [number, loop] : llvm::enumerate(loops))
    dims[loop] = b.getAffineDimExpr(number);
  AffineMap map = op.getMatchingIndexingMap(&operand).replaceDimsAndSymbols(
      dims, {}, loops.size(), 0);
  Value empty =
      tensor::EmptyOp::create(b, loc, extents, getElementTypeOrSelf(operand.get().getType()));
  return linalg::GenericOp::create(
             b, loc, empty.getType(), ValueRange(), empty,
             b.getMultiDimIdentityMap(loops.size()),
             SmallVector<utils::IteratorType>(loops.size(), utils::IteratorType::parallel),
             [&](OpBuilder &inside, Location at, ValueRange) {
               linalg::YieldOp::create(inside, at, extract(inside, at, operand.get(), map));
             })
      .getResult(0);
}

/// Reads `operand` by `map` in the body of `op`, which loses it.
static linalg::GenericOp readInBody(RewriterBase &b, linalg::GenericOp op, OpOperand &operand) {
  unsigned number = operand.getOperandNumber();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap map = maps[number];
  maps.erase(maps.begin() + number);
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs.erase(inputs.begin() + number);
  auto made = linalg::GenericOp::create(b, op.getLoc(), op.getResultTypes(), inputs,
                                        op.getDpsInits(), maps, op.getIteratorTypesArray());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  made.getRegion().takeBody(op.getRegion());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  BlockArgument element = made.getBody()->getArgument(number);
  b.replaceAllUsesWith(element, extract(b, op.getLoc(), operand.get(), map));
  made.getBody()->eraseArgument(number);
  b.replaceOp(op, made);
  return made;
}

/// As many elements as dim `dim` of `tensor` has behind the first `offset`.
static OpFoldResult sizeBehind(OpBuilder &b, Location loc, Value tensor, int64_t dim,
                               int64_t offset) {
  OpFoldResult size = tensor::getMixedSize(b, loc, tensor, dim);
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return b.getIndexAttr(std::max<int64_t>(*known - offset, 0));
  Value rest = arith::SubIOp::create(b, loc, cast<Value>(size),
                                     arith::ConstantIndexOp::create(b, loc, offset));
  return arith::MaxSIOp::create(b, loc, rest, arith::ConstantIndexOp::create(b, loc, 0))
      .getResult();
}

/// Reads `operand` from the constants on that its map adds to loops.
static void sliceAtOffsets(RewriterBase &b, linalg::GenericOp op, OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (map.getNumSymbols() || !isa<RankedTensorType>(operand.get().getType()))
    return;
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  SmallVector<AffineExpr> zeros(map.getNumDims(), b.getAffineConstantExpr(0)), results;
  SmallVector<OpFoldResult> offsets, sizes = tensor::getMixedSizes(b, loc, operand.get());
  bool changed = false;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    results.push_back(expr);
    offsets.push_back(b.getIndexAttr(0));
    if (isa<AffineConstantExpr>(expr) || !isSumOfLoops(expr))
      continue;
    int64_t offset = cast<AffineConstantExpr>(expr.replaceDims(zeros)).getValue();
    if (!offset)
      continue;
    AffineExpr rest = simplifyAffineExpr(expr - offset, map.getNumDims(), 0);
    // By a loop alone, exactly its elements are read.
    if (auto loop = dyn_cast<AffineDimExpr>(rest)) {
      auto extent = extentOf(op, loop.getPosition(), &operand);
      if (!extent)
        continue;
      sizes[dim] = tensor::getMixedSize(b, loc, extent->first, extent->second);
    } else {
      sizes[dim] = sizeBehind(b, loc, operand.get(), dim, offset);
    }
    offsets.back() = b.getIndexAttr(offset);
    results.back() = rest;
    changed = true;
  }
  if (!changed)
    return;
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  Value slice =
      tensor::ExtractSliceOp::create(b, loc, operand.get(), offsets, sizes, ones);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand.getOperandNumber()] =
      AffineMap::get(map.getNumDims(), 0, results, op.getContext());
  b.modifyOpInPlace(op, [&] {
    operand.set(slice);
    op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  });
}

linalg::GenericOp tilewright::readOtherMaps(RewriterBase &b, linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr))
    return op;
  for (unsigned number = op.getNumDpsInputs(); number-- > 0;) {
    OpOperand &operand = op->getOpOperand(number);
    sliceAtOffsets(b, op, operand);
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (map.getNumSymbols() || !isa<RankedTensorType>(operand.get().getType()) ||
        llvm::all_of(map.getResults(), isSumOfLoops))
      continue;
    b.setInsertionPoint(op);
    SmallVector<OpFoldResult> extents;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (auto extent = extentOf(op, loop, &operand))
        extents.push_back(tensor::getMixedSize(b, op.getLoc(), extent->first, extent->second));
    // A loop that only this input has a dim for: check-normalized names the map.
    if (extents.size() != op.getNumLoops())
      continue;
    std::optional<SmallVector<unsigned>> loops = loopsOf(map);
    if (!op.getNumReductionLoops() || !loops) {
      op = readInBody(b, op, operand);
      continue;
    }
    SmallVector<OpFoldResult> sizes;
    SmallVector<AffineExpr> results;
    for (unsigned loop : *loops) {
      sizes.push_back(extents[loop]);
      results.push_back(b.getAffineDimExpr(loop));
    }
    Value gathered = gather(b, op, operand, *loops, sizes);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[number] = AffineMap::get(op.getNumLoops(), 0, results, op.getContext());
    b.modifyOpInPlace(op, [&] {
      operand.set(gathered);
      op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
    });
  }
  return op;
}

namespace {
struct ReadOtherMapsPass : tilewright::impl::ReadOtherMapsPassBase<ReadOtherMapsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      (void)readOtherMaps(rewriter, op);
  }
};
} // namespace
