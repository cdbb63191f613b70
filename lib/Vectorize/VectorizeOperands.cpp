// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of linalg ops as vectors over loops of the op, whose lanes outside of the tensor hold a
// value that the op asks for.
//
//   operand (m, k) over loops (k, n, m), k partial
//   -> %r = vector.transfer_read %x[%i, %k], %pad {in_bounds = [false, true]} : vector<KxM>
//      %v = vector.broadcast (vector.shape_cast %r) : vector<KxNxM>

#include "Vectorizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

Value Vectorizer::toVector(OpState &state, Value value, Loops loops) {
  if (isa<VectorType>(value.getType()) || loops.empty())
    return value;
  return vector::BroadcastOp::create(
      b, state.op.getLoc(), state.getType(loops, value.getType()), value);
}

FailureOr<Value> Vectorizer::reorder(OpState &state, Value value, Loops from,
                                     Loops to) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return value;
  if (type != state.getType(from, type.getElementType()))
    return state.op.emitOpError()
           << "reads a tile of type " << type << " where its own tile is "
           << state.getType(from, type.getElementType());
  Location loc = state.op.getLoc();
  // Into the order of `to`, then a dim of one element for every missing loop.
  SmallVector<int64_t> permutation, shape;
  for (unsigned loop : to) {
    auto *found = llvm::find(from, loop);
    if (found != from.end()) {
      permutation.push_back(found - from.begin());
      shape.push_back(state.extents[loop]);
    } else {
      shape.push_back(1);
    }
  }
  if (permutation.size() != from.size())
    return state.op.emitOpError("has a result that lacks a parallel loop");
  if (!llvm::is_sorted(permutation))
    value = vector::TransposeOp::create(b, loc, value, permutation);
  if (from.size() == to.size())
    return value;
  // Missing loops in front need no dims: broadcast adds them.
  SmallVector<unsigned> present;
  ArrayRef<int64_t> inner(shape);
  unsigned leading = 0;
  while (leading < to.size() && !llvm::is_contained(from, to[leading]))
    ++leading;
  inner = inner.drop_front(leading);
  if (inner.size() != from.size())
    value = vector::ShapeCastOp::create(
        b, loc, VectorType::get(inner, type.getElementType()), value);
  return vector::BroadcastOp::create(
             b, loc, state.getType(to, type.getElementType()), value)
      .getResult();
}

FailureOr<Value> Vectorizer::readOperand(OpState &state, unsigned number,
                                         Loops loops, Attribute pad) {
  linalg::LinalgOp op = state.op;
  Location loc = op.getLoc();
  Value operand = op->getOperand(number);
  if (!isa<TensorType>(operand.getType()))
    return operand;
  const Tile *tile = lookup(operand);
  if (!tile)
    return op.emitOpError() << "operand " << number << " is no tile";
  Type element = getElementTypeOrSelf(operand.getType());
  switch (tile->kind) {
  case Tile::Splat:
    return tile->value;
  case Tile::Empty:
    return arith::ConstantOp::create(b, loc,
                                     cast<TypedAttr>(b.getZeroAttr(element)))
        .getResult();
  case Tile::Register:
    return reorder(state, tile->value, state.loopsOf(number), loops);
  case Tile::Memory:
    break;
  }

  // The larger operand is read as it lies in memory, then repeated: its layout
  // is what the product's follows.
  SmallVector<unsigned> own = state.loopsOf(number);
  if (state.larger == int64_t(number) && !own.empty() &&
      own.size() < loops.size()) {
    FailureOr<Value> value = readOperand(state, number, own, pad);
    return failed(value) ? value : reorder(state, *value, own, loops);
  }

  if (tile->packed)
    return readPacked(state, number, loops);
  SmallVector<Value> indices;
  for (OpFoldResult offset : tile->offsets)
    indices.push_back(getValueOrCreateConstantIndexOp(b, loc, offset));
  AffineMap operandMap = state.maps[number];
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> inBounds;
  bool any = false;
  for (unsigned loop : loops) {
    std::optional<unsigned> position =
        operandMap.getResultPosition(b.getAffineDimExpr(loop));
    any |= position.has_value();
    exprs.push_back(position ? b.getAffineDimExpr(*position)
                             : b.getAffineConstantExpr(0));
    inBounds.push_back(!position || !state.isPartial(loop));
  }
  if (!any)
    return tensor::ExtractOp::create(b, loc, tile->value, indices).getResult();
  AffineMap map =
      AffineMap::get(operandMap.getNumResults(), 0, exprs, b.getContext());
  Value padValue =
      arith::ConstantOp::create(b, loc, cast<TypedAttr>(pad)).getResult();
  return vector::TransferReadOp::create(b, loc, state.getType(loops, element),
                                        tile->value, indices, padValue, map,
                                        ArrayRef<bool>(inBounds))
      .getResult();
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

Value Vectorizer::makeMask(OpState &state, Loops order, Loops loops) {
  Location loc = state.op.getLoc();
  // With constant bounds, vector.create_mask would fold to a constant, which
  // has no form per thread; coordinates have one.
  bool constant = llvm::none_of(loops, [&](unsigned loop) {
    return state.isPartial(loop) && !getConstantIntValue(state.sizes[loop]);
  });
  if (constant) {
    Value mask;
    for (unsigned loop : loops) {
      if (!state.isPartial(loop))
        continue;
      Value step = vector::StepOp::create(
          b, loc, VectorType::get({state.extents[loop]}, b.getIndexType()));
      Value bound = arith::ConstantOp::create(
          b, loc,
          DenseElementsAttr::get(
              cast<VectorType>(step.getType()),
              b.getIndexAttr(*getConstantIntValue(state.sizes[loop]))));
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           step, bound);
      FailureOr<Value> wide = reorder(state, inside, {loop}, order);
      if (failed(wide))
        return {};
      mask = mask ? arith::AndIOp::create(b, loc, mask, *wide).getResult()
                  : *wide;
    }
    return mask;
  }
  SmallVector<Value> bounds;
  for (unsigned loop : order) {
    bool masked = llvm::is_contained(loops, loop) && state.isPartial(loop);
    bounds.push_back(
        masked ? getValueOrCreateConstantIndexOp(b, loc, state.sizes[loop])
               : arith::ConstantIndexOp::create(b, loc, state.extents[loop])
                     .getResult());
  }
  return vector::CreateMaskOp::create(b, loc,
                                      state.getType(order, b.getI1Type()),
                                      bounds);
}

Value Vectorizer::keepInside(OpState &state, Value value, Loops order,
                             Loops loops, Attribute outside) {
  if (llvm::none_of(loops, [&](unsigned l) { return state.isPartial(l); }))
    return value;
  value = toVector(state, value, order);
  Location loc = state.op.getLoc();
  Value other = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<VectorType>(value.getType()), outside));
  return arith::SelectOp::create(b, loc, makeMask(state, order, loops), value,
                                 other);
}
