// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of expressions (ElementExpression.h): operands whose dims are atoms, and ops that
// compute an expression anew, over no more than the coordinates that it depends on.
//
//   exp(%a[y, x] * 0.5)   ->   generic (x, y): exp(%a[y, x] * 0.5)

#include "ElementExpression.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace tilewright;

/// `tensor` without the dims that have no atom.
static Value dropUnits(OpBuilder &b, Value tensor, ArrayRef<Coordinates> atoms) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices group;
  for (auto [dim, own] : llvm::enumerate(atoms)) {
    group.push_back(dim);
    if (own.empty())
      continue;
    groups.push_back(std::exchange(group, {}));
  }
  if (!groups.empty())
    groups.back().append(group);
  return tensor::CollapseShapeOp::create(b, tensor.getLoc(), tensor, groups);
}

Value tilewright::reshapeToAtoms(OpBuilder &b, Value tensor,
                                 ArrayRef<unsigned> coordinates,
                                 const ElementExpressions &expressions,
                                 Coordinates &atoms) {
  atoms = expressions.atomsOf(coordinates);
  SmallVector<Coordinates> dims;
  for (unsigned coordinate : coordinates)
    dims.push_back(expressions.atomsOf(coordinate));
  if (llvm::any_of(dims, [](const Coordinates &own) { return own.empty(); })) {
    tensor = dropUnits(b, tensor, dims);
    llvm::erase_if(dims, [](const Coordinates &own) { return own.empty(); });
  }
  if (llvm::all_of(dims, [](const Coordinates &own) { return own.size() == 1; }))
    return tensor;
  Location loc = tensor.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> known(type.getShape()), shape;
  SmallVector<OpFoldResult> sizes;
  SmallVector<ReassociationIndices> groups;
  for (auto [dim, own] : llvm::enumerate(dims)) {
    int64_t product = 1;
    unsigned unknown = 0;
    for (unsigned atom : own)
      if (ShapedType::isDynamic(expressions.sizeOf(atom)))
        ++unknown;
      else
        product *= expressions.sizeOf(atom);
    bool isCounted = unknown > 1 && llvm::all_of(own, [&](unsigned atom) {
                       return expressions.extentOf(atom).isKnown();
                     });
    if (own.size() > 1 && ((unknown > 1 && !isCounted) || product == 0))
      return {};
    if (own.size() > 1 && unknown == 0)
      known[dim] = product;
    ReassociationIndices group;
    for (unsigned atom : own) {
      int64_t size = own.size() == 1 ? known[dim] : expressions.sizeOf(atom);
      if (ShapedType::isDynamic(size) && !ShapedType::isDynamic(known[dim]))
        size = known[dim] / product;
      group.push_back(shape.size());
      shape.push_back(size);
      if (!ShapedType::isDynamic(size)) {
        sizes.push_back(b.getIndexAttr(size));
        continue;
      }
      if (isCounted) {
        sizes.push_back(getSize(b, loc, expressions.extentOf(atom)));
        continue;
      }
      Value all = tensor::DimOp::create(b, loc, tensor, dim);
      if (product != 1)
        all = arith::DivUIOp::create(b, loc, all,
                                     arith::ConstantIndexOp::create(b, loc, product));
      sizes.push_back(all);
    }
    groups.push_back(group);
  }
  auto wanted = RankedTensorType::get(known, type.getElementType());
  if (wanted != type)
    tensor = tensor::CastOp::create(b, loc, wanted, tensor);
  return tensor::ExpandShapeOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), tensor, groups, sizes);
}

namespace {
/// Collects what an expression reads, then writes it into a body.
class Writer {
public:
  explicit Writer(const ElementExpressions &expressions) : expressions(expressions) {}

  /// False where a part cannot be computed in a body of its own.
  bool collect(OpBuilder &b, const ElementExpression &expression) {
    if (!collected.insert(&expression).second)
      return true;
    if (expression.isElement() && !isWhole(expression)) {
      for (const ElementExpression *known : leaves)
        if (expressions.isSame(*known, expression))
          return true;
      Coordinates atoms;
      Value tensor =
          reshapeToAtoms(b, expression.tensor, expression.coordinates, expressions, atoms);
      leaves.push_back(&expression);
      inputs.push_back(tensor);
      leafAtoms.push_back(atoms);
      return bool(tensor);
    }
    if (expression.kind == ElementExpression::Coordinate)
      return expression.coordinate == kUnitCoordinate ||
             expressions.isAtom(expression.coordinate);
    if (expression.kind == ElementExpression::Scalar && !expression.isSimple())
      return false;
    return llvm::all_of(expression.operands, [&](const ElementExpression *operand) {
      return collect(b, *operand);
    });
  }
  Value write(OpBuilder &b, Location loc, const ElementExpression &expression,
              ArrayRef<unsigned> atoms, ValueRange arguments) {
    if (auto known = written.find(&expression); known != written.end())
      return known->second;
    Value &value = written[&expression];
    switch (expression.kind) {
    case ElementExpression::Constant:
      return value = arith::ConstantOp::create(
                 b, loc, b.getFloatAttr(cast<FloatType>(expression.type), expression.constant));
    case ElementExpression::Coordinate:
      if (expression.coordinate == kUnitCoordinate)
        return value = arith::ConstantIndexOp::create(b, loc, 0);
      return value = linalg::IndexOp::create(
                 b, loc, llvm::find(atoms, expression.coordinate) - atoms.begin());
    case ElementExpression::Element:
      if (!expression.isElement() || isWhole(expression))
        return value = ofProgram(b, expression.tensor);
      for (auto [known, argument] : llvm::zip(leaves, arguments))
        if (expressions.isSame(*known, expression))
          return value = argument;
      llvm_unreachable("every leaf was collected");
    case ElementExpression::Scalar:
      break;
    }
    IRMapping mapping;
    for (auto [operand, from] :
         llvm::zip_equal(expression.operands, expression.op->getOperands()))
      mapping.map(from, write(b, loc, *operand, atoms, arguments));
    return written[&expression] = b.clone(*expression.op, mapping)->getResult(0);
  }

  SmallVector<Value> inputs;
  SmallVector<Coordinates> leafAtoms;

private:
  /// A tensor that an op in a body reads from (tensor.extract).
  static bool isWhole(const ElementExpression &leaf) {
    return int64_t(leaf.coordinates.size()) !=
           cast<RankedTensorType>(leaf.tensor.getType()).getRank();
  }

  /// `value`, or the constant that it is in a body, anew: other bodies do not see that.
  static Value ofProgram(OpBuilder &b, Value value) {
    Operation *op = value.getDefiningOp();
    return op && isa<linalg::LinalgOp>(op->getParentOp()) ? b.clone(*op)->getResult(0) : value;
  }

  const ElementExpressions &expressions;
  llvm::SmallPtrSet<const ElementExpression *, 8> collected;
  SmallVector<const ElementExpression *> leaves;
  llvm::DenseMap<const ElementExpression *, Value> written;
};
} // namespace

Value tilewright::writeTensor(
    OpBuilder &b, Location loc, ArrayRef<const ElementExpression *> parts,
    const ElementExpressions &expressions, Type element, ArrayRef<unsigned> innermost,
    llvm::function_ref<OpFoldResult(unsigned)> sizeOf, Coordinates &atoms,
    llvm::function_ref<Value(OpBuilder &, ValueRange)> write) {
  Writer writer(expressions);
  atoms.clear();
  for (const ElementExpression *part : parts) {
    if (!writer.collect(b, *part))
      return {};
    llvm::append_range(atoms, expressions.atomsOf(*part));
  }
  llvm::sort(atoms);
  atoms.erase(std::unique(atoms.begin(), atoms.end()), atoms.end());
  for (unsigned atom : innermost)
    if (auto found = llvm::find(atoms, atom); found != atoms.end())
      std::rotate(found, found + 1, atoms.end());
  SmallVector<OpFoldResult> sizes;
  for (unsigned atom : atoms) {
    OpFoldResult size = sizeOf(atom);
    if (!size)
      return {};
    sizes.push_back(size);
  }
  MLIRContext *context = b.getContext();
  SmallVector<AffineMap> maps;
  for (const Coordinates &own : writer.leafAtoms) {
    SmallVector<AffineExpr> exprs;
    for (unsigned atom : own)
      exprs.push_back(getAffineDimExpr(llvm::find(atoms, atom) - atoms.begin(), context));
    maps.push_back(AffineMap::get(atoms.size(), 0, exprs, context));
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(atoms.size(), context));
  Value init = tensor::EmptyOp::create(b, loc, sizes, element);
  SmallVector<utils::IteratorType> iterators(atoms.size(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, init.getType(), writer.inputs, init, maps, iterators,
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               SmallVector<Value> values;
               for (const ElementExpression *part : parts)
                 values.push_back(
                     writer.write(inner, at, *part, atoms, arguments.drop_back()));
               linalg::YieldOp::create(inner, at, write(inner, values));
             })
      .getResult(0);
}
