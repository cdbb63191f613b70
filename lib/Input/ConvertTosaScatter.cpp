// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tosa.scatter` becomes tilewright.scatter: rows of each batch at places of their own, by pairs of
// batch and place; upstream would write a loop over slices.
//
//   %p = linalg.generic ins(%indices: Nx?) { yield (batch, index) } : tensor<Nx?x2xi32>
//   %r = tilewright.scatter %input at %p into %values

#include "Tosa.h"

#include "tilewright/Dialect/Irregular.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct ConvertScatter : OpConversionPattern<tosa::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tosa::ScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value indices = adaptor.getIndices();
    auto type = cast<RankedTensorType>(indices.getType());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, indices);
    sizes.push_back(b.getIndexAttr(2));
    Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
    SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(3).getMajorSubMap(2),
                                b.getMultiDimIdentityMap(3)};
    SmallVector<utils::IteratorType> loops(3, utils::IteratorType::parallel);
    auto pairs = linalg::GenericOp::create(
        b, loc, empty.getType(), indices, empty, maps, loops,
        [&](OpBuilder &b, Location loc, ValueRange arguments) {
          Value batch = arith::IndexCastOp::create(b, loc, type.getElementType(),
                                                   linalg::IndexOp::create(b, loc, 0));
          Value isFirst = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::eq, linalg::IndexOp::create(b, loc, 2),
              arith::ConstantIndexOp::create(b, loc, 0));
          Value value = arith::SelectOp::create(b, loc, isFirst, batch, arguments[0]);
          linalg::YieldOp::create(b, loc, value);
        });
    Value into = adaptor.getValuesIn();
    auto scatter = ScatterOp::create(b, loc, TypeRange(into.getType()), adaptor.getInput(),
                                     pairs.getResult(0), into,
                                     b.getDenseI64ArrayAttr({0, 1}), b.getUnitAttr());
    replaceWithCast(b, op, scatter.getResult(0));
    return success();
  }
};
} // namespace

void tilewright::populateTosaScatter(RewritePatternSet &patterns) {
  patterns.add<ConvertScatter>(patterns.getContext(), /*benefit=*/2);
}
