// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes in terms of a function's inputs; see FollowSizes.h.

#include "FollowSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::sizes;
namespace json = llvm::json;

/// What is further away is not worth its place in the manifest.
static constexpr int kMaxDepth = 8;

Expr SizeFollower::scalar(Value value, int depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (depth > kMaxDepth)
    return std::nullopt;
  value = outermost(value);
  auto of = [&](Value operand) { return scalar(operand, depth + 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() != func)
      return std::nullopt;
    int64_t number = 0;
    for (unsigned i = 0; i < argument.getArgNumber(); ++i)
      number += !isa<ShapedType>(func.getArgument(i).getType());
    return json::Array{"scalar", number};
  }
  Operation *op = value.getDefiningOp();
  if (isa<tensor::DimOp, memref::DimOp>(op)) {
    APInt d;
    if (!matchPattern(op->getOperand(1), m_ConstantInt(&d)))
      return std::nullopt;
    return dim(op->getOperand(0), d.getSExtValue(), depth + 1);
  }
  StringRef name = llvm::TypeSwitch<Operation *, StringRef>(op)
                       .Case([](arith::AddIOp) { return "add"; })
                       .Case([](arith::SubIOp) { return "sub"; })
                       .Case([](arith::MulIOp) { return "mul"; })
                       .Case([](arith::MinSIOp) { return "min"; })
                       .Case([](arith::MaxSIOp) { return "max"; })
                       .Case([](arith::FloorDivSIOp) { return "floordiv"; })
                       .Case([](arith::CeilDivSIOp) { return "ceildiv"; })
                       .Default([](Operation *) { return ""; });
  if (!name.empty())
    return apply(name, of(op->getOperand(0)), of(op->getOperand(1)));
  if (isa<arith::IndexCastOp>(op))
    return of(op->getOperand(0));
  return std::nullopt;
}

int64_t tilewright::sizes::tensorNumber(BlockArgument argument) {
  return llvm::count_if(
      argument.getOwner()->getArguments().take_front(argument.getArgNumber()),
      [](BlockArgument other) { return isa<ShapedType>(other.getType()); });
}

Expr SizeFollower::dim(Value value, int64_t d, int depth) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.hasRank() || d < 0 || d >= type.getRank() ||
      depth > kMaxDepth)
    return std::nullopt;
  if (!type.isDynamicDim(d))
    return type.getDimSize(d);
  value = outermost(value);
  auto size = [&](OpFoldResult size) -> Expr {
    if (std::optional<int64_t> known = getConstantIntValue(size))
      return *known;
    return scalar(cast<Value>(size), depth + 1);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == func)
      return json::Array{"dim",
                         isKernel(func) ? tensorNumber(argument)
                                        : int64_t(argument.getArgNumber()),
                         d};
    auto loop = dyn_cast<scf::ForOp>(parent);
    return loop && argument.getArgNumber()
               ? dim(loop.getInitArgs()[argument.getArgNumber() - 1], d, depth + 1)
               : std::nullopt;
  }
  auto number = cast<OpResult>(value).getResultNumber();
  return llvm::TypeSwitch<Operation *, Expr>(value.getDefiningOp())
      .Case([&](tensor::EmptyOp op) { return size(op.getMixedSizes()[d]); })
      .Case([&](Im2colOp op) { return size(op.getSizes()[type.getDynamicDimIndex(d)]); })
      .Case([&](tensor::ExtractSliceOp op) -> Expr {
        llvm::SmallBitVector dropped = op.getDroppedDims();
        for (auto [source, extent] : llvm::enumerate(op.getMixedSizes()))
          if (!dropped.test(source) && d-- == 0)
            return size(extent);
        return std::nullopt;
      })
      .Case([&](tensor::ExpandShapeOp op) {
        return size(op.getMixedOutputShape()[d]);
      })
      .Case([&](tensor::CollapseShapeOp op) {
        Expr product = 1;
        // A name of its own: a range of part of a temporary outlives it.
        ReassociationIndices joined = op.getReassociationIndices()[d];
        for (int64_t source : joined)
          product = apply("mul", std::move(product),
                          dim(op.getSrc(), source, depth + 1));
        return product;
      })
      .Case([&](tensor::PadOp op) -> Expr {
        return apply("add", apply("add", dim(op.getSource(), d, depth + 1),
                                  size(op.getMixedLowPad()[d])),
                     size(op.getMixedHighPad()[d]));
      })
      .Case([&](DispatchOp op) { return dim(op.getOuts()[number], d, depth + 1); })
      .Case([&](scf::ForOp op) { return dim(op.getInitArgs()[number], d, depth + 1); })
      .Case([&](tensor::InsertSliceOp op) { return dim(op.getDest(), d, depth + 1); })
      .Case([&](linalg::LinalgOp op) {
        return dim(op.getDpsInitOperand(number)->get(), d, depth + 1);
      })
      .Case<tensor::CastOp, bufferization::ToTensorOp>(
          [&](Operation *op) { return dim(op->getOperand(0), d, depth + 1); })
      .Default([](Operation *) -> Expr { return std::nullopt; });
}

Expr SizeFollower::loopExtent(linalg::LinalgOp op, unsigned loop) {
  Expr found;
  for (OpOperand &operand : op->getOpOperands())
    for (auto [d, result] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto expr = dyn_cast<AffineDimExpr>(result);
      if (!expr || expr.getPosition() != loop)
        continue;
      Expr extent = dim(operand.get(), d);
      if (extent && (!found || extent->getAsInteger()))
        found = std::move(extent);
    }
  return found;
}

Expr SizeFollower::loopExtent(GemmOp op, unsigned loop) {
  for (auto [operand, map] :
       llvm::zip_equal(op->getOperands(), op.getMaps().getAsValueRange<AffineMapAttr>()))
    if (auto d = map.getResultPosition(getAffineDimExpr(loop, op.getContext())))
      return dim(operand, *d);
  return std::nullopt;
}

Expr SizeFollower::loopExtent(AttentionOp op, unsigned loop) {
  if (int64_t extent = op.getLoopExtents()[loop]; ShapedType::isStatic(extent))
    return Expr(extent);
  auto [operand, d] = op.getOperandOfLoop(loop);
  if (!operand)
    return std::nullopt;
  int64_t steps = op.getStepsOfLoop(loop);
  return steps == 1 ? dim(operand, d) : apply("mul", dim(operand, d), Expr(steps));
}
