// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pads of fewer than no elements are taken off the source first:
//
//   %r = tensor.pad %x low[-1] high[3]
// becomes
//   %s = tensor.extract_slice %x[1] [%n - 1] [1]
//   %r = tensor.pad %s low[0] high[3]
//
// Numbers of elements that are known at run time alone are not negative.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_CROPPADSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

static LogicalResult cropSource(RewriterBase &b, tensor::PadOp op) {
  auto isCropped = [](int64_t edge) { return !ShapedType::isDynamic(edge) && edge < 0; };
  if (llvm::none_of(op.getStaticLow(), isCropped) && llvm::none_of(op.getStaticHigh(), isCropped))
    return success();
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> low = op.getMixedLowPad(), high = op.getMixedHighPad(), offsets,
                            sizes = tensor::getMixedSizes(b, loc, op.getSource());
  auto crop = [&](OpFoldResult &edge, OpFoldResult &size) -> int64_t {
    std::optional<int64_t> known = getConstantIntValue(edge);
    if (!known || *known >= 0)
      return 0;
    edge = b.getIndexAttr(0);
    size = affine::makeComposedFoldedAffineApply(b, loc, b.getAffineDimExpr(0) + *known, {size});
    return -*known;
  };
  for (auto [before, behind, size] : llvm::zip_equal(low, high, sizes)) {
    offsets.push_back(b.getIndexAttr(crop(before, size)));
    crop(behind, size);
    if (auto left = getConstantIntValue(size); left && *left < 0)
      return op.emitOpError("takes more elements off its source than there are");
  }
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  Value source =
      tensor::ExtractSliceOp::create(b, loc, op.getSource(), offsets, sizes, ones);
  auto made = tensor::PadOp::create(b, loc, op.getType(), source, low, high, op.getNofold());
  made.getRegion().takeBody(op.getRegion());
  b.replaceOp(op, made);
  return success();
}

namespace {
struct CropPadsPass : public tilewright::impl::CropPadsPassBase<CropPadsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::PadOp> pads;
    getOperation().walk([&](tensor::PadOp op) { pads.push_back(op); });
    for (tensor::PadOp op : pads)
      if (failed(cropSource(rewriter, op)))
        return signalPassFailure();
  }
};
} // namespace
