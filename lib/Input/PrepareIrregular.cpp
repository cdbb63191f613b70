// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scatters of one dim of updates, and scans along the second of three dims (PrepareSorts.cpp:
// sorts); for all targets alike, the oracle included.
//
//   %r = tilewright.scan ins(%x : tensor<5000000xf32>) outs(%e) {dim = 0}
// becomes, with %v = %x as tensor<1x5000000x1xf32>,
//   %s = tilewright.scan ins(%v) outs(…) {dim = 1}

#include "IrregularForms.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_PREPAREIRREGULARPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

/// An op on memrefs, which the oracle does not raise, as one on the tensors in them.
static Operation *onTensors(RewriterBase &b, DestinationStyleOpInterface op) {
  SmallVector<Value> dests(op.getDpsInits());
  if (!isa<MemRefType>(dests[0].getType()))
    return op;
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<Value> operands(op->getOperands());
  for (Value &operand : operands) {
    auto memref = dyn_cast<MemRefType>(operand.getType());
    if (!memref)
      continue;
    auto tensor = RankedTensorType::get(memref.getShape(), memref.getElementType());
    operand = bufferization::ToTensorOp::create(b, loc, tensor, operand, /*restrict=*/true,
                                                /*writable=*/llvm::is_contained(dests, operand));
  }
  SmallVector<Type> types;
  for (OpOperand &dest : op.getDpsInitsMutable())
    types.push_back(operands[dest.getOperandNumber()].getType());
  Operation *made = clone(b, op, types, operands);
  for (auto [result, dest] : llvm::zip_equal(made->getResults(), dests)) {
    auto store = bufferization::MaterializeInDestinationOp::create(b, loc, result, dest);
    store.setRestrict(true);
    store.setWritable(true);
  }
  b.eraseOp(op);
  return made;
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// Dims that count updates become one.
static void prepareScatter(RewriterBase &b, ScatterOp op) {
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  int64_t batch = op.getIndicesType().getRank() - 1, rank = op.getUpdatesType().getRank();
  if (batch == 1)
    return;
  Value updates = op.getUpdates(), indices = op.getIndices();
  if (batch == 0) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, updates);
    sizes.insert(sizes.begin(), b.getIndexAttr(1));
    Groups groups;
    if (rank)
      groups.push_back({0, 1});
    for (int64_t dim = 1; dim < rank; ++dim)
      groups.push_back({dim + 1});
    updates = expand(b, loc, updates, groups, sizes);
    indices = expand(b, loc, indices, {{0, 1}},
                     {b.getIndexAttr(1), b.getIndexAttr(int64_t(op.getDims().size()))});
  } else {
    Groups ofUpdates, ofIndices;
    addGroup(ofUpdates, 0, batch);
    addGroup(ofIndices, 0, batch);
    ofIndices.push_back({batch});
    for (int64_t dim = batch; dim < rank; ++dim)
      ofUpdates.push_back({dim});
    updates = collapse(b, loc, updates, ofUpdates);
    indices = collapse(b, loc, indices, ofIndices);
  }
  b.modifyOpInPlace(op, [&] {
    op.getUpdatesMutable().assign(updates);
    op.getIndicesMutable().assign(indices);
  });
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// Along the second of three dims, into a new tensor.
static void prepareScan(RewriterBase &b, ScanOp op) {
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value input = flattenAround(b, loc, op.getInput(), op.getDim()), init = op.getInit();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, input);
  if (init) {
    // outer x inner
    int64_t dim = op.getDim(), rank = op.getInputType().getRank();
    Groups joined, split;
    addGroup(joined, 0, dim);
    addGroup(joined, dim, rank - 1 - dim);
    init = collapse(b, loc, init, joined);
    if (dim > 0 && dim < rank - 1)
      split = {{0}, {1}};
    else if (rank > 1)
      split = {{0, 1}};
    init = expand(b, loc, init, split, {sizes[0], sizes[2]});
  }
  Value empty = tensor::EmptyOp::create(b, loc, sizes, op.getInputType().getElementType());
  auto made = ScanOp::create(b, loc, TypeRange(empty.getType()), input, init, Value(), empty,
                             ValueRange(), /*dim=*/1, op.getExclusive(), op.getReverse(),
                             /*carried=*/false, /*totals=*/false, /*look_back=*/false);
  made.getCombiner().takeBody(op.getCombiner());
  Value result = restoreAround(b, loc, made.getResult(0),
                               tensor::getMixedSizes(b, loc, op.getInput()), op.getDim());
  Type type = op.getOutput().getType();
  b.replaceOp(op, result.getType() == type
                      ? result
                      : tensor::CastOp::create(b, loc, type, result).getResult());
}

/// Replaces `op` by what a tensor that has no elements by its type leaves: nothing is found in it.
static bool findNothing(RewriterBase &b, DestinationStyleOpInterface op) {
  auto nonzero = dyn_cast<NonzeroOp>(op.getOperation());
  auto unique = dyn_cast<UniqueOp>(op.getOperation());
  if (!nonzero && !unique)
    return false;
  Value input = nonzero ? nonzero.getInput() : unique.getInput();
  if (!llvm::is_contained(cast<ShapedType>(input.getType()).getShape(), 0))
    return false;
  b.setInsertionPoint(op);
  SmallVector<Value> results(op.getDpsInits());
  for (Value &result : results) {
    bool counts = nonzero ? result == nonzero.getCount()
                          : result == unique.getCount() || result == unique.getCounts();
    if (!counts)
      continue;
    Type type = cast<ShapedType>(result.getType()).getElementType();
    result = linalg::FillOp::create(b, op.getLoc(), integer(b, op.getLoc(), type, 0), result)
                 .getResult(0);
  }
  b.replaceOp(op, results);
  return true;
}

void tilewright::prepareIrregular(func::FuncOp func, bool keepSorts) {
  IRRewriter b(func.getContext());
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isIrregular(op) || isa<TopKOp, NonzeroOp, UniqueOp, FftOp, linalg::SoftmaxOp>(op))
      ops.push_back(op);
  });
  for (size_t number = 0; number < ops.size(); ++number) {
    Operation *op = onTensors(b, cast<DestinationStyleOpInterface>(ops[number]));
    if (isa<linalg::SoftmaxOp>(op)) // whose decomposition is one of tensors
      continue;
    if (findNothing(b, cast<DestinationStyleOpInterface>(op)))
      continue;
    if (auto fourier = dyn_cast<FftOp>(op)) {
      decomposeFourier(b, fourier);
      continue;
    }
    if (auto unique = dyn_cast<UniqueOp>(op)) {
      llvm::append_range(ops, sortForUnique(b, unique));
      continue;
    }
    if (auto topK = dyn_cast<TopKOp>(op))
      op = sortForTopK(b, topK);
    if (auto nonzero = dyn_cast<NonzeroOp>(op))
      op = scanForNonzero(b, nonzero);
    if (auto scatter = dyn_cast<ScatterOp>(op))
      prepareScatter(b, scatter);
    else if (auto scan = dyn_cast<ScanOp>(op); scan && !scan.getChunk())
      prepareScan(b, scan);
    else if (auto sort = dyn_cast<SortOp>(op); sort && !keepSorts)
      prepareSort(b, sort);
  }
}

namespace {
struct PrepareIrregularPass
    : public tilewright::impl::PrepareIrregularPassBase<PrepareIrregularPass> {
  using PrepareIrregularPassBase::PrepareIrregularPassBase;
  void runOnOperation() override { prepareIrregular(getOperation(), keepSorts); }
};
} // namespace
