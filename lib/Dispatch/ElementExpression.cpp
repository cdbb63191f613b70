// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementExpression.h"
#include "Extent.h"

#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

bool ElementExpression::is(StringRef name) const {
  return kind == Scalar && op->getName().getStringRef() == name;
}

bool ElementExpression::isSimple() const {
  return op->getNumResults() == 1 && op->getNumRegions() == 0;
}

std::optional<double> ElementExpression::getConstant() const {
  return kind == Constant ? std::optional(constant) : std::nullopt;
}

/// Steps from the result of a reshape or a cast to its source.
bool ElementExpressions::throughReshape(Value &tensor, Coordinates &at) {
  Operation *op = tensor.getDefiningOp();
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op);
      cast && isa<RankedTensorType>(cast.getSource().getType())) {
    tensor = cast.getSource();
    return true;
  }
  Coordinates from;
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op)) {
    for (ArrayRef<int64_t> group : expand.getReassociationIndices()) {
      Coordinates parts;
      for (int64_t dim : group)
        parts.push_back(at[dim]);
      from.push_back(join(parts));
    }
    tensor = expand.getSrc();
  } else if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op)) {
    from.resize(collapse.getSrcType().getRank(), kUnitCoordinate);
    for (auto [coordinate, group] : llvm::zip_equal(at, collapse.getReassociationIndices())) {
      SmallVector<Extent> sizes;
      for (int64_t dim : group)
        sizes.push_back(tilewright::extentOf(collapse.getSrc(), dim));
      Coordinates parts;
      if (!split(coordinate, sizes, parts))
        return false;
      for (auto [dim, part] : llvm::zip_equal(group, parts))
        from[dim] = part;
    }
    tensor = collapse.getSrc();
  } else {
    return false;
  }
  at = from;
  return true;
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

Extent tilewright::extentOfLoop(linalg::LinalgOp op, unsigned loop) {
  std::optional<Extent> found;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto dim = map.getResultPosition(getAffineDimExpr(loop, op.getContext()));
    if (!dim)
      continue;
    Extent extent = extentOf(operand.get(), *dim);
    if (!found || !extent.root)
      found = extent;
  }
  return found.value_or(Extent::unknown());
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

bool ElementExpressions::isSame(const ElementExpression &left,
                                const ElementExpression &right) const {
  llvm::DenseSet<std::pair<const ElementExpression *, const ElementExpression *>> seen;
  return isSame(left, right, seen);
}

/// A pair that has been `seen` is the same, or there is an answer already.
bool ElementExpressions::isSame(
    const ElementExpression &left, const ElementExpression &right,
    llvm::DenseSet<std::pair<const ElementExpression *, const ElementExpression *>> &seen) const {
  if (&left == &right || !seen.insert({&left, &right}).second)
    return true;
  if (left.kind != right.kind)
    return false;
  switch (left.kind) {
  case ElementExpression::Constant:
    return left.constant == right.constant;
  case ElementExpression::Element:
    return left.tensor == right.tensor &&
           left.coordinates.size() == right.coordinates.size() &&
           llvm::all_of(llvm::zip(left.coordinates, right.coordinates), [&](auto pair) {
             return atomsOf(std::get<0>(pair)) == atomsOf(std::get<1>(pair));
           });
  case ElementExpression::Coordinate:
    return atomsOf(left.coordinate) == atomsOf(right.coordinate);
  case ElementExpression::Scalar:
    break;
  }
  return left.isSimple() && left.op->getName() == right.op->getName() &&
         left.op->getResultTypes() == right.op->getResultTypes() &&
         left.op->getAttrDictionary() == right.op->getAttrDictionary() &&
         left.operands.size() == right.operands.size() &&
         llvm::all_of(llvm::zip(left.operands, right.operands), [&](auto pair) {
           return isSame(*std::get<0>(pair), *std::get<1>(pair), seen);
         });
}

bool ElementExpression::anyOf(
    llvm::function_ref<bool(const ElementExpression &)> isWanted) const {
  llvm::SetVector<const ElementExpression *> seen;
  seen.insert(this);
  for (size_t next = 0; next < seen.size(); ++next) {
    if (isWanted(*seen[next]))
      return true;
    seen.insert_range(seen[next]->operands);
  }
  return false;
}

Coordinates ElementExpressions::atomsOf(const ElementExpression &expression) const {
  Coordinates all;
  (void)expression.anyOf([&](const ElementExpression &part) {
    if (part.kind == ElementExpression::Element)
      llvm::append_range(all, atomsOf(part.coordinates));
    else if (part.kind == ElementExpression::Coordinate)
      llvm::append_range(all, atomsOf(part.coordinate));
    return false;
  });
  llvm::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

static bool hasPlainMaps(linalg::LinalgOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return map.isProjectedPermutation() && map.getNumSymbols() == 0;
  });
}

void ElementExpressions::throughMoves(Value &tensor, Coordinates &at) {
  while (true) {
    if (throughReshape(tensor, at))
      continue;
    auto op = tensor.getDefiningOp<linalg::GenericOp>();
    if (!op || !isRelayout(op) || !hasPlainMaps(op) || op->hasAttr(kConfigAttr) ||
        !isa<RankedTensorType>(op.getDpsInputs()[0].getType()))
      return;
    Coordinates loops = loopsAt(op, op->getResult(0), at, kUnitCoordinate);
    at = coordinatesOf(op, op->getOpOperand(0), loops);
    tensor = op.getDpsInputs()[0];
  }
}

const ElementExpression *ElementExpressions::ofElement(Value tensor,
                                                       ArrayRef<unsigned> at) {
  auto key = std::pair(tensor.getAsOpaquePointer(), std::vector<unsigned>(at));
  if (auto known = elements.find(key); known != elements.end())
    return known->second;
  const ElementExpression *expression = find(tensor, at);
  elements[key] = expression;
  return expression;
}

const ElementExpression *ElementExpressions::find(Value tensor, ArrayRef<unsigned> given) {
  Coordinates at(given);
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  // A body may read elements of a whole tensor (tensor.extract).
  bool isWhole = type && type.getRank() != int64_t(at.size());
  if (type && !isWhole)
    while (throughReshape(tensor, at))
      ;
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    tensor = fill.value();
  ElementExpression result;
  result.type = getElementTypeOrSelf(tensor.getType());
  FloatAttr number;
  if (matchPattern(tensor, m_Constant(&number))) {
    result.kind = ElementExpression::Constant;
    result.constant = number.getValueAsDouble();
    return add(std::move(result));
  }
  SplatElementsAttr splat;
  if (isa<FloatType>(result.type) && matchPattern(tensor, m_Constant(&splat))) {
    result.kind = ElementExpression::Constant;
    result.constant = splat.getSplatValue<FloatAttr>().getValueAsDouble();
    return add(std::move(result));
  }
  result.tensor = tensor;
  if (isa<ShapedType>(tensor.getType()))
    result.coordinates = at;
  if (auto op = tensor.getDefiningOp<linalg::GenericOp>();
      op && !isWhole && op.getNumReductionLoops() == 0 && op.hasPureTensorSemantics() &&
      hasPlainMaps(op)) {
    auto number = cast<OpResult>(tensor).getResultNumber();
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(number));
    if (map.isPermutation()) {
      const ElementExpression *scalar =
          ofScalar(op, op.getBody()->getTerminator()->getOperand(number),
                   loopsAt(op, cast<OpResult>(tensor), at, 0));
      if (scalar->kind != ElementExpression::Scalar || scalar->tensor)
        return scalar;
      ElementExpression known = *scalar;
      known.tensor = result.tensor;
      known.coordinates = result.coordinates;
      return add(std::move(known));
    }
  }
  return add(std::move(result));
}

/// What a float op makes of constants, exactly.
static std::optional<double> fold(Operation *op, ArrayRef<double> x) {
  StringRef name = op->getName().getStringRef();
  if (name == "arith.addf")
    return x[0] + x[1];
  if (name == "arith.subf")
    return x[0] - x[1];
  if (name == "arith.mulf")
    return x[0] * x[1];
  if (name == "arith.divf")
    return x[0] / x[1];
  if (name == "arith.negf")
    return -x[0];
  if (name == "math.sqrt")
    return std::sqrt(x[0]);
  if (name == "math.rsqrt")
    return 1 / std::sqrt(x[0]);
  if (name == "math.powf")
    return std::pow(x[0], x[1]);
  if (name == "arith.extf" || name == "arith.truncf")
    return x[0];
  return {};
}

static double roundTo(double value, Type type) {
  APFloat rounded(value);
  bool loses;
  rounded.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &loses);
  rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return rounded.convertToDouble();
}

/// The coordinates at which `extract` reads, if it reads each element of its tensor where
/// the loops are that number it: `loop` where a dim has the size of the loop, whether or not
/// the text says 0 where that size is 1.
static std::optional<SmallVector<unsigned>> matchIdentity(linalg::GenericOp op,
                                                          tensor::ExtractOp extract) {
  SmallVector<unsigned> loops;
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    Value read = index;
    auto select = read.getDefiningOp<arith::SelectOp>();
    if (select) {
      auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
      if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
          !matchPattern(select.getTrueValue(), m_Zero()) ||
          !matchPattern(compare.getRhs(), m_One()) ||
          !(extentOf(compare.getLhs()) == extentOf(extract.getTensor(), dim)))
        return {};
      read = select.getFalseValue();
    }
    auto loop = read.getDefiningOp<linalg::IndexOp>();
    if (!loop)
      return {};
    OpOperand *init = op.getDpsInitOperand(0);
    auto at = op.getMatchingIndexingMap(init).getResultPosition(
        getAffineDimExpr(loop.getDim(), op.getContext()));
    if (!at || !(extentOf(init->get(), *at) == extentOf(extract.getTensor(), dim)))
      return {};
    loops.push_back(loop.getDim());
  }
  return loops;
}

const ElementExpression *ElementExpressions::ofScalar(linalg::GenericOp op, Value value,
                                                      ArrayRef<unsigned> loops) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBody()) {
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    return ofElement(operand.get(), coordinatesOf(op, operand, loops));
  }
  Operation *inner = value.getDefiningOp();
  if (!inner || inner->getBlock() != op.getBody() || matchPattern(value, m_Constant()))
    return ofElement(value, {});
  if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
    if (auto read = matchIdentity(op, extract)) {
      Coordinates at;
      for (unsigned loop : *read)
        at.push_back(loops[loop]);
      return ofElement(extract.getTensor(), at);
    }
  auto key = std::pair(value.getAsOpaquePointer(), std::vector<unsigned>(loops));
  if (auto known = scalars.find(key); known != scalars.end())
    return known->second;
  ElementExpression expression;
  expression.type = value.getType();
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    expression.kind = ElementExpression::Coordinate;
    expression.coordinate = loops[index.getDim()];
    return scalars[key] = add(std::move(expression));
  }
  expression.kind = ElementExpression::Scalar;
  expression.op = inner;
  SmallVector<double> constants;
  for (Value operand : inner->getOperands()) {
    expression.operands.push_back(ofScalar(op, operand, loops));
    if (auto constant = expression.operands.back()->getConstant())
      constants.push_back(*constant);
  }
  if (constants.size() == expression.operands.size() && isa<FloatType>(expression.type) &&
      !constants.empty())
    if (auto folded = fold(inner, constants)) {
      expression.kind = ElementExpression::Constant;
      expression.constant = roundTo(*folded, expression.type);
      expression.operands.clear();
    }
  // Beside a zero nothing is added.
  if (expression.is("arith.addf"))
    for (unsigned side : {0, 1})
      if (expression.operands[side]->getConstant() == 0.0)
        return scalars[key] = expression.operands[1 - side];
  return scalars[key] = add(std::move(expression));
}
