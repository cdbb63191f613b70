// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices that a body computes with as with numbers, in 64 bits where 32 do not hold them:
//
//   %i = linalg.index 0 : index                    // of 50000
//   %m = arith.muli %i, %c100000 : index
//   %c = arith.index_cast %m : index to i64
// becomes
//   %w = arith.index_cast %i : index to i64
//   %c = arith.muli %w, %c100000_i64 : i64
//
// The ranges of values decide (IndexRanges.h). A cast of a wide integer to an index is the
// nearest 32-bit number later (ClampIndexCasts.cpp), which comparisons with a 32-bit number,
// minima, maxima and coordinates of tensors may use instead of the number itself.

#include "tilewright/Analysis/IndexRanges.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Specialize/Specialize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace tilewright {
#define GEN_PASS_DEF_WIDENINDICESPASS
#include "tilewright/Specialize/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {
class BodyWidener {
public:
  explicit BodyWidener(linalg::LinalgOp op) : body(*op.getBlock()), ranges(op) {}
  void run();

private:
  Value widen(Value value);
  void widenCompare(arith::CmpIOp op);
  void widenCast(Operation *op);
  void widenCoordinates(Operation *op);

  Block &body;
  IndexRanges ranges;
  DenseMap<Value, Value> wide;
};
} // namespace

/// `value` with 64 bits.
Value BodyWidener::widen(Value value) {
  if (Value known = wide.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  bool isInside = body.findAncestorOpInBlock(*value.getParentBlock()->getParentOp()) ||
                  value.getParentBlock() == &body;
  OpBuilder b(body.getParentOp()->getContext());
  if (!isInside)
    b.setInsertionPointToStart(&body);
  else if (op)
    b.setInsertionPointAfter(op);
  else
    b.setInsertionPointToStart(value.getParentBlock());
  Location loc = value.getLoc();
  Type i64 = b.getI64Type();
  Value result;
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    result = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(constant.getInt()));
  } else if (ranges.isExact(value)) {
    result = arith::IndexCastOp::create(b, loc, i64, value);
  } else if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    result = op->getOperand(0);
    unsigned width = result.getType().getIntOrFloatBitWidth();
    if (width > 64)
      result = arith::TruncIOp::create(b, loc, i64, result);
    else if (width < 64 && isa<arith::IndexCastOp>(op))
      result = arith::ExtSIOp::create(b, loc, i64, result);
    else if (width < 64)
      result = arith::ExtUIOp::create(b, loc, i64, result);
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(operand.getType().isIndex() ? widen(operand) : operand);
    b.setInsertionPointAfter(op);
    result = b.create(loc, op->getName().getIdentifier(), operands, i64, op->getAttrs())
                 ->getResult(0);
  }
  return wide[value] = result;
}

void BodyWidener::widenCompare(arith::CmpIOp op) {
  Value left = op.getLhs(), right = op.getRhs();
  if (!left.getType().isIndex() || ranges.compareAlike(left, right))
    return;
  OpBuilder b(op);
  if (std::optional<bool> known = ranges.decide(op)) {
    op.replaceAllUsesWith(
        arith::ConstantOp::create(b, op.getLoc(), b.getBoolAttr(*known)).getResult());
    return;
  }
  Value x = widen(left), y = widen(right);
  b.setInsertionPoint(op);
  op.replaceAllUsesWith(
      arith::CmpIOp::create(b, op.getLoc(), op.getPredicate(), x, y).getResult());
}

/// `op` casts an index to an integer.
void BodyWidener::widenCast(Operation *op) {
  Value index = op->getOperand(0);
  auto type = dyn_cast<IntegerType>(op->getResult(0).getType());
  if (!index.getType().isIndex() || !type)
    return;
  bool isWide = type.getWidth() > 32;
  // An index of 64 bits has no upper half that a cast to so many could fill with zeros.
  bool isSigned = isa<arith::IndexCastOp>(op) || type.getWidth() > 64;
  if (isWide ? ranges.isExact(index) && (isSigned || ranges.get(index).low >= 0)
             : ranges.hasLowBits(index))
    return;
  Value result = widen(index);
  OpBuilder b(op);
  if (type.getWidth() < 64)
    result = arith::TruncIOp::create(b, op->getLoc(), type, result);
  else if (type.getWidth() > 64 && isa<arith::IndexCastOp>(op))
    result = arith::ExtSIOp::create(b, op->getLoc(), type, result);
  else if (type.getWidth() > 64)
    result = arith::ExtUIOp::create(b, op->getLoc(), type, result);
  op->getResult(0).replaceAllUsesWith(result);
}

/// `op` uses indices as coordinates: a number that 32 bits do not hold is none of a tensor.
void BodyWidener::widenCoordinates(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value index = operand.get();
    if (!index.getType().isIndex() || ranges.isCoordinate(index))
      continue;
    Value number = widen(index);
    OpBuilder b(op);
    Type type = index.getType();
    IndexRange range = ranges.get(index);
    // Nothing to clamp, where the result fits.
    if (range.fits())
      number = arith::TruncIOp::create(b, op->getLoc(), b.getI32Type(), number);
    operand.set(arith::IndexCastOp::create(b, op->getLoc(), type, number));
  }
}

void BodyWidener::run() {
  SmallVector<Operation *> ops;
  body.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      widenCompare(compare);
    else if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
      widenCast(op);
    else if (isa<tensor::ExtractOp>(op))
      widenCoordinates(op);
  }
  if (wide.empty() && !ranges.hasDecided())
    return;
  // What was computed with 32 bits, if nobody else does with it.
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

void tilewright::widenIndices(ModuleOp program) {
  for (auto kernel : program.getOps<func::FuncOp>())
    if (hasNarrowIndices(kernel))
      kernel.walk([](linalg::LinalgOp op) { BodyWidener(op).run(); });
}

namespace {
struct WidenIndicesPass : tilewright::impl::WidenIndicesPassBase<WidenIndicesPass> {
  void runOnOperation() override { widenIndices(getOperation()); }
};
} // namespace
