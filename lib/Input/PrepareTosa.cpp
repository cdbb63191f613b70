// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TOSA ops in the forms that upstream's conversions have, and repairs of what
// these make of extrema.
//
//   tosa.cond_if %c : tensor<1x1xi1>   becomes   %s = tosa.reshape %c
//                                                tosa.cond_if %s : tensor<i1>
//   tosa.reduce_max of f32: -3.4e38, with which upstream begins, becomes -inf

#include "Tosa.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

/// Replaces operand 0 of `op`, a tensor of one element, by one of rank 0.
static void makeScalar(Operation *op) {
  Value condition = op->getOperand(0);
  auto type = dyn_cast<RankedTensorType>(condition.getType());
  if (!type || type.getRank() == 0)
    return;
  OpBuilder b(op);
  auto noDims = tosa::shapeType::get(op->getContext(), 0);
  auto values = DenseIntElementsAttr::get(RankedTensorType::get({0}, b.getIndexType()),
                                          ArrayRef<int64_t>{});
  Value shape = tosa::ConstShapeOp::create(b, op->getLoc(), noDims, values);
  op->setOperand(0, tosa::ReshapeOp::create(b, op->getLoc(), type.clone(ArrayRef<int64_t>{}),
                                            condition, shape));
}

static bool isOfFloat8(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() == 8;
}

/// f16 has every value of both, and comparisons give the same.
static void widenFloat8(Operation *op) {
  if (!isOfFloat8(op->getOperand(0).getType()))
    return;
  OpBuilder b(op);
  auto toHalf = [&](Type type) { return cast<ShapedType>(type).clone(b.getF16Type()); };
  Value input = op->getOperand(0);
  op->setOperand(0, tosa::CastOp::create(b, op->getLoc(), toHalf(input.getType()), input));
  Value result = op->getResult(0);
  Type type = result.getType();
  if (!isOfFloat8(type))
    return;
  result.setType(toHalf(type));
  b.setInsertionPointAfter(op);
  auto narrow = tosa::CastOp::create(b, op->getLoc(), type, result);
  result.replaceAllUsesExcept(narrow, narrow);
}

void tilewright::prepareTosa(func::FuncOp func) {
  func.walk([](Operation *op) {
    if (isa<tosa::IfOp>(op))
      makeScalar(op);
    if (auto loop = dyn_cast<tosa::WhileOp>(op))
      makeScalar(loop.getCondGraph().front().getTerminator());
    if (isa<tosa::ArgMaxOp, tosa::MaxPool2dOp>(op))
      widenFloat8(op);
    if (auto rescale = dyn_cast<tosa::RescaleOp>(op))
      if (rescale.getRoundingMode() == tosa::RoundingMode::INEXACT_ROUND)
        rescale.setRoundingMode(tosa::RoundingMode::SINGLE_ROUND);
  });
}

bool tilewright::isTosaExtremum(Operation *op) {
  return isa<tosa::ReduceMaxOp, tosa::ReduceMinOp, tosa::MaxPool2dOp, tosa::ArgMaxOp>(op);
}

static void setValue(arith::ConstantOp constant, const APFloat &value) {
  constant.setValueAttr(FloatAttr::get(constant.getType(), value));
}

/// The constant that `tensor.pad` writes, or that `linalg.fill` does.
static arith::ConstantOp getWritten(Value tensor) {
  Value value;
  if (auto pad = tensor.getDefiningOp<tensor::PadOp>())
    value = pad.getConstantPaddingValue();
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    value = fill.value();
  return value ? value.getDefiningOp<arith::ConstantOp>() : arith::ConstantOp();
}

/// A window whose maximum skips NaN (select(isnan(x), out, max(out, x))): that is `maxnumf`, and
/// with NaN to begin with a window of nothing else is NaN.
static void ignoreNan(linalg::GenericOp op) {
  auto select = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto larger = select ? select.getFalseValue().getDefiningOp<arith::MaximumFOp>() : nullptr;
  arith::ConstantOp first = getWritten(op.getDpsInits()[0]);
  if (op.getNumDpsInputs() != 2 || !larger || !first ||
      !select.getCondition().getDefiningOp<arith::CmpFOp>())
    return;
  APFloat nan = APFloat::getNaN(cast<FloatType>(first.getType()).getFloatSemantics());
  setValue(first, nan);
  if (arith::ConstantOp edge = getWritten(op.getDpsInputs()[0]))
    setValue(edge, nan);
  OpBuilder b(select);
  Value number = arith::MaxNumFOp::create(b, select.getLoc(), larger.getLhs(), larger.getRhs());
  select.replaceAllUsesWith(number);
  Operation *isNan = select.getCondition().getDefiningOp();
  select.erase();
  isNan->erase();
  larger->erase();
}

/// On ops that are no extremum's, while extrema are converted.
static constexpr StringLiteral kBefore = "tilewright.before";

void tilewright::markAsBefore(func::FuncOp func) {
  func.walk([](Operation *op) {
    if (isa<arith::ConstantOp, linalg::GenericOp>(op))
      op->setAttr(kBefore, UnitAttr::get(op->getContext()));
  });
}

void tilewright::beginWithInfinity(func::FuncOp func) {
  func.walk([&](Operation *op) {
    if (op->removeAttr(kBefore))
      return;
    APFloat value(0.0);
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (constant && matchPattern(op, m_ConstantFloat(&value)) && value.isLargest() &&
        APFloat::semanticsHasInf(value.getSemantics()))
      setValue(constant, APFloat::getInf(value.getSemantics(), value.isNegative()));
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && generic.getNumDpsInits() == 1)
      ignoreNan(generic);
  });
}
