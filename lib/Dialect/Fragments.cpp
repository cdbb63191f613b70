// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/Fragments.h"
#include "tilewright/Dialect/MatrixInstruction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

FragmentSteps::FragmentSteps(MmaOp op) : op(op) {
  for (unsigned operand : {0, 1})
    maps[operand] = cast<AffineMapAttr>(op.getMaps()[operand]).getValue();
  AffineMap acc = cast<AffineMapAttr>(op.getMaps()[2]).getValue();
  auto instruction =
      op.getInstruction()
          ? MatrixInstruction::parse(op.getContext(), *op.getInstruction())
          : std::nullopt;
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < acc.getNumDims(); ++loop)
    if (!acc.isFunctionOfDim(loop))
      loops.push_back(loop);
  if (loops.size() != 1 || !instruction)
    return;
  reduced = loops.front();
  auto type = cast<ShapedType>(op.getA().getType());
  for (unsigned dim = 0; dim < maps[0].getNumResults(); ++dim)
    if (maps[0].getDimPosition(dim) == reduced)
      extent = type.getDimSize(dim);
  bool cuts = isa<MemRefType>(op.getA().getType()) &&
              isa<MemRefType>(op.getB().getType()) &&
              extent % instruction->k == 0;
  step = cuts ? instruction->k : extent;
}

Value FragmentSteps::load(OpBuilder &b, Value operand, AffineMap map,
                          Value from) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type)
    return operand;
  Location loc = op.getLoc();
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> indices;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    bool isReduced = extent > 1 && map.getDimPosition(dim) == reduced;
    if (isReduced)
      shape[dim] = step;
    indices.push_back(isReduced ? from
                                : arith::ConstantIndexOp::create(b, loc, 0));
  }
  Value padding = arith::ConstantOp::create(b, loc,
                                            b.getZeroAttr(type.getElementType()));
  SmallVector<bool> inBounds(type.getRank(), true);
  return vector::TransferReadOp::create(
      b, loc, VectorType::get(shape, type.getElementType()), operand, indices,
      padding, ArrayRef<bool>(inBounds));
}

FragmentSteps::Fragments FragmentSteps::load(OpBuilder &b, Value left,
                                             Value right, int64_t number) {
  if (!isa<MemRefType>(left.getType()) && !isa<MemRefType>(right.getType()))
    return {left, right};
  return loadFrom(
      b, left, right,
      arith::ConstantIndexOp::create(b, op.getLoc(), number * step));
}

FragmentSteps::Fragments FragmentSteps::loadFrom(OpBuilder &b, Value left,
                                                 Value right, Value from) {
  Value first = load(b, left, maps[0], from);
  return {first, load(b, right, maps[1], from)};
}

Value FragmentSteps::multiply(OpBuilder &b, Fragments fragments, Value acc) {
  auto product = cast<MmaOp>(b.clone(*op));
  product.getAMutable().assign(fragments.first);
  product.getBMutable().assign(fragments.second);
  product.getAccMutable().assign(acc);
  return product.getResult();
}
