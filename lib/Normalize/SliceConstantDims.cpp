// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operand that is indexed by a constant along a dim is a slice of that dim,
// which is a view.
//
//   linalg.generic {maps = [(i, j) -> (2, j), …]} ins(%x : tensor<?x4xf32>, …)
// becomes
//   %s = tensor.extract_slice %x[2, 0] [1, 4] [1, 1] : … to tensor<4xf32>
//   linalg.generic {maps = [(i, j) -> (j), …]} ins(%s, …)
//
// and what is written there is put back by tensor.insert_slice. Dims of size
// one stay: folding of unit dims knows them, but not in ops without loops.

#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SLICECONSTANTDIMSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

namespace {
/// The slice that an operand is, and how it is indexed.
struct Slice {
  SmallVector<OpFoldResult> offsets, sizes, steps;
  RankedTensorType type;
  AffineMap map;
};
} // namespace

static std::optional<Slice> findSlice(OpBuilder &b, linalg::GenericOp op,
                                      OpOperand &operand) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto isSliced = [&](int64_t dim) {
    auto constant = dyn_cast<AffineConstantExpr>(map.getResult(dim));
    return constant &&
           (constant.getValue() || type.getDimSize(dim) != 1 || op.getNumLoops() == 0);
  };
  if (!type || llvm::none_of(llvm::seq<int64_t>(0, type.getRank()), isSliced))
    return std::nullopt;
  Slice slice;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> reads;
  slice.steps.assign(type.getRank(), b.getIndexAttr(1));
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (isSliced(dim)) {
      slice.offsets.push_back(b.getIndexAttr(
          cast<AffineConstantExpr>(map.getResult(dim)).getValue()));
      slice.sizes.push_back(b.getIndexAttr(1));
      continue;
    }
    slice.offsets.push_back(b.getIndexAttr(0));
    slice.sizes.push_back(
        tensor::getMixedSize(b, op.getLoc(), operand.get(), dim));
    shape.push_back(type.getDimSize(dim));
    reads.push_back(map.getResult(dim));
  }
  slice.type = type.clone(shape);
  slice.map = AffineMap::get(map.getNumDims(), 0, reads, op.getContext());
  return slice;
}

void tilewright::sliceConstantDims(RewriterBase &b, linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics())
    return;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand &operand : op->getOpOperands()) {
    b.setInsertionPoint(op);
    std::optional<Slice> slice = findSlice(b, op, operand);
    if (!slice)
      continue;
    Location loc = op.getLoc();
    Value whole = operand.get();
    Value part = tensor::ExtractSliceOp::create(
        b, loc, slice->type, whole, slice->offsets, slice->sizes, slice->steps);
    maps[operand.getOperandNumber()] = slice->map;
    b.modifyOpInPlace(op, [&] {
      operand.set(part);
      op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
    });
    if (!op.isDpsInit(&operand))
      continue;
    Value result = op.getTiedOpResult(&operand);
    result.setType(slice->type);
    b.setInsertionPointAfter(op);
    auto insert = tensor::InsertSliceOp::create(
        b, loc, result, whole, slice->offsets, slice->sizes, slice->steps);
    b.replaceAllUsesExcept(result, insert, insert);
  }
}

namespace {
struct SliceConstantDimsPass
    : public tilewright::impl::SliceConstantDimsPassBase<
          SliceConstantDimsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      sliceConstantDims(rewriter, op);
  }
};
} // namespace
