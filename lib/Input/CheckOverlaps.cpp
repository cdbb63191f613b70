// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On tensors an op reads all of its inputs before it writes. On memrefs it
// reads and writes element by element, which is the same unless it reads what
// it has written already:
//
//   %from = memref.subview %x[0] [7] [1]
//   %to   = memref.subview %x[1] [7] [1]
//   linalg.copy ins(%from) outs(%to)          // moves, or repeats element 0?
//
// Such ops are refused. Accepted are disjoint parts of a memref, and
// elementwise ops that read each element where they write it. Where offsets are
// known at run time only, the program checks them then.

#include "Views.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/UserNames.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

Value tilewright::viewedBy(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<memref::SubViewOp, memref::CastOp,
                      memref::CollapseShapeOp, memref::ExpandShapeOp,
                      memref::TransposeOp>(op))
    return op->getOperand(0);
  return {};
}

Value tilewright::rootOf(Value memref) {
  while (Value viewed = viewedBy(memref))
    memref = viewed;
  return memref;
}

/// The part of the root that `view` lies in; null for all of it, or where it is
/// not known.
static memref::SubViewOp boxOf(Value view) {
  memref::SubViewOp box;
  for (Value viewed = viewedBy(view); viewed;
       view = viewed, viewed = viewedBy(view))
    if (!view.getDefiningOp<memref::CastOp>())
      box = view.getDefiningOp<memref::SubViewOp>();
  return box;
}

/// True if both values are surely equal: the same view taken twice, at offsets
/// computed twice. `equal` has pairs that are known to be; one that is not ends all.
static bool isSame(Value a, Value b, DenseSet<std::pair<Value, Value>> &equal) {
  if (a == b || equal.contains({a, b}))
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || first->getNumResults() != 1 || first->getNumRegions() != 0 ||
      !isMemoryEffectFree(first) ||
      !OperationEquivalence::isEquivalentTo(
          first, second, [&](Value x, Value y) { return success(isSame(x, y, equal)); },
          /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations))
    return false;
  equal.insert({a, b});
  return true;
}

static bool isSame(Value a, Value b) {
  DenseSet<std::pair<Value, Value>> equal;
  return isSame(a, b, equal);
}

/// Whether `op` reads elements of `input` exactly where it writes those of
/// `init`, or replaces rows of `input` by rows of `init` as a whole.
static bool readsWhereItWrites(Operation *op, OpOperand &input,
                               OpOperand &init) {
  if (isa<memref::CopyOp, linalg::SoftmaxOp, ScanOp, SortOp>(op))
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured &&
         structured.getNumParallelLoops() == structured.getNumLoops() &&
         structured.getMatchingIndexingMap(&input) ==
             structured.getMatchingIndexingMap(&init);
}

/// A condition, true where the boxes have no element in common. An attribute
/// where it is known now.
static OpFoldResult areDisjoint(OpBuilder &b, Location loc,
                                memref::SubViewOp first,
                                memref::SubViewOp second) {
  OpFoldResult result = b.getBoolAttr(false);
  AffineExpr offset, size, stride;
  bindSymbols(b.getContext(), offset, size, stride);
  auto lastOf = [&](memref::SubViewOp box, unsigned dim) {
    return affine::makeComposedFoldedAffineApply(
        b, loc, offset + (size - 1) * stride,
        {box.getMixedOffsets()[dim], box.getMixedSizes()[dim],
         box.getMixedStrides()[dim]});
  };
  auto add = [&](OpFoldResult smaller, OpFoldResult larger) {
    auto known =
        std::pair(getConstantIntValue(smaller), getConstantIntValue(larger));
    if (known.first && known.second) {
      if (*known.first < *known.second)
        result = b.getBoolAttr(true);
      return;
    }
    if (auto sure = getConstantIntValue(result); sure && *sure)
      return;
    Value less =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                              getValueOrCreateConstantIndexOp(b, loc, smaller),
                              getValueOrCreateConstantIndexOp(b, loc, larger));
    if (auto before = dyn_cast<Value>(result))
      less = arith::OrIOp::create(b, loc, before, less);
    result = less;
  };
  for (unsigned dim = 0, e = first.getSourceType().getRank(); dim < e; ++dim) {
    OpFoldResult offsets[] = {first.getMixedOffsets()[dim],
                              second.getMixedOffsets()[dim]};
    add(lastOf(first, dim), offsets[1]);
    add(lastOf(second, dim), offsets[0]);
    // Every other column, and the columns between.
    auto starts = std::pair(getConstantIntValue(offsets[0]),
                            getConstantIntValue(offsets[1]));
    auto steps = std::pair(getConstantIntValue(first.getMixedStrides()[dim]),
                           getConstantIntValue(second.getMixedStrides()[dim]));
    if (!starts.first || !starts.second || !steps.first || !steps.second)
      continue;
    int64_t apart = *starts.first - *starts.second;
    int64_t step = std::gcd(*steps.first, *steps.second);
    // Steps of 0 and 0 stay where they start.
    if (step ? apart % step : apart)
      result = b.getBoolAttr(true);
  }
  return result;
}

/// `written` is a destination of `op`, `other` another operand.
static LogicalResult checkPair(Operation *op, OpOperand &written,
                               OpOperand &other, bool isRead) {
  if (rootOf(written.get()) != rootOf(other.get()))
    return success();
  if (isSame(written.get(), other.get()) && isRead &&
      readsWhereItWrites(op, other, written))
    return success();
  OpBuilder b(op);
  memref::SubViewOp first = boxOf(written.get()), second = boxOf(other.get());
  OpFoldResult disjoint = b.getBoolAttr(false);
  if (first && second)
    disjoint = areDisjoint(b, op->getLoc(), first, second);
  bool inOrder = written.getOperandNumber() < other.getOperandNumber();
  std::string what =
      nameOperand(inOrder ? written : other) + " and " +
      nameOperand(inOrder ? other : written) +
      " are overlapping parts of one memref, " +
      (isRead ? "read and written" : "both written") +
      " at different places, so that the result depends on the order of "
      "iterations; copy one of them to a memref of its own first";
  if (auto known = getConstantIntValue(disjoint))
    return *known ? success() : op->emitOpError(what);
  cf::AssertOp::create(b, op->getLoc(), cast<Value>(disjoint),
                       op->getName().getStringRef().str() + ": " + what);
  return success();
}

static LogicalResult checkOp(Operation *op) {
  SmallVector<OpOperand *> written;
  if (auto structured = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpOperand &init : structured.getDpsInitsMutable())
      written.push_back(&init);
  else if (auto copy = dyn_cast<memref::CopyOp>(op))
    written.push_back(&copy.getTargetMutable());
  for (OpOperand *init : written)
    for (OpOperand &other : op->getOpOperands()) {
      bool isWritten = llvm::is_contained(written, &other);
      if (!isa<MemRefType>(init->get().getType()) ||
          !isa<MemRefType>(other.get().getType()) ||
          (isWritten && other.getOperandNumber() <= init->getOperandNumber()))
        continue;
      auto structured = dyn_cast<linalg::LinalgOp>(op);
      if (structured && !isWritten &&
          !structured.payloadUsesValueFromOperand(&other))
        continue;
      if (failed(checkPair(op, *init, other, !isWritten)))
        return failure();
    }
  return success();
}

LogicalResult tilewright::checkOverlaps(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa<DestinationStyleOpInterface, memref::CopyOp>(op))
      ops.push_back(op);
  });
  return failure(
      llvm::any_of(ops, [](Operation *op) { return failed(checkOp(op)); }));
}
