// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of tensors that were widened in front of them:
//
//   %w = linalg.generic ins(%q : tensor<…xf16>) { extf %in : f16 to f32 }      // and of %k
//   %t = … %w as another shape, transposed or repeated
//   linalg.generic <product> ins(%t, %u : tensor<…xf32>, tensor<…xf32>) { mulf; addf }
// becomes
//   %t = … %q as another shape, transposed or repeated
//   linalg.generic <product> ins(%t, %u : tensor<…xf16>, tensor<…xf16>) { extf; extf; mulf; addf }
//
// which is the same to the last bit, and which matrix units multiply.

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
#define GEN_PASS_DEF_READNARROWOPERANDSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// Whether matrix units multiply numbers of these types, or would after an exact conversion.
static bool multiplyTogether(Type a, Type b) {
  if (a.isInteger(8) || b.isInteger(8))
    return a == b;
  return (isHalf(a) && (b == a || isFloat8(b))) || (isFloat8(a) && (isHalf(b) || isFloat8(b)));
}

/// An exact conversion of one input to a type that has all its values.
static bool isWidening(Operation *op) {
  if (!op || op->getNumOperands() != 1)
    return false;
  Type from = op->getOperand(0).getType();
  return isa<arith::ExtFOp>(op) ? isHalf(from) || isFloat8(from)
                                : isa<arith::ExtSIOp, arith::ExtUIOp>(op) && from.isInteger(8);
}

namespace {
/// A tensor as it was before its elements were widened: what it is read from, the steps from there
/// that only move elements, and the conversion.
struct Narrow {
  Value source;
  SmallVector<Operation *> moves; // the first is the one next to `source`
  Operation *widening = nullptr;

  Type type() const { return widening->getOperand(0).getType(); }
};
} // namespace

/// The widening that is all that the body of `op` does, or null.
static Operation *onlyWidens(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() || op->hasAttr(kConfigAttr) ||
      !op.hasPureTensorSemantics())
    return nullptr;
  Operation *made = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  return isWidening(made) && made->getOperand(0) == op.getBody()->getArgument(0) ? made : nullptr;
}

static std::optional<Narrow> beforeWidening(Value wide) {
  Narrow narrow;
  for (Operation *op = wide.getDefiningOp(); op;) {
    narrow.moves.insert(narrow.moves.begin(), op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic)
      narrow.widening = onlyWidens(generic);
    if (narrow.widening) {
      narrow.source = generic.getDpsInputOperand(0)->get();
      return isa<RankedTensorType>(narrow.source.getType()) ? std::optional(narrow)
                                                            : std::nullopt;
    }
    bool moves = isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op) ||
                 (generic && isRelayout(generic) && generic.hasPureTensorSemantics() &&
                  !generic->hasAttr(kConfigAttr));
    if (!moves)
      return std::nullopt;
    op = op->getOperand(0).getDefiningOp();
  }
  return std::nullopt;
}

/// `op`, a relayout or one that widens, on the elements of `source`, which it moves as they are.
static Value moveBy(RewriterBase &b, linalg::GenericOp op, Value source) {
  Location loc = op.getLoc();
  Type type = getElementTypeOrSelf(source.getType());
  Value init = op.getDpsInits()[0];
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, init), type);
  return linalg::GenericOp::create(b, loc, empty.getType(), source, empty,
                                   op.getIndexingMapsArray(), op.getIteratorTypesArray(),
                                   [](OpBuilder &inside, Location at, ValueRange arguments) {
                                     linalg::YieldOp::create(inside, at, arguments[0]);
                                   })
      .getResult(0);
}

/// What `narrow` was widened to, in the type in which it was there.
static Value moveNarrow(RewriterBase &b, const Narrow &narrow) {
  Value value = narrow.source;
  for (Operation *op : narrow.moves) {
    b.setInsertionPoint(op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    bool stays = generic && llvm::all_of(generic.getIndexingMapsArray(),
                                         [](AffineMap map) { return map.isIdentity(); });
    if (stays) {
      // The result may have sizes that the source has not.
      Type type = cast<RankedTensorType>(op->getResult(0).getType()).clone(narrow.type());
      if (value.getType() != type)
        value = tensor::CastOp::create(b, op->getLoc(), type, value);
      continue;
    }
    if (generic) {
      value = moveBy(b, generic, value);
      continue;
    }
    IRMapping mapping;
    mapping.map(op->getOperand(0), value);
    Operation *moved = b.clone(*op, mapping);
    moved->getResult(0).setType(
        cast<RankedTensorType>(op->getResult(0).getType()).clone(narrow.type()));
    value = moved->getResult(0);
  }
  return value;
}

Operation *tilewright::findSummedProduct(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumResults() != 1 || !op.getNumReductionLoops())
    return nullptr;
  Operation *add = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return nullptr;
  BlockArgument init = op.getRegionOutputArgs()[0];
  bool isFirst = add->getOperand(0) == init;
  if (isFirst == (add->getOperand(1) == init))
    return nullptr;
  Operation *product = add->getOperand(isFirst ? 1 : 0).getDefiningOp();
  return isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product) ? product : nullptr;
}

void tilewright::readNarrowOperands(RewriterBase &b, linalg::GenericOp op) {
  Operation *product = findSummedProduct(op);
  if (!product || !op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr))
    return;
  Type sum = product->getResult(0).getType();
  if (!sum.isF32() && !sum.isInteger(32))
    return;
  std::optional<Narrow> narrow[2];
  Type types[2];
  for (unsigned side : {0, 1}) {
    Value factor = product->getOperand(side);
    Operation *inside = factor.getDefiningOp();
    auto element = dyn_cast<BlockArgument>(inside && isWidening(inside) ? inside->getOperand(0)
                                                                        : factor);
    if (!element || element.getOwner() != op.getBody() || !element.hasOneUse() ||
        element.getArgNumber() >= op.getNumDpsInputs())
      return;
    types[side] = element.getType();
    if (inside)
      continue;
    narrow[side] = beforeWidening(op.getDpsInputOperand(element.getArgNumber())->get());
    if (!narrow[side])
      return;
    types[side] = narrow[side]->type();
  }
  if ((!narrow[0] && !narrow[1]) || !multiplyTogether(types[0], types[1]))
    return;
  for (unsigned side : {0, 1}) {
    if (!narrow[side])
      continue;
    auto element = cast<BlockArgument>(product->getOperand(side));
    Value moved = moveNarrow(b, *narrow[side]);
    b.modifyOpInPlace(op, [&] { op->getOpOperand(element.getArgNumber()).set(moved); });
    Type wide = element.getType();
    element.setType(types[side]);
    b.setInsertionPoint(product);
    OperationState state(product->getLoc(), narrow[side]->widening->getName(), element, wide);
    Value widened = b.create(state)->getResult(0);
    b.modifyOpInPlace(product, [&] { product->setOperand(side, widened); });
  }
}

namespace {
struct ReadNarrowOperandsPass
    : tilewright::impl::ReadNarrowOperandsPassBase<ReadNarrowOperandsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      readNarrowOperands(rewriter, op);
  }
};
} // namespace
