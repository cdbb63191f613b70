// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar bodies of linalg ops -> the same ops on vectors. A value that is the
// same for all elements stays a scalar until it meets a vector.
//
//   ^bb0(%x: f32, %b: f32, %o: f32):            %x: vector<64x64xf32>
//     %s = arith.addf %x, %b                    -> arith.addf : vector<64x64xf32>
//     %i = linalg.index 1                       -> vector.step : vector<64xindex>,
//                                                  broadcast to 64x64

#include "Vectorizer.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

/// Replaces affine.apply in `body` by arithmetic, which has a vector form.
static LogicalResult expandAffine(Block *body) {
  for (Operation &op : llvm::make_early_inc_range(*body)) {
    auto apply = dyn_cast<affine::AffineApplyOp>(op);
    if (!apply)
      continue;
    OpBuilder b(apply);
    auto values = affine::expandAffineMap(
        b, apply.getLoc(), apply.getAffineMap(),
        SmallVector<Value>(apply->getOperands()));
    if (!values)
      return apply.emitOpError("has no vector form");
    apply.getResult().replaceAllUsesWith(values->front());
    apply.erase();
  }
  return success();
}

/// Integer division by a lane that lies outside must not divide by zero.
static bool dividesIntegers(Operation &op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

LogicalResult Vectorizer::vectorizeBodyOp(OpState &state, Operation &op) {
  Location loc = op.getLoc();
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    unsigned loop = index.getDim();
    if (!state.extents[loop]) {
      state.values[index] = arith::ConstantIndexOp::create(b, loc, 0);
      return success();
    }
    Value step = vector::StepOp::create(
        b, loc, VectorType::get({state.extents[loop]}, b.getIndexType()));
    FailureOr<Value> value = reorder(state, step, {loop}, state.order);
    if (failed(value))
      return failure();
    state.values[index] = *value;
    return success();
  }

  SmallVector<Value> operands;
  bool anyVector = false;
  for (Value operand : op.getOperands()) {
    Value mapped = state.values.lookup(operand);
    if (!mapped) {
      Operation *def = operand.getDefiningOp();
      bool inside = def ? def->getBlock() == op.getBlock()
                        : cast<BlockArgument>(operand).getOwner() ==
                              op.getBlock();
      // The accumulator, or something computed from it: if it is anything
      // but the combination at the end, `reduce` reports it.
      if (inside)
        return success();
      mapped = operand;
    }
    anyVector |= isa<VectorType>(mapped.getType());
    operands.push_back(mapped);
  }
  if (op.getNumRegions() || !isMemoryEffectFree(&op) ||
      (anyVector && !OpTrait::hasElementwiseMappableTraits(&op)))
    return op.emitOpError() << "in the body of " << state.op->getName()
                            << " has no vector form; only elementwise arith "
                               "and math ops and linalg.index do";

  SmallVector<Type> types(op.getResultTypes());
  if (anyVector) {
    for (Value &operand : operands)
      operand = toVector(state, operand, state.order);
    for (Type &type : types)
      type = state.getType(state.order, type);
    if (dividesIntegers(op)) {
      Type element = getElementTypeOrSelf(operands[1].getType());
      operands[1] = keepInside(state, operands[1], state.order, state.order,
                               b.getIntegerAttr(element, 1));
    }
  }
  OperationState copy(loc, op.getName(), operands, types, op.getAttrs());
  Operation *vectorized = b.create(copy);
  for (auto [before, now] :
       llvm::zip_equal(op.getResults(), vectorized->getResults()))
    state.values[before] = now;
  return success();
}

LogicalResult Vectorizer::vectorizeBody(OpState &state) {
  Block *body = state.op.getBlock();
  if (failed(expandAffine(body)))
    return failure();
  for (Operation &op : body->without_terminator()) {
    // Combinations are written by `reduce`.
    bool combines = false;
    if (state.op.getNumReductionLoops())
      for (unsigned i = 0, e = state.op.getNumDpsInits(); i < e; ++i)
        combines |= matchCombiner(state.op, i).op == &op;
    if (!combines && failed(vectorizeBodyOp(state, op)))
      return failure();
  }
  return success();
}
