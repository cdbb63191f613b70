// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor.gather and tensor.scatter in ops that every way knows, the oracle's,
// too, since upstream has no lowering of them.
//
//   %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<7x5xf32>,
//   tensor<4x1xi32>) -> …
// becomes
//   %r = tensor.generate { ^bb0(%a, %b):
//     %p = tensor.extract %i[%a, %c0]
//     %v = tensor.extract %x[%p, %b] … }
//
// and a scatter a loop that puts slices into the tensor one by one, in the
// order of the indices.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DECOMPOSEGATHERSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

/// Coordinate `number` of the tuple of `indices` at `place`.
static Value readIndex(OpBuilder &b, Location loc, Value indices,
                       ValueRange place, int64_t number) {
  SmallVector<Value> at(place);
  at.push_back(arith::ConstantIndexOp::create(b, loc, number));
  Value value = tensor::ExtractOp::create(b, loc, indices, at);
  if (!value.getType().isIndex())
    value = arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  return value;
}

/// Coordinates come out of the indices' last dim; the dims that are gathered
/// are gone from the result, or of size one.
static void decomposeGather(RewriterBase &b, tensor::GatherOp op) {
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  RankedTensorType type = op.getResultType(), source = op.getSourceType();
  int64_t batch = op.getIndicesType().getRank() - 1;
  ArrayRef<int64_t> gathered = op.getGatherDims();
  bool keepsDims = type.getRank() == batch + source.getRank();
  SmallVector<Value> sizes;
  int64_t at = batch;
  for (int64_t dim = 0; dim < batch; ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(tensor::DimOp::create(b, loc, op.getIndices(), dim));
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    bool isGathered = llvm::is_contained(gathered, dim);
    if (isGathered && !keepsDims)
      continue;
    if (type.isDynamicDim(at++))
      sizes.push_back(tensor::DimOp::create(b, loc, op.getSource(), dim));
  }
  auto generate = tensor::GenerateOp::create(
      b, loc, type, sizes,
      [&](OpBuilder &inner, Location at, ValueRange coordinates) {
        SmallVector<Value> place;
        int64_t position = batch;
        for (int64_t dim = 0; dim < source.getRank(); ++dim) {
          const auto *found = llvm::find(gathered, dim);
          if (found == gathered.end()) {
            place.push_back(coordinates[position++]);
            continue;
          }
          position += keepsDims;
          place.push_back(readIndex(inner, at, op.getIndices(),
                                    coordinates.take_front(batch),
                                    found - gathered.begin()));
        }
        Value value =
            tensor::ExtractOp::create(inner, at, op.getSource(), place);
        tensor::YieldOp::create(inner, at, value);
      });
  b.replaceOp(op, generate);
}

/// Slices one by one, in the order of the indices.
static void decomposeScatter(RewriterBase &b, tensor::ScatterOp op) {
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  RankedTensorType source = op.getSourceType(), dest = op.getDestType();
  int64_t batch = op.getIndicesType().getRank() - 1;
  ArrayRef<int64_t> scattered = op.getScatterDims();
  bool keepsDims = source.getRank() == batch + dest.getRank();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> lower(batch, zero), steps(batch, one), upper;
  for (int64_t dim = 0; dim < batch; ++dim)
    upper.push_back(getValueOrCreateConstantIndexOp(
        b, loc, tensor::getMixedSize(b, loc, op.getIndices(), dim)));
  scf::LoopNest nest = scf::buildLoopNest(
      b, loc, lower, upper, steps, op.getDest(),
      [&](OpBuilder &inner, Location at, ValueRange ids, ValueRange carried) {
        SmallVector<OpFoldResult> from(ids.begin(), ids.end()), to;
        SmallVector<OpFoldResult> taken(batch, inner.getIndexAttr(1)), put;
        SmallVector<int64_t> shape;
        int64_t position = batch;
        for (int64_t dim = 0; dim < dest.getRank(); ++dim) {
          const auto *found = llvm::find(scattered, dim);
          if (found != scattered.end()) {
            Value value = readIndex(inner, at, op.getIndices(), ids,
                                    found - scattered.begin());
            to.push_back(value);
            put.push_back(inner.getIndexAttr(1));
            if (keepsDims) {
              from.push_back(inner.getIndexAttr(0));
              taken.push_back(inner.getIndexAttr(1));
              ++position;
            }
            continue;
          }
          to.push_back(inner.getIndexAttr(0));
          put.push_back(tensor::getMixedSize(inner, at, op.getDest(), dim));
          from.push_back(inner.getIndexAttr(0));
          taken.push_back(
              tensor::getMixedSize(inner, at, op.getSource(), position));
          shape.push_back(source.getDimSize(position++));
        }
        SmallVector<OpFoldResult> fromSteps(from.size(), inner.getIndexAttr(1)),
            toSteps(to.size(), inner.getIndexAttr(1));
        Value slice = tensor::ExtractSliceOp::create(
            inner, at, source.clone(shape), op.getSource(), from, taken,
            fromSteps);
        Value updated = tensor::InsertSliceOp::create(
            inner, at, slice, carried.front(), to, put, toSteps);
        return scf::ValueVector{updated};
      });
  b.replaceOp(op, nest.results);
}

namespace {
struct DecomposeGathersPass
    : public tilewright::impl::DecomposeGathersPassBase<DecomposeGathersPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<tensor::GatherOp, tensor::ScatterOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto gather = dyn_cast<tensor::GatherOp>(op))
        decomposeGather(rewriter, gather);
      else
        decomposeScatter(rewriter, cast<tensor::ScatterOp>(op));
    }
  }
};
} // namespace
