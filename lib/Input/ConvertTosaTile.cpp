// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tosa.tile` of any dims: each dim with a dim of its own for the repetitions
// in front, and both collapsed.
//
//   tile of ?x4 by [2, 3]: a broadcast to 2x?x3x4, collapsed to ?x12
//
// Upstream's conversion collapses all dims and expands them again, which it
// cannot where several sizes are dynamic.

#include "Tosa.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct ConvertTile : OpConversionPattern<tosa::TileOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tosa::TileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value input = adaptor.getInput1();
    auto type = dyn_cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> multiples;
    if (!type || failed(op.getConstantMultiples(multiples)))
      return b.notifyMatchFailure(op, "of unknown rank or multiples");
    unsigned rank = type.getRank();
    SmallVector<OpFoldResult> sizes;
    SmallVector<AffineExpr> read;
    SmallVector<ReassociationIndices> pairs;
    for (auto [dim, size] : llvm::enumerate(tensor::getMixedSizes(b, loc, input))) {
      int64_t first = 2 * dim;
      sizes.append({b.getIndexAttr(multiples[dim]), size});
      read.push_back(b.getAffineDimExpr(first + 1));
      pairs.push_back({first, first + 1});
    }
    Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
    SmallVector<AffineMap> maps{AffineMap::get(2 * rank, 0, read, b.getContext()),
                                b.getMultiDimIdentityMap(2 * rank)};
    SmallVector<utils::IteratorType> loops(2 * rank, utils::IteratorType::parallel);
    Value value = linalg::GenericOp::create(b, loc, empty.getType(), input, empty, maps, loops,
                                            [](OpBuilder &b, Location loc, ValueRange arguments) {
                                              linalg::YieldOp::create(b, loc, arguments[0]);
                                            })
                      .getResult(0);
    value = tensor::CollapseShapeOp::create(b, loc, value, pairs);
    replaceWithCast(b, op, value);
    return success();
  }
};
} // namespace

bool tilewright::isTileOfUnknownCount(Operation *op) {
  auto tile = dyn_cast<tosa::TileOp>(op);
  SmallVector<int64_t> multiples;
  return tile && succeeded(tile.getConstantMultiples(multiples)) &&
         llvm::any_of(multiples, [](int64_t multiple) { return multiple < 0; });
}

void tilewright::populateTosaTile(RewritePatternSet &patterns) {
  patterns.add<ConvertTile>(patterns.getContext(), /*benefit=*/2);
}
