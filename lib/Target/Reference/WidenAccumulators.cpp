// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums in f64, so that the oracle's own rounding does not matter:
//
//   %r = linalg.generic {…reduction…} ins(%a, %b : f16) outs(%c : f32)
//     %p = arith.mulf %x, %y      // after extensions to f32
//     %s = arith.addf %acc, %p
//
//   %w = linalg.generic {…parallel…} ins(%c) outs(%empty64)    // extf
//   %v = linalg.generic {…reduction…} ins(%a, %b) outs(%w)     // in f64
//   %r = linalg.generic {…parallel…} ins(%v) outs(%empty32)    // truncf
//
// The product of a multiply-add is part of it (targets fuse the two), so it is
// computed in f64 from its operands, too, where it is exact for f16 to f32. The
// addition is marked with the type that the program has for the sum, from which
// its error bound follows (BoundErrors.cpp).

#include "tilewright/Target/Reference/BoundErrors.h"
#include "tilewright/Target/Reference/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {
#define GEN_PASS_DEF_WIDENACCUMULATORSPASS
#include "tilewright/Target/Reference/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// The op that adds to the accumulator of init `number`, or null.
static Operation *getAddition(linalg::GenericOp op, unsigned number) {
  auto init = op.getDpsInitOperand(number);
  Type element = getElementTypeOrSelf(init->get());
  if (!element.isF16() && !element.isBF16() && !element.isF32() &&
      !element.isF64())
    return nullptr;
  AffineMap map = op.getMatchingIndexingMap(init);
  if (!map.isProjectedPermutation() || map.getNumResults() == map.getNumDims())
    return nullptr;
  BlockArgument accumulator = op.getMatchingBlockArgument(init);
  if (!accumulator.hasOneUse())
    return nullptr;
  Operation *user = *accumulator.getUsers().begin();
  if (user->getBlock() != op.getBody() || user->getNumResults() != 1 ||
      !user->getResult(0).hasOneUse() ||
      op.getBody()->getTerminator()->getOperand(number) != user->getResult(0))
    return nullptr;
  if (isa<arith::AddFOp>(user))
    return user;
  if (auto fma = dyn_cast<math::FmaOp>(user))
    return fma.getC() == accumulator ? user : nullptr;
  return nullptr;
}

/// An elementwise copy of `from` to the type of `to`.
static Value convert(OpBuilder &builder, Location loc, Value from, Value to) {
  int64_t rank = cast<ShapedType>(to.getType()).getRank();
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  SmallVector<Type> results;
  if (isa<TensorType>(to.getType()))
    results.push_back(to.getType());
  auto op = linalg::GenericOp::create(
      builder, loc, results, from, to, maps, loops,
      [](OpBuilder &b, Location l, ValueRange args) {
        Type type = args[1].getType();
        Value value = type.getIntOrFloatBitWidth() >
                              args[0].getType().getIntOrFloatBitWidth()
                          ? Value(arith::ExtFOp::create(b, l, type, args[0]))
                          : Value(arith::TruncFOp::create(b, l, type, args[0]));
        linalg::YieldOp::create(b, l, value);
      });
  return results.empty() ? to : op.getResult(0);
}

/// A new tensor or memref like `value`, of another element type.
static Value createLike(OpBuilder &builder, Location loc, Value value,
                        Type element) {
  auto type = cast<ShapedType>(value.getType());
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d))
      continue;
    if (isa<TensorType>(type))
      sizes.push_back(tensor::DimOp::create(builder, loc, value, d));
    else
      sizes.push_back(memref::DimOp::create(builder, loc, value, d));
  }
  if (isa<TensorType>(type))
    return tensor::EmptyOp::create(
        builder, loc, RankedTensorType::get(type.getShape(), element), sizes);
  return memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), element), sizes);
}

static void widen(linalg::GenericOp op, ArrayRef<Operation *> additions) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type f64 = builder.getF64Type();
  bool onTensors = op.hasPureTensorSemantics();
  IRMapping mapping;
  for (auto [number, addition] : llvm::enumerate(additions)) {
    if (!addition)
      continue;
    Value init = op.getDpsInitOperand(number)->get();
    if (mapping.contains(init) || getElementTypeOrSelf(init).isF64())
      continue;
    mapping.map(
        init, convert(builder, loc, init, createLike(builder, loc, init, f64)));
  }

  // Inputs keep their type, even where they are an init as well.
  auto wide = cast<linalg::GenericOp>(builder.clone(*op));
  for (auto [number, addition] : llvm::enumerate(additions)) {
    if (!addition)
      continue;
    OpOperand *init = wide.getDpsInitOperand(number);
    Type element = getElementTypeOrSelf(init->get());
    init->set(mapping.lookupOrDefault(init->get()));
    if (onTensors)
      wide->getResult(number).setType(init->get().getType());
    BlockArgument accumulator = wide.getMatchingBlockArgument(init);
    accumulator.setType(f64);
    Operation *add = *accumulator.getUsers().begin();
    builder.setInsertionPoint(add);
    auto extend = [&](Value value) -> Value {
      if (value.getType() == f64)
        return value;
      return arith::ExtFOp::create(builder, add->getLoc(), f64, value);
    };
    Value a, b, sum;
    if (auto fma = dyn_cast<math::FmaOp>(add)) {
      a = fma.getA(), b = fma.getB();
    } else {
      Value term = add->getOperand(add->getOperand(0) == accumulator ? 1 : 0);
      auto product = term.getDefiningOp<arith::MulFOp>();
      if (product && product->getBlock() == add->getBlock() && term.hasOneUse())
        a = product.getLhs(), b = product.getRhs();
      else
        sum = extend(term);
    }
    if (a)
      sum = arith::MulFOp::create(builder, add->getLoc(), extend(a), extend(b));
    sum = arith::AddFOp::create(builder, add->getLoc(), accumulator, sum);
    sum.getDefiningOp()->setAttr(kAccumulatorAttr, TypeAttr::get(element));
    wide.getBody()->getTerminator()->setOperand(number, sum);
    add->erase();
  }

  builder.setInsertionPointAfter(wide);
  for (auto [number, addition] : llvm::enumerate(additions)) {
    Value init = op.getDpsInitOperand(number)->get();
    bool isConverted = mapping.contains(init);
    if (onTensors) {
      Value result = wide->getResult(number);
      if (addition && isConverted)
        result =
            convert(builder, loc, result,
                    createLike(builder, loc, init, getElementTypeOrSelf(init)));
      op->getResult(number).replaceAllUsesWith(result);
    } else if (addition && isConverted) {
      Value buffer = wide.getDpsInitOperand(number)->get();
      convert(builder, loc, buffer, init);
      memref::DeallocOp::create(builder, loc, buffer);
    }
  }
  op->erase();
}

namespace {
struct WidenAccumulatorsPass
    : tilewright::impl::WidenAccumulatorsPassBase<WidenAccumulatorsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      if (!op.hasPureTensorSemantics() && !op.hasPureBufferSemantics())
        continue;
      SmallVector<Operation *> additions;
      for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
        additions.push_back(getAddition(op, i));
      if (llvm::any_of(additions,
                       [](Operation *add) { return add != nullptr; }))
        widen(op, additions);
    }
  }
};
} // namespace
