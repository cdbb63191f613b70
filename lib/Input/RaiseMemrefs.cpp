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
// It is exact because no two memrefs of the function overlap: allocations do not,
// arguments are declared not to (restrict), and views are refused.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_RAISEMEMREFSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

static bool isMemref(Value value) {
  return isa<BaseMemRefType>(value.getType());
}

static RankedTensorType tensorOf(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

static bool touchesMemrefs(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return llvm::any_of(inner->getOperands(), isMemref) ||
                       llvm::any_of(inner->getResults(), isMemref)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Memrefs from outside of `op` that ops inside write, in order.
static SmallVector<Value> writtenInside(Operation *op) {
  llvm::SetVector<Value> written;
  auto add = [&](Value value) {
    Operation *scope = value.getParentRegion()->getParentOp();
    if (isMemref(value) && scope != op && !op->isAncestor(scope))
      written.insert(value);
  };
  op->walk([&](Operation *inner) {
    if (auto structured = dyn_cast<DestinationStyleOpInterface>(inner))
      for (Value init : structured.getDpsInits())
        add(init);
    if (auto copy = dyn_cast<memref::CopyOp>(inner))
      add(copy.getTarget());
    if (auto store = dyn_cast<memref::StoreOp>(inner))
      add(store.getMemRef());
  });
  return written.takeVector();
}

namespace {
class Raiser {
public:
  explicit Raiser(func::FuncOp func) : func(func), rewriter(func.getContext()) {}
  LogicalResult run();

private:
  LogicalResult raiseBlock(Block &block);
  LogicalResult raiseOp(Operation *op);
  LogicalResult raiseStructured(DestinationStyleOpInterface op);
  LogicalResult raiseFor(scf::ForOp op);
  LogicalResult raiseIf(scf::IfOp op);
  LogicalResult raiseCopy(memref::CopyOp op);

  func::FuncOp func;
  IRRewriter rewriter;
  /// What each memref holds at the point that is being raised.
  llvm::DenseMap<Value, Value> current;
};
} // namespace

LogicalResult Raiser::raiseStructured(DestinationStyleOpInterface op) {
  SmallVector<Value> operands;
  SmallVector<Type> results(op->getResultTypes());
  for (Value operand : op->getOperands())
    operands.push_back(isMemref(operand) ? current.lookup(operand) : operand);
  for (Value init : op.getDpsInits()) {
    if (!isMemref(init))
      return op.emitOpError("mixes memrefs and tensors; use one of them");
    results.push_back(tensorOf(init));
  }
  Operation *raised = clone(rewriter, op, results, operands);
  unsigned first = op->getNumResults();
  for (auto [number, init] : llvm::enumerate(op.getDpsInits()))
    current[init] = raised->getResult(first + number);
  rewriter.replaceOp(op, raised->getResults().take_front(first));
  return success();
}

LogicalResult Raiser::raiseCopy(memref::CopyOp op) {
  Value value = current.lookup(op.getSource());
  Type wanted = tensorOf(op.getTarget());
  if (value.getType() != wanted)
    value = tensor::CastOp::create(rewriter, op.getLoc(), wanted, value);
  current[op.getTarget()] = value;
  rewriter.eraseOp(op);
  return success();
}

LogicalResult Raiser::raiseFor(scf::ForOp op) {
  SmallVector<Value> written = writtenInside(op);
  SmallVector<Value> inits;
  for (Value memref : written)
    inits.push_back(current.lookup(memref));
  unsigned first = op.getNumResults();
  FailureOr<LoopLikeOpInterface> replaced = op.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
        return SmallVector<Value>(added.begin(), added.end());
      });
  if (failed(replaced))
    return op.emitOpError("cannot carry the memrefs that it writes");
  auto loop = cast<scf::ForOp>(replaced->getOperation());
  for (auto [number, memref] : llvm::enumerate(written))
    current[memref] = loop.getRegionIterArgs()[first + number];
  if (failed(raiseBlock(*loop.getBody())))
    return failure();
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [number, memref] : llvm::enumerate(written)) {
    yield->setOperand(first + number, current.lookup(memref));
    current[memref] = loop.getResult(first + number);
  }
  return success();
}

LogicalResult Raiser::raiseIf(scf::IfOp op) {
  SmallVector<Value> written = writtenInside(op);
  SmallVector<Type> results(op.getResultTypes());
  for (Value memref : written)
    results.push_back(tensorOf(memref));
  rewriter.setInsertionPoint(op);
  auto raised = scf::IfOp::create(rewriter, op.getLoc(), results,
                                  op.getCondition(), /*addThenBlock=*/false,
                                  /*addElseBlock=*/false);
  raised.getThenRegion().takeBody(op.getThenRegion());
  raised.getElseRegion().takeBody(op.getElseRegion());
  if (raised.getElseRegion().empty()) {
    rewriter.createBlock(&raised.getElseRegion());
    scf::YieldOp::create(rewriter, op.getLoc());
  }
  llvm::DenseMap<Value, Value> before = current;
  for (Region *region : {&raised.getThenRegion(), &raised.getElseRegion()}) {
    current = before;
    if (failed(raiseBlock(region->front())))
      return failure();
    Operation *yield = region->front().getTerminator();
    for (Value memref : written)
      yield->insertOperands(yield->getNumOperands(), current.lookup(memref));
  }
  current = std::move(before);
  unsigned first = op.getNumResults();
  for (auto [number, memref] : llvm::enumerate(written))
    current[memref] = raised.getResult(first + number);
  rewriter.replaceOp(op, raised.getResults().take_front(first));
  return success();
}

LogicalResult Raiser::raiseOp(Operation *op) {
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
  if (isa<memref::DeallocOp>(op)) {
    rewriter.eraseOp(op);
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return raiseFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return raiseIf(branch);
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    rewriter.replaceOpWithNewOp<tensor::DimOp>(
        op, current.lookup(dim.getSource()), dim.getIndex());
    return success();
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(
        op, current.lookup(load.getMemRef()), load.getIndices());
    return success();
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    Value &value = current[store.getMemRef()];
    value = tensor::InsertOp::create(rewriter, loc, store.getValueToStore(),
                                     value, store.getIndices());
    rewriter.eraseOp(op);
    return success();
  }
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return raiseCopy(copy);
  bool isStructured =
      isa<linalg::LinalgOp, linalg::SoftmaxOp>(op) &&
      llvm::none_of(op->getRegions(), [](Region &region) {
        return llvm::any_of(region.getOps(),
                            [](Operation &inner) { return touchesMemrefs(&inner); });
      });
  if (isStructured)
    return raiseStructured(cast<DestinationStyleOpInterface>(op));
  return op->emitOpError(
      "uses memrefs in a way that has no form on tensors; accepted are "
      "structured ops, alloc, dealloc, dim, load, store, copy, scf.for and "
      "scf.if (views and calls with memrefs are not)");
}

LogicalResult Raiser::raiseBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (failed(raiseOp(&op)))
      return failure();
  Operation *end = block.getTerminator();
  if (llvm::any_of(end->getOperands(), isMemref))
    return end->emitOpError("passes on a memref; pass its tensor, or write "
                            "into an argument of the function");
  return success();
}

LogicalResult Raiser::run() {
  if (!touchesMemrefs(func) &&
      llvm::none_of(func.getArguments(), isMemref))
    return success();
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("has memrefs and unstructured control flow; use "
                            "scf.for and scf.if");
  rewriter.setInsertionPointToStart(&func.getBody().front());
  for (BlockArgument argument : func.getArguments()) {
    if (!isMemref(argument))
      continue;
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !type.getLayout().isIdentity() || type.getMemorySpace())
      return func.emitOpError()
             << "argument " << argument.getArgNumber() << " has type "
             << argument.getType()
             << "; only ranked memrefs of identity layout are raised";
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
  SmallVector<Operation *> allocs;
  func.walk([&](memref::AllocOp op) { allocs.push_back(op); });
  for (Operation *alloc : allocs)
    rewriter.eraseOp(alloc);
  return success();
}

LogicalResult tilewright::raiseMemrefs(func::FuncOp func) {
  return func.isExternal() ? success() : Raiser(func).run();
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
