// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor.gather in ops that every way knows, the oracle's, too, since upstream has no
// lowering of it, and tensor.scatter as tilewright.scatter.
//
//   %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<7x5xf32>,
//   tensor<4x1xi32>) -> …
// becomes
//   %r = tensor.generate { ^bb0(%a, %b):
//     %p = tensor.extract %i[%a, %c0]
//     %v = tensor.extract %x[%p, %b] … }

#include "tilewright/Dialect/Irregular.h"
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

/// Dims of size one of a slice, where it lacks those that are scattered, are dropped.
static Value dropUnitDims(OpBuilder &b, tensor::ScatterOp op, int64_t batch) {
  RankedTensorType type = op.getSourceType();
  if (type.getRank() != batch + op.getDestType().getRank())
    return op.getSource();
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading; // joined with what comes next
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim < batch || !llvm::is_contained(op.getScatterDims(), dim - batch)) {
      groups.push_back(leading);
      groups.back().push_back(dim);
      leading.clear();
    } else if (groups.empty()) {
      leading.push_back(dim);
    } else {
      groups.back().push_back(dim);
    }
  }
  return tensor::CollapseShapeOp::create(b, op.getLoc(), op.getSource(), groups);
}

static void convertScatter(RewriterBase &b, tensor::ScatterOp op) {
  b.setInsertionPoint(op);
  int64_t batch = op.getIndicesType().getRank() - 1;
  Value indices = op.getIndices();
  if (op.getIndicesType().getElementType().isIndex())
    indices = arith::IndexCastOp::create(
        b, op.getLoc(), op.getIndicesType().clone(b.getI64Type()), indices);
  auto scatter = ScatterOp::create(b, op.getLoc(), op->getResultTypes(),
                                   dropUnitDims(b, op, batch), indices, op.getDest(),
                                   b.getDenseI64ArrayAttr(op.getScatterDims()), op.getUnique());
  b.replaceOp(op, scatter.getResults());
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
        convertScatter(rewriter, cast<tensor::ScatterOp>(op));
    }
  }
};
} // namespace
