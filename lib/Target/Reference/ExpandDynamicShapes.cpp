// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// memref.expand_shape with two dynamic dims made of one, which upstream's expansion
// of strided metadata takes for static ones (and crashes): a view by its strides.
//
//   %v = memref.expand_shape %m [[0, 1]] output_shape [%a, %b] : memref<?xf32> into memref<?x?xf32>
//
//   %base, %offset, %size, %stride = memref.extract_strided_metadata %m
//   %s = arith.muli %stride, %b
//   %v = memref.reinterpret_cast %base to offset: [%offset], sizes: [%a, %b], strides: [%s, %stride]

#include "tilewright/Target/Reference/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tilewright {
#define GEN_PASS_DEF_EXPANDDYNAMICSHAPESPASS
#include "tilewright/Target/Reference/Passes.h.inc"
} // namespace tilewright

using namespace mlir;

static bool hasDynamicPair(memref::ExpandShapeOp op) {
  return llvm::any_of(op.getReassociationIndices(), [&](auto &group) {
    return llvm::count_if(group, [&](int64_t dim) {
             return op.getResultType().isDynamicDim(dim);
           }) > 1;
  });
}

static void lowerExpandShape(memref::ExpandShapeOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  MemRefType type = op.getResultType();
  auto source = memref::ExtractStridedMetadataOp::create(b, loc, op.getSrc());
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(type.getRank());
  auto [known, knownOffset] = type.getStridesAndOffset();
  for (auto [number, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value stride = source.getStrides()[number];
    for (int64_t dim : llvm::reverse(group)) {
      strides[dim] = ShapedType::isDynamic(known[dim])
                         ? OpFoldResult(stride)
                         : OpFoldResult(b.getIndexAttr(known[dim]));
      stride = arith::MulIOp::create(
          b, loc, stride, getValueOrCreateConstantIndexOp(b, loc, sizes[dim]));
    }
  }
  OpFoldResult offset = ShapedType::isDynamic(knownOffset)
                            ? OpFoldResult(source.getOffset())
                            : OpFoldResult(b.getIndexAttr(knownOffset));
  op.replaceAllUsesWith(
      memref::ReinterpretCastOp::create(b, loc, type, source.getBaseBuffer(),
                                        offset, sizes, strides)
          .getResult());
  op.erase();
}

namespace {
struct ExpandDynamicShapesPass
    : tilewright::impl::ExpandDynamicShapesPassBase<ExpandDynamicShapesPass> {
  void runOnOperation() override {
    getOperation()->walk([](memref::ExpandShapeOp op) {
      if (hasDynamicPair(op))
        lowerExpandShape(op);
    });
  }
};
} // namespace
