// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/Fragments.h"
#include "tilewright/Dialect/MatrixInstruction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

/// Whether result `dim` of `map` counts boxes, of which the next dim is the inside.
static bool countsBoxes(AffineMap map, unsigned dim) {
  return map.getResult(dim).getKind() == AffineExprKind::FloorDiv;
}

/// `map` with boxes and what is inside of them as one dim.
static AffineMap withoutBoxes(AffineMap map) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults()) {
    if (result.getKind() == AffineExprKind::FloorDiv)
      continue;
    auto inside = dyn_cast<AffineBinaryOpExpr>(result);
    results.push_back(inside ? inside.getLHS() : result);
  }
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

/// `type` with boxes of `map` and what is inside of them as one dim.
static VectorType withoutBoxes(VectorType type, AffineMap map) {
  SmallVector<int64_t> shape;
  int64_t boxes = 1;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (countsBoxes(map, dim)) {
      boxes = extent;
      continue;
    }
    shape.push_back(boxes * extent);
    boxes = 1;
  }
  return VectorType::get(shape, type.getElementType());
}

/// The part of `tile` that a step of `step` along loop `reduced` reads.
static VectorType partOf(MemRefType tile, AffineMap map, unsigned reduced, int64_t step) {
  SmallVector<int64_t> shape(tile.getShape());
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (map.getResult(dim) == getAffineDimExpr(reduced, map.getContext()))
      shape[dim] = step;
  return VectorType::get(shape, tile.getElementType());
}

/// The one loop that is summed over.
static std::optional<unsigned> reducedLoop(AffineMap acc) {
  std::optional<unsigned> found;
  for (unsigned loop = 0; loop < acc.getNumDims(); ++loop) {
    if (acc.isFunctionOfDim(loop))
      continue;
    if (found)
      return std::nullopt;
    found = loop;
  }
  return found;
}

VectorType FragmentSteps::typeOf(MemRefType tile, ArrayAttr maps, unsigned operand,
                                 StringRef instruction) {
  AffineMap map = cast<AffineMapAttr>(maps[operand]).getValue();
  auto known = MatrixInstruction::parse(tile.getContext(), instruction);
  unsigned reduced = *reducedLoop(cast<AffineMapAttr>(maps[2]).getValue());
  return withoutBoxes(partOf(tile, map, reduced, known->k), map);
}

FragmentSteps::FragmentSteps(MmaOp op) : op(op) {
  for (unsigned operand : {0, 1})
    maps[operand] = cast<AffineMapAttr>(op.getMaps()[operand]).getValue();
  AffineMap acc = cast<AffineMapAttr>(op.getMaps()[2]).getValue();
  auto instruction =
      op.getInstruction()
          ? MatrixInstruction::parse(op.getContext(), *op.getInstruction())
          : std::nullopt;
  std::optional<unsigned> loop = reducedLoop(acc);
  if (!loop || !instruction)
    return;
  reduced = *loop;
  auto type = cast<ShapedType>(op.getA().getType());
  AffineExpr sum = getAffineDimExpr(reduced, op.getContext());
  for (unsigned dim = 0; dim < maps[0].getNumResults(); ++dim)
    if (maps[0].getResult(dim) == sum)
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
  VectorType part = VectorType::get(type.getShape(), type.getElementType());
  if (extent > 1)
    part = partOf(type, map, reduced, step);
  SmallVector<Value> indices;
  for (AffineExpr result : map.getResults()) {
    bool isReduced = extent > 1 && result == getAffineDimExpr(reduced, op.getContext());
    indices.push_back(isReduced ? from
                                : arith::ConstantIndexOp::create(b, loc, 0));
  }
  Value padding = arith::ConstantOp::create(b, loc,
                                            b.getZeroAttr(type.getElementType()));
  SmallVector<bool> inBounds(type.getRank(), true);
  Value read = vector::TransferReadOp::create(b, loc, part, operand, indices, padding,
                                              ArrayRef<bool>(inBounds));
  VectorType fragment = withoutBoxes(part, map);
  return fragment == part
             ? read
             : vector::ShapeCastOp::create(b, loc, fragment, read).getResult();
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
  Builder builder(op.getContext());
  product.setMapsAttr(builder.getAffineMapArrayAttr(
      {withoutBoxes(maps[0]), withoutBoxes(maps[1]),
       cast<AffineMapAttr>(op.getMaps()[2]).getValue()}));
  return product.getResult();
}
