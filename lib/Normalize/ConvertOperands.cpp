// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of a matrix of halves with weights of fewer bits, which are converted in the body:
//
//   linalg.generic <product> ins(%x, %w : tensor<…xf16>, tensor<…xi8>) {
//     %a = extf %x : f16 to f32;  %b = sitofp %w : i8 to f32;  %m = mulf %a, %b;  addf …
// becomes
//   %h = linalg.generic ins(%w) { sitofp %in : i8 to f16 }
//   linalg.generic <product> ins(%x, %h : tensor<…xf16>, tensor<…xf16>) { extf; extf; mulf; addf }
//
// which matrix units multiply; the conversion is a fused producer of the operand. It is exact:
// integers of 8 bits, and floats of 8 bits, are halves and bf16 numbers. Beside an operand of
// another type integers become what the body multiplies.

#include "Products.h"
#include "tilewright/Dialect/Float8.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_CONVERTOPERANDSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// The element type in which the input that `conversion` reads becomes an operand, beside one of
/// `other`; null if it stays as it is.
static Type operandType(Operation *conversion, Type other, Type multiplied) {
  auto argument = dyn_cast<BlockArgument>(conversion->getOperand(0));
  if (!argument || !argument.hasOneUse() || argument.getOwner() != conversion->getBlock())
    return {};
  Type type = argument.getType();
  if (isa<arith::ExtFOp>(conversion))
    return isFloat8(type) && isHalf(other) ? other : Type();
  if (!isa<arith::SIToFPOp, arith::UIToFPOp>(conversion))
    return {};
  return isHalf(other) && type.getIntOrFloatBitWidth() <= 8 ? other : multiplied;
}

/// `conversion` of all elements of `tensor`, to `type`.
static Value convert(OpBuilder &b, Operation *conversion, Value tensor, Type type) {
  Location loc = conversion->getLoc();
  auto source = cast<RankedTensorType>(tensor.getType());
  Value empty =
      tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, tensor), type);
  AffineMap same = b.getMultiDimIdentityMap(source.getRank());
  return linalg::GenericOp::create(
             b, loc, empty.getType(), tensor, empty, ArrayRef<AffineMap>{same, same},
             SmallVector<utils::IteratorType>(source.getRank(), utils::IteratorType::parallel),
             [&](OpBuilder &inside, Location at, ValueRange arguments) {
               IRMapping mapping;
               mapping.map(conversion->getOperand(0), arguments[0]);
               Operation *made = inside.clone(*conversion, mapping);
               made->getResult(0).setType(type);
               linalg::YieldOp::create(inside, at, made->getResult(0));
             })
      .getResult(0);
}

void tilewright::convertOperands(RewriterBase &b, linalg::GenericOp op) {
  auto product = dyn_cast_or_null<arith::MulFOp>(findSummedProduct(op));
  if (!product || !op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr))
    return;
  for (unsigned side : {0, 1}) {
    Operation *conversion = product->getOperand(side).getDefiningOp();
    Value beside = product->getOperand(1 - side);
    if (auto extension = beside.getDefiningOp<arith::ExtFOp>())
      beside = extension.getIn();
    if (!conversion || !isa<BlockArgument>(beside) || conversion->getNumOperands() != 1 ||
        conversion->getBlock() != op.getBody())
      continue;
    Type type = operandType(conversion, beside.getType(), product.getType());
    if (!type)
      continue;
    auto element = cast<BlockArgument>(conversion->getOperand(0));
    OpOperand &operand = op->getOpOperand(element.getArgNumber());
    if (&operand == op.getDpsInitOperand(0) || !isa<RankedTensorType>(operand.get().getType()))
      continue;
    b.setInsertionPoint(op);
    Value converted = convert(b, conversion, operand.get(), type);
    b.modifyOpInPlace(op, [&] { operand.set(converted); });
    element.setType(type);
    b.setInsertionPoint(conversion);
    Value wide = element;
    if (type != product.getType())
      wide = arith::ExtFOp::create(b, conversion->getLoc(), product.getType(), element);
    b.replaceOp(conversion, wide);
  }
}

namespace {
struct ConvertOperandsPass : tilewright::impl::ConvertOperandsPassBase<ConvertOperandsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      convertOperands(rewriter, op);
  }
};
} // namespace
