// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of padded operands (Dialect/Padding.h): no element that is outside of the
// source is touched. What is inside is compared once for all elements that agree in
// the coordinates which a constraint speaks of: of a convolution's tile, once a row.
//
//   inside = (row + tap - 1 >= 0, 8 - row - tap >= 0)
//   %at = %row + %tap - 1;  %in = %at >= 0 and 8 - %at >= 0

#include "ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

Index ThreadCode::evaluate(Location loc, AffineExpr expr, ArrayRef<Index> dims,
                           ArrayRef<Index> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Index(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Index left = evaluate(loc, binary.getLHS(), dims, symbols),
        right = evaluate(loc, binary.getRHS(), dims, symbols);
  return expr.getKind() == AffineExprKind::Mul ? multiply(loc, left, right)
                                               : add(loc, left, right);
}

Value ThreadCode::insideOf(Location loc, const MemView &view,
                           ArrayRef<Index> coordinates, PaddingCache &known) {
  Value all;
  const IntegerSet &set = view.padding->inside;
  for (unsigned number = 0; number < set.getNumConstraints(); ++number) {
    AffineExpr expr = set.getConstraint(number);
    if (auto constant = dyn_cast<AffineConstantExpr>(expr);
        constant && constant.getValue() >= 0)
      continue;
    PaddingCache::key_type key{number, {}};
    for (auto [dim, at] : llvm::enumerate(coordinates))
      if (expr.isFunctionOfDim(dim))
        key.second.push_back(
            {at.value ? at.value.getAsOpaquePointer() : nullptr, at.constant});
    Value &inside = known[key];
    if (!inside)
      inside = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::sge,
          materialize(loc, evaluate(loc, expr, coordinates, view.padding->symbols)),
          constant(loc, 0));
    all = all ? arith::AndIOp::create(b, loc, all, inside).getResult() : inside;
  }
  return all;
}

bool tilewright::growsAlong(AffineExpr expr, unsigned dim, unsigned numDims) {
  SmallVector<AffineExpr> zeros(numDims,
                                getAffineConstantExpr(0, expr.getContext())),
      ones(zeros);
  ones[dim] = getAffineConstantExpr(1, expr.getContext());
  AffineExpr step = simplifyAffineExpr(
      expr.replaceDims(ones) - expr.replaceDims(zeros), numDims, 8);
  auto constant = dyn_cast<AffineConstantExpr>(step);
  return !constant || constant.getValue() > 0;
}
