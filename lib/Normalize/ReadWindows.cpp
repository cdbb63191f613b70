// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions and poolings become contractions and reductions of windows.
//
//   linalg.generic {maps = [(oh,ow,f,kh,kw,c) -> (oh*2 + kh, ow*2 + kw, c), …]}
//     ins(%x, …)
// becomes
//   %v = tilewright.im2col %x[] {map = (oh,kh,ow,kw,c) -> (oh*2 + kh, ow*2 + kw, c)}
//   linalg.generic {maps = [(oh,ow,f,kh,kw,c) -> (oh,kh,ow,kw,c), …]} ins(%v, …)
//
// The windows are a view: nothing is copied.

#include "tilewright/Dialect/Windows.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_READWINDOWSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// The loops that `map` reads, as its results have them; nothing if a result is
/// no sum of loops times positive constants.
static std::optional<SmallVector<unsigned>> windowLoops(AffineMap map) {
  llvm::SetVector<unsigned> loops;
  for (AffineExpr expr : map.getResults()) {
    auto steps = getWindowSteps(expr, map.getNumDims());
    if (!steps)
      return std::nullopt;
    SmallVector<unsigned> own;
    for (auto [loop, step] : llvm::enumerate(*steps))
      if (step)
        own.push_back(loop);
    // What moves furthest first: windows, then what is inside of them.
    llvm::stable_sort(own, [&](unsigned a, unsigned b) {
      return (*steps)[a] > (*steps)[b];
    });
    loops.insert_range(own);
  }
  return loops.takeVector();
}

/// The size of a loop, from a tensor that has a dim for it.
static OpFoldResult loopSize(OpBuilder &b, linalg::LinalgOp op, unsigned loop) {
  OpFoldResult size;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto dim = map.getResultPosition(b.getAffineDimExpr(loop));
    if (dim && !type.isDynamicDim(*dim))
      return b.getIndexAttr(type.getDimSize(*dim));
    if (dim && !size)
      size = tensor::getMixedSize(b, op.getLoc(), operand.get(), *dim);
  }
  return size;
}

static void readWindow(RewriterBase &rewriter, linalg::GenericOp op,
                       OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  std::optional<SmallVector<unsigned>> loops = windowLoops(map);
  auto source = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!source || !loops)
    return;
  rewriter.setInsertionPoint(op);
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  SmallVector<AffineExpr> dims(map.getNumDims(),
                               rewriter.getAffineConstantExpr(0)),
      reads;
  for (auto [dim, loop] : llvm::enumerate(*loops)) {
    OpFoldResult size = loopSize(rewriter, op, loop);
    if (!size)
      return;
    dispatchIndexOpFoldResult(size, sizes, shape);
    dims[loop] = rewriter.getAffineDimExpr(dim);
    reads.push_back(rewriter.getAffineDimExpr(loop));
  }
  auto windows = Im2colOp::create(
      rewriter, op.getLoc(), source.clone(shape), operand.get(), sizes,
      map.replaceDimsAndSymbols(dims, {}, loops->size(), 0));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand.getOperandNumber()] =
      AffineMap::get(map.getNumDims(), 0, reads, op.getContext());
  rewriter.modifyOpInPlace(op, [&] {
    operand.set(windows);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

void tilewright::readWindows(RewriterBase &rewriter, linalg::GenericOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (!op.getMatchingIndexingMap(input).isProjectedPermutation())
      readWindow(rewriter, op, *input);
}

namespace {
struct ReadWindowsPass
    : public tilewright::impl::ReadWindowsPassBase<ReadWindowsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk(
        [&](linalg::GenericOp op) { flattenChannels(rewriter, op); });
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics())
        readWindows(rewriter, op);
    });
  }
};
} // namespace
