// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops carry the tensors of the memrefs that they write, and branches give them:
//
//   scf.for … { linalg.exp ins(%a) outs(%a) }
// becomes
//   %r = scf.for … iter_args(%t = %ta) { %e = linalg.exp ins(%t) outs(%t); scf.yield %e }
//
// See RaiseMemrefs.cpp.

#include "MemrefRaiser.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;

/// Memrefs from outside of `op` that ops inside write (through views, too), in
/// order.
static SmallVector<Value> writtenInside(Operation *op) {
  llvm::SetVector<Value> written;
  auto add = [&](Value value) {
    if (!isMemref(value))
      return;
    value = rootOf(value);
    Operation *scope = value.getParentRegion()->getParentOp();
    if (scope != op && !op->isAncestor(scope))
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
    if (auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(inner))
      add(store.getDest());
  });
  return written.takeVector();
}

LogicalResult MemrefRaiser::raiseFor(scf::ForOp op) {
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

LogicalResult MemrefRaiser::raiseIf(scf::IfOp op) {
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
