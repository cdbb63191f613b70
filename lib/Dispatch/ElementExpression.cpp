// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementExpression.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

bool ElementExpression::is(StringRef name) const {
  return kind == Scalar && op->getName().getStringRef() == name;
}

std::optional<double> ElementExpression::getConstant() const {
  return kind == Constant ? std::optional(constant) : std::nullopt;
}

bool tilewright::isSame(const ElementExpression &left, const ElementExpression &right) {
  if (left.kind != right.kind)
    return false;
  switch (left.kind) {
  case ElementExpression::Constant:
    return left.constant == right.constant;
  case ElementExpression::Element:
    return left.tensor == right.tensor && left.coordinates == right.coordinates;
  case ElementExpression::Coordinate:
    return left.coordinate == right.coordinate;
  case ElementExpression::Scalar:
    break;
  }
  return left.op->getName() == right.op->getName() &&
         left.op->getResultTypes() == right.op->getResultTypes() &&
         left.op->getAttrDictionary() == right.op->getAttrDictionary() &&
         left.operands.size() == right.operands.size() &&
         llvm::all_of(llvm::zip(left.operands, right.operands), [](auto pair) {
           return isSame(*std::get<0>(pair), *std::get<1>(pair));
         });
}

Coordinates tilewright::coordinatesOf(linalg::LinalgOp op, OpOperand &operand,
                                      ArrayRef<unsigned> loops) {
  Coordinates result;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    result.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
  return result;
}

Coordinates tilewright::loopsAt(linalg::LinalgOp op, OpResult result,
                                ArrayRef<unsigned> at, unsigned reduced) {
  Coordinates loops(op.getNumLoops(), reduced);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result.getResultNumber()));
  for (auto [expr, coordinate] : llvm::zip_equal(map.getResults(), at))
    loops[cast<AffineDimExpr>(expr).getPosition()] = coordinate;
  return loops;
}

static bool hasPlainMaps(linalg::LinalgOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return map.isProjectedPermutation() && map.getNumSymbols() == 0;
  });
}

const ElementExpression *ElementExpressions::ofElement(Value tensor,
                                                       ArrayRef<unsigned> at) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    tensor = fill.value();
  FloatAttr number;
  if (matchPattern(tensor, m_Constant(&number))) {
    ElementExpression constant;
    constant.kind = ElementExpression::Constant;
    constant.constant = number.getValueAsDouble();
    return add(std::move(constant));
  }
  if (auto op = tensor.getDefiningOp<linalg::GenericOp>();
      op && op.getNumReductionLoops() == 0 && op.hasPureTensorSemantics() &&
      hasPlainMaps(op)) {
    auto result = cast<OpResult>(tensor);
    AffineMap map =
        op.getMatchingIndexingMap(op.getDpsInitOperand(result.getResultNumber()));
    if (map.isPermutation())
      return ofScalar(op, op.getBody()->getTerminator()->getOperand(result.getResultNumber()),
                      loopsAt(op, result, at, 0));
  }
  ElementExpression element;
  element.tensor = tensor;
  if (isa<ShapedType>(tensor.getType()))
    element.coordinates.assign(at.begin(), at.end());
  return add(std::move(element));
}

const ElementExpression *ElementExpressions::ofScalar(linalg::GenericOp op, Value value,
                                                      ArrayRef<unsigned> loops) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBody()) {
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    return ofElement(operand.get(), coordinatesOf(op, operand, loops));
  }
  Operation *inner = value.getDefiningOp();
  FloatAttr number;
  if (!inner || inner->getBlock() != op.getBody() ||
      matchPattern(value, m_Constant(&number)))
    return ofElement(value, {});
  ElementExpression expression;
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    expression.kind = ElementExpression::Coordinate;
    expression.coordinate = loops[index.getDim()];
    return add(std::move(expression));
  }
  expression.kind = ElementExpression::Scalar;
  expression.op = inner;
  for (Value operand : inner->getOperands())
    expression.operands.push_back(ofScalar(op, operand, loops));
  return add(std::move(expression));
}
