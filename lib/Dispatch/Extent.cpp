// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Extent.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace tilewright;

/// `extent` times `factor`, or null where that is more than 64 bits.
static std::optional<Extent> multiply(Extent extent, int64_t factor) {
  if (llvm::MulOverflow(extent.factor, factor, extent.factor))
    return {};
  return extent;
}

/// What `op` makes of one size and numbers; sizes are not negative, and of 64 bits.
static std::optional<Extent> seeThrough(Operation *op) {
  if (isa<arith::IndexCastOp>(op))
    return extentOf(op->getOperand(0));
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    // Where a size is below zero.
    auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt ||
        getConstantIntValue(compare.getRhs()) != 0)
      return {};
    Extent compared = extentOf(compare.getLhs());
    bool isSize = compared.factor > 0 && (!compared.root || compared.dim >= 0);
    return isSize ? std::optional(extentOf(select.getFalseValue())) : std::nullopt;
  }
  if (auto multiplied = dyn_cast<arith::MulIOp>(op)) {
    for (unsigned side : {0, 1})
      if (auto factor = getConstantIntValue(op->getOperand(side)))
        return multiply(extentOf(op->getOperand(1 - side)), *factor);
    return {};
  }
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op)) {
    Extent extent = extentOf(op->getOperand(0));
    auto divisor = getConstantIntValue(op->getOperand(1));
    if (!divisor || *divisor <= 0 || extent.factor % *divisor != 0)
      return {};
    extent.factor /= *divisor;
    return extent;
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    auto product = dyn_cast<AffineBinaryOpExpr>(map.getResult(0));
    if (!product || product.getKind() != AffineExprKind::Mul || map.getNumInputs() != 1 ||
        !isa<AffineSymbolExpr, AffineDimExpr>(product.getLHS()))
      return {};
    if (auto factor = dyn_cast<AffineConstantExpr>(product.getRHS()))
      return multiply(extentOf(apply.getOperand(0)), factor.getValue());
  }
  return {};
}

Extent tilewright::extentOf(Value number) {
  if (auto constant = getConstantIntValue(number))
    return {*constant, {}, -1};
  Operation *op = number.getDefiningOp();
  if (auto dim = dyn_cast_or_null<tensor::DimOp>(op))
    if (auto index = dim.getConstantIndex())
      return extentOf(dim.getSource(), *index);
  if (op)
    if (std::optional<Extent> extent = seeThrough(op))
      return *extent;
  return {1, number, -1};
}

Extent tilewright::extentOf(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return {type.getDimSize(dim), {}, -1};
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return extentOf(empty.getDynamicSize(dim));
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return extentOf(cast<Value>(expand.getMixedOutputShape()[dim]));
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
    if (slice.getDroppedDims().none())
      return extentOf(cast<Value>(slice.getMixedSizes()[dim]));
  if (auto castOp = dyn_cast_or_null<tensor::CastOp>(op))
    if (isa<RankedTensorType>(castOp.getSource().getType()))
      return extentOf(castOp.getSource(), dim);
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op)) {
    std::optional<Extent> unknown;
    int64_t factor = 1;
    bool isProduct = true;
    ReassociationIndices joined = collapse.getReassociationIndices()[dim];
    for (int64_t from : joined) {
      Extent extent = extentOf(collapse.getSrc(), from);
      isProduct &= !(unknown && extent.root) &&
                   !llvm::MulOverflow(factor, extent.factor, factor);
      if (extent.root)
        unknown = Extent{1, extent.root, extent.dim};
    }
    if (isProduct && unknown)
      return {factor, unknown->root, unknown->dim};
  }
  if (auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(op))
    return extentOf(destination.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
  return {1, tensor, dim};
}

Extent tilewright::multiply(const Extent &left, const Extent &right) {
  if (!left.isKnown() || !right.isKnown() || (left.root && right.root))
    return Extent::unknown();
  Extent product = left.root ? left : right;
  return llvm::MulOverflow(left.factor, right.factor, product.factor) ? Extent::unknown()
                                                                      : product;
}

OpFoldResult tilewright::getSize(OpBuilder &b, Location loc, const Extent &extent) {
  if (!extent.isKnown())
    return {};
  if (!extent.root)
    return b.getIndexAttr(extent.factor);
  Value size = extent.root;
  if (extent.dim >= 0)
    size = tensor::DimOp::create(b, loc, size, extent.dim);
  else if (!size.getType().isIndex())
    size = arith::IndexCastOp::create(b, loc, b.getIndexType(), size);
  if (extent.factor != 1)
    size = arith::MulIOp::create(b, loc, size,
                                 arith::ConstantIndexOp::create(b, loc, extent.factor));
  return size;
}

SmallVector<OpFoldResult> tilewright::getMixedSizes(OpBuilder &b, Location loc, Value tensor) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < cast<RankedTensorType>(tensor.getType()).getRank(); ++dim)
    sizes.push_back(getSize(b, loc, extentOf(tensor, dim)));
  return sizes;
}
