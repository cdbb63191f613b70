// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Divisibility.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

static constexpr int64_t kMost = int64_t(1) << 30; // stands for "zero"

static int64_t clampDivisor(int64_t value) {
  return value == 0 ? kMost : std::min(kMost, std::abs(value));
}

/// The largest power of two known to divide the expression.
static int64_t expressionDivisor(AffineExpr expr, ArrayRef<int64_t> operands,
                                 unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return clampDivisor(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = expressionDivisor(binary.getLHS(), operands, numDims);
  int64_t right = expressionDivisor(binary.getRHS(), operands, numDims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
  case AffineExprKind::Mod:
    return std::gcd(left, right);
  case AffineExprKind::Mul:
    return left >= kMost / std::max<int64_t>(right, 1) ? kMost : left * right;
  default:
    return 1;
  }
}

int64_t tilewright::knownDivisor(Value value, int depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return clampDivisor(constant.getSExtValue());
  if (depth > 16)
    return 1;
  auto of = [&](Value operand) { return knownDivisor(operand, depth + 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      return std::gcd(of(loop.getLowerBound()), of(loop.getStep()));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp,
          arith::MinUIOp, arith::MaxUIOp>(op))
    return std::gcd(of(op->getOperand(0)), of(op->getOperand(1)));
  if (isa<arith::MulIOp>(op)) {
    int64_t left = of(op->getOperand(0)), right = of(op->getOperand(1));
    return left >= kMost / right ? kMost : left * right;
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<int64_t> operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(of(operand));
    AffineMap map = apply.getAffineMap();
    return expressionDivisor(map.getResult(0), operands, map.getNumDims());
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return std::gcd(of(select.getTrueValue()), of(select.getFalseValue()));
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return of(op->getOperand(0));
  return 1;
}
