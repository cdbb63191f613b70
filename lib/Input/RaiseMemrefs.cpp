// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs on memrefs become programs on tensors, by keeping for every memref
// the tensor that it holds at each point.
//
//   func @f(%a: memref<8xf32>, %b: memref<8xf32>) {
//     linalg.exp ins(%a) outs(%b)
//   }
// becomes
//   func @f(%a: memref<8xf32>, %b: memref<8xf32>) {
//     %ta = bufferization.to_tensor %a restrict writable
//     %tb = bufferization.to_tensor %b restrict writable
//     %r = linalg.exp ins(%ta) outs(%tb) -> tensor<8xf32>
//     bufferization.materialize_in_destination %r in writable %b
//   }
//
// A view is read as a slice of what its memref holds, and written by putting
// the slice back:
//   %v = memref.subview %b[2] [4] [1]
//   linalg.exp ins(%a) outs(%v)
// becomes
//   %s = tensor.extract_slice %tb[2] [4] [1]
//   %r = linalg.exp ins(%ta) outs(%s)
//   %tb1 = tensor.insert_slice %r into %tb[2] [4] [1]
//
// It is exact because no two memrefs of the function overlap (allocations do
// not, arguments are declared not to: restrict), except views of one memref,
// which are all seen through to it.

#include "MemrefRaiser.h"
#include "tilewright/Dialect/Fourier.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_RAISEMEMREFSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

static bool hasMemrefs(Operation *op) {
  return llvm::any_of(op->getOperands(), isMemref) || llvm::any_of(op->getResults(), isMemref);
}

static bool touchesMemrefs(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return hasMemrefs(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether ops in its regions use memrefs otherwise than to load elements.
static bool usesMemrefsInside(Operation *op) {
  return llvm::any_of(op->getRegions(), [](Region &region) {
    return region
        .walk([](Operation *inner) {
          return hasMemrefs(inner) && !isa<memref::LoadOp>(inner) ? WalkResult::interrupt()
                                                                  : WalkResult::advance();
        })
        .wasInterrupted();
  });
}

/// `value` with its dims permuted as memref.transpose permutes them.
static Value transpose(OpBuilder &b, Location loc, Value value, AffineMap map) {
  SmallVector<int64_t> order;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, value);
  SmallVector<OpFoldResult> permuted;
  for (AffineExpr dim : map.getResults()) {
    order.push_back(cast<AffineDimExpr>(dim).getPosition());
    permuted.push_back(sizes[order.back()]);
  }
  Value empty = tensor::EmptyOp::create(
      b, loc, permuted, cast<ShapedType>(value.getType()).getElementType());
  return linalg::TransposeOp::create(b, loc, value, empty, order)->getResult(0);
}

Value MemrefRaiser::read(Location loc, Value memref) {
  Value viewed = viewedBy(memref);
  if (!viewed)
    return current.lookup(memref);
  Value from = read(loc, viewed);
  RankedTensorType type = tensorOf(memref);
  Operation *op = memref.getDefiningOp();
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return tensor::ExtractSliceOp::create(
        rewriter, loc, type, from, view.getMixedOffsets(), view.getMixedSizes(),
        view.getMixedStrides());
  if (auto view = dyn_cast<memref::CollapseShapeOp>(op))
    return tensor::CollapseShapeOp::create(rewriter, loc, type, from,
                                           view.getReassociationIndices());
  if (auto view = dyn_cast<memref::ExpandShapeOp>(op))
    return tensor::ExpandShapeOp::create(rewriter, loc, type, from,
                                         view.getReassociationIndices(),
                                         view.getMixedOutputShape());
  if (auto view = dyn_cast<memref::TransposeOp>(op))
    return transpose(rewriter, loc, from, view.getPermutation());
  return from.getType() == type
             ? from
             : tensor::CastOp::create(rewriter, loc, type, from).getResult();
}

void MemrefRaiser::write(Location loc, Value memref, Value value) {
  Value viewed = viewedBy(memref);
  if (!viewed) {
    current[memref] = value;
    stored.insert(memref);
    return;
  }
  RankedTensorType type = tensorOf(viewed);
  Operation *op = memref.getDefiningOp();
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    value = tensor::InsertSliceOp::create(
        rewriter, loc, value, read(loc, viewed), view.getMixedOffsets(),
        view.getMixedSizes(), view.getMixedStrides());
  else if (auto view = dyn_cast<memref::CollapseShapeOp>(op))
    value = tensor::ExpandShapeOp::create(
        rewriter, loc, type, value, view.getReassociationIndices(),
        tensor::getMixedSizes(rewriter, loc, read(loc, viewed)));
  else if (auto view = dyn_cast<memref::ExpandShapeOp>(op))
    value = tensor::CollapseShapeOp::create(rewriter, loc, type, value,
                                            view.getReassociationIndices());
  else if (auto view = dyn_cast<memref::TransposeOp>(op))
    value = transpose(rewriter, loc, value,
                      inversePermutation(view.getPermutation()));
  else if (value.getType() != type)
    value = tensor::CastOp::create(rewriter, loc, type, value);
  write(loc, viewed, value);
}

/// What a body loads is extracted from what the memref holds before `op`.
LogicalResult MemrefRaiser::raiseLoads(DestinationStyleOpInterface op) {
  SmallVector<memref::LoadOp> loads;
  op->walk([&](memref::LoadOp load) { loads.push_back(load); });
  for (memref::LoadOp load : loads) {
    Value root = rootOf(load.getMemRef());
    if (llvm::any_of(op.getDpsInits(), [&](Value init) { return rootOf(init) == root; }))
      return load.emitOpError("in a body loads from what the op writes; write into another "
                              "memref");
    rewriter.setInsertionPoint(op);
    Value from = read(load.getLoc(), load.getMemRef());
    rewriter.setInsertionPoint(load);
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(load, from, load.getIndices());
  }
  rewriter.setInsertionPoint(op);
  return success();
}

LogicalResult MemrefRaiser::raiseStructured(DestinationStyleOpInterface op) {
  if (failed(raiseLoads(op)))
    return failure();
  SmallVector<Value> operands;
  SmallVector<Type> results(op->getResultTypes());
  for (Value operand : op->getOperands())
    operands.push_back(isMemref(operand) ? read(op.getLoc(), operand)
                                         : operand);
  for (Value init : op.getDpsInits()) {
    if (!isMemref(init))
      return op.emitOpError("mixes memrefs and tensors; use one of them");
    results.push_back(tensorOf(init));
  }
  Operation *raised = clone(rewriter, op, results, operands);
  unsigned first = op->getNumResults();
  for (auto [number, init] : llvm::enumerate(op.getDpsInits()))
    write(op.getLoc(), init, raised->getResult(first + number));
  rewriter.replaceOp(op, raised->getResults().take_front(first));
  return success();
}

LogicalResult MemrefRaiser::raiseCopy(memref::CopyOp op) {
  Value value = read(op.getLoc(), op.getSource());
  Type wanted = tensorOf(op.getTarget());
  if (value.getType() != wanted)
    value = tensor::CastOp::create(rewriter, op.getLoc(), wanted, value);
  write(op.getLoc(), op.getTarget(), value);
  rewriter.eraseOp(op);
  return success();
}

LogicalResult MemrefRaiser::raiseOp(Operation *op) {
  if (!touchesMemrefs(op))
    return success();
  rewriter.setInsertionPoint(op);
  Location loc = op->getLoc();
  // Every memref below has a value: there is no other way to make one.
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    auto type = dyn_cast<MemRefType>(alloc.getType());
    if (!type.getLayout().isIdentity() || !alloc.getSymbolOperands().empty())
      return op->emitOpError("has a layout; only identity layouts are raised");
    current[alloc] = tensor::EmptyOp::create(rewriter, loc, tensorOf(alloc),
                                             alloc.getDynamicSizes());
    return success();
  }
  if (auto buffer = dyn_cast<bufferization::ToBufferOp>(op)) {
    current[buffer] = buffer.getTensor();
    return success();
  }
  if (auto tensor = dyn_cast<bufferization::ToTensorOp>(op)) {
    rewriter.replaceOp(op, read(loc, tensor.getBuffer()));
    return success();
  }
  if (auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
    write(loc, store.getDest(), store.getSource());
    rewriter.eraseOp(op);
    return success();
  }
  if (op->getNumResults() == 1 && viewedBy(op->getResult(0))) {
    auto cast = dyn_cast<memref::CastOp>(op);
    if (cast && (!isa<MemRefType>(cast.getType()) ||
                 !isa<MemRefType>(cast.getSource().getType())))
      return op->emitOpError("casts an unranked memref; give it a rank");
    return success(); // seen through by what uses it
  }
  if (isa<memref::DeallocOp>(op)) {
    rewriter.eraseOp(op);
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return raiseFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return raiseIf(branch);
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    rewriter.replaceOpWithNewOp<tensor::DimOp>(op, read(loc, dim.getSource()),
                                               dim.getIndex());
    return success();
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(
        op, read(loc, load.getMemRef()), load.getIndices());
    return success();
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    Value value = tensor::InsertOp::create(
        rewriter, loc, store.getValueToStore(), read(loc, store.getMemRef()),
        store.getIndices());
    write(loc, store.getMemRef(), value);
    rewriter.eraseOp(op);
    return success();
  }
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return raiseCopy(copy);
  bool isStructured =
      isa<linalg::LinalgOp, linalg::SoftmaxOp, ScatterOp, ScanOp, SortOp, TopKOp, NonzeroOp,
          UniqueOp,
          FftOp>(
          op) &&
      !usesMemrefsInside(op);
  if (isStructured)
    return raiseStructured(cast<DestinationStyleOpInterface>(op));
  return op->emitOpError(
      "uses memrefs in a way that has no form on tensors; accepted are "
      "structured ops, alloc, alloca, dealloc, get_global of constants, dim, load, store, "
      "copy, subview, cast, transpose, expand_shape, collapse_shape, to_tensor, "
      "materialize_in_destination, scf.for and scf.if, and calls with "
      "memrefs of functions in this file that have one block and do not call themselves");
}

LogicalResult MemrefRaiser::raiseBlock(Block &block) {
  // In front of what reads the memrefs that a loop passes on.
  Operation *end = block.getTerminator();
  if (llvm::any_of(end->getOperands(), isMemref))
    return end->emitOpError("passes on a memref; pass its tensor, or write "
                            "into an argument of the function");
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (failed(raiseOp(&op)))
      return failure();
  return success();
}

LogicalResult MemrefRaiser::run() {
  if (!touchesMemrefs(func) && llvm::none_of(func.getArguments(), isMemref))
    return success();
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("has memrefs and unstructured control flow; use "
                            "scf.for and scf.if");
  rewriter.setInsertionPointToStart(&func.getBody().front());
  for (BlockArgument argument : func.getArguments()) {
    if (!isMemref(argument))
      continue;
    auto type = dyn_cast<MemRefType>(argument.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || type.getMemorySpace() ||
        failed(type.getStridesAndOffset(strides, offset)))
      return func.emitOpError()
             << "argument " << argument.getArgNumber() << " has type "
             << argument.getType()
             << "; only ranked memrefs with a stride per dim are raised";
    current[argument] = bufferization::ToTensorOp::create(
        rewriter, argument.getLoc(), tensorOf(argument), argument,
        /*restrict=*/true, /*writable=*/true);
  }
  llvm::DenseMap<Value, Value> before = current;
  // Keep the new to_tensor ops out of the walk: they are not raised.
  Block &body = func.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    if (!isa<bufferization::ToTensorOp>(op) ||
        !llvm::is_contained(llvm::make_second_range(before), op.getResult(0)))
      ops.push_back(&op);
  for (Operation *op : ops)
    if (failed(raiseOp(op)))
      return failure();
  Operation *end = body.getTerminator();
  if (llvm::any_of(end->getOperands(), isMemref))
    return end->emitOpError("returns a memref; return a tensor, or write into "
                            "an argument");
  rewriter.setInsertionPoint(end);
  for (BlockArgument argument : func.getArguments()) {
    if (!isMemref(argument) || current[argument] == before[argument])
      continue;
    auto store = bufferization::MaterializeInDestinationOp::create(
        rewriter, end->getLoc(), current[argument], argument);
    store.setWritable(true);
  }
  SmallVector<Operation *> memrefs;
  func.walk([&](Operation *op) {
    if (isa<memref::AllocOp, bufferization::ToBufferOp>(op) ||
        (op->getNumResults() == 1 && viewedBy(op->getResult(0))))
      memrefs.push_back(op);
  });
  for (Operation *op : memrefs)
    if (auto buffer = dyn_cast<bufferization::ToBufferOp>(op);
        buffer && buffer.getReadOnly() && stored.contains(buffer))
      return buffer.emitOpError("is a constant memref, and is written; copy it into an "
                                "allocation first");
  for (Operation *op : llvm::reverse(memrefs))
    rewriter.eraseOp(op);
  return success();
}

LogicalResult tilewright::raiseMemrefs(func::FuncOp func) {
  if (func.isExternal())
    return success();
  bool hasViews = func->walk([](memref::SubViewOp op) {
                        return viewedBy(op.getSource())
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      })
                      .wasInterrupted();
  if (hasViews) {
    // A view of a view becomes a view of the memref itself.
    RewritePatternSet patterns(func.getContext());
    memref::populateFoldMemRefAliasOpPatterns(patterns);
    if (failed(applyPatternsBounded(func, std::move(patterns), "input",
                                    "folding of views of views")))
      return failure();
  }
  if (failed(checkOverlaps(func)))
    return failure();
  return MemrefRaiser(func).run();
}

namespace {
struct RaiseMemrefsPass
    : public tilewright::impl::RaiseMemrefsPassBase<RaiseMemrefsPass> {
  void runOnOperation() override {
    if (failed(raiseMemrefs(getOperation())))
      signalPassFailure();
  }
};
} // namespace
