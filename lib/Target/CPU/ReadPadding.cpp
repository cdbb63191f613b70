// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of padded operands (Dialect/Padding.h). A tile that is inside of the source
// altogether is read as any other; one that is not, element by element through the
// stack:
//
//   %in = <the corners of the tile are inside>
//   %v = scf.if %in -> vector<8x32xf32> {
//     vector.transfer_read %a[%i, %j] …
//   } else {
//     for %r, %c { %stack[%r, %c] = <inside> ? %a[%i + %r, %j + %c] : fill }
//     vector.transfer_read %stack[0, 0]
//   }

#include "tilewright/Target/CPU/Passes.h"

#include "tilewright/Dialect/Padding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright {
#define GEN_PASS_DEF_READPADDINGPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {
class Reader {
public:
  Reader(OpBuilder &b, Location loc, const Padding &padding)
      : b(b), loc(loc), padding(padding) {}

  /// i1: `constraint` holds at `at`.
  Value holds(AffineExpr constraint, ArrayRef<Value> at) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                 evaluate(constraint, at), index(0));
  }
  Value isInside(ArrayRef<Value> at) {
    Value all;
    for (AffineExpr constraint : padding.inside.getConstraints())
      all = both(all, holds(constraint, at));
    return all;
  }
  Value both(Value left, Value right) {
    return left ? arith::AndIOp::create(b, loc, left, right).getResult() : right;
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value left, Value right) {
    return arith::AddIOp::create(b, loc, left, right);
  }
  /// The element at `at`, or `outside`.
  Value load(Value memory, ArrayRef<Value> at, Value inside, Value outside) {
    auto branch = scf::IfOp::create(b, loc, outside.getType(), inside,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock()),
              other = OpBuilder::atBlockBegin(branch.elseBlock());
    Value element = memref::LoadOp::create(then, loc, memory, at);
    scf::YieldOp::create(then, loc, element);
    scf::YieldOp::create(other, loc, outside);
    return branch.getResult(0);
  }
  Value fill() { return arith::ConstantOp::create(b, loc, padding.fill); }

private:
  Value evaluate(AffineExpr expr, ArrayRef<Value> at) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return index(constant.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return at[dim.getPosition()];
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return padding.symbols[symbol.getPosition()];
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value left = evaluate(binary.getLHS(), at),
          right = evaluate(binary.getRHS(), at);
    if (expr.getKind() == AffineExprKind::Mul)
      return arith::MulIOp::create(b, loc, left, right);
    return add(left, right);
  }

  OpBuilder &b;
  Location loc;
  const Padding &padding;
};
} // namespace

/// The tile's dims that are dims of the memory, and which.
static SmallVector<std::pair<unsigned, unsigned>>
readDims(vector::TransferReadOp read) {
  SmallVector<std::pair<unsigned, unsigned>> dims;
  for (auto [dim, expr] :
       llvm::enumerate(read.getPermutationMap().getResults()))
    if (auto memory = dyn_cast<AffineDimExpr>(expr))
      dims.push_back({unsigned(dim), memory.getPosition()});
  return dims;
}

/// i1: all of the tile is inside, each constraint where it is least.
static Value isAllInside(OpBuilder &b, vector::TransferReadOp read,
                         const Padding &padding) {
  Reader reader(b, read.getLoc(), padding);
  Value all;
  for (AffineExpr constraint : padding.inside.getConstraints())
    for (bool last : {false, true}) {
      // Coefficients of one sign, as windows have them, are least at an end.
      SmallVector<Value> at(read.getIndices());
      bool differs = false;
      for (auto [dim, memory] : readDims(read))
        if (last && constraint.isFunctionOfDim(memory)) {
          at[memory] = reader.add(
              at[memory], reader.index(read.getVectorType().getDimSize(dim) - 1));
          differs = true;
        }
      if (!last || differs)
        all = reader.both(all, reader.holds(constraint, at));
    }
  return all;
}

/// The tile through the stack.
static Value readElements(OpBuilder &b, vector::TransferReadOp read,
                          const Padding &padding) {
  Location loc = read.getLoc();
  VectorType type = read.getVectorType();
  Type element = type.getElementType();
  bool isBit = element.isInteger(1); // a byte in memory
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs(type.getRank(), b.getAffineConstantExpr(0));
  for (auto [dim, memory] : readDims(read)) {
    exprs[dim] = b.getAffineDimExpr(shape.size());
    shape.push_back(type.getDimSize(dim));
  }
  auto stackType = MemRefType::get(shape, isBit ? b.getI8Type() : element);
  auto kernel = read->getParentOfType<func::FuncOp>();
  Value stack;
  {
    OpBuilder top = OpBuilder::atBlockBegin(&kernel.getBody().front());
    stack = memref::AllocaOp::create(top, loc, stackType,
                                     top.getI64IntegerAttr(64));
  }
  SmallVector<Value> lower, upper, steps;
  Reader outer(b, loc, padding);
  for (int64_t size : shape) {
    lower.push_back(outer.index(0));
    upper.push_back(outer.index(size));
    steps.push_back(outer.index(1));
  }
  scf::buildLoopNest(b, loc, lower, upper, steps, [&](OpBuilder &inner,
                                                      Location, ValueRange ivs) {
    Reader reader(inner, loc, padding);
    SmallVector<Value> at(read.getIndices());
    Value bounds;
    for (auto [number, dims] : llvm::enumerate(readDims(read))) {
      auto [dim, memory] = dims;
      at[memory] = reader.add(at[memory], ivs[number]);
      if (read.isDimInBounds(dim))
        continue;
      Value size = memref::DimOp::create(inner, loc, read.getBase(), memory);
      bounds = reader.both(
          bounds, arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt,
                                        at[memory], size));
    }
    Value outside = reader.fill(), inside = reader.isInside(at);
    if (bounds) {
      outside = arith::SelectOp::create(inner, loc, bounds, outside,
                                        read.getPadding());
      inside = reader.both(bounds, inside);
    }
    Value value = reader.load(read.getBase(), at, inside, outside);
    if (isBit)
      value = arith::ExtUIOp::create(inner, loc, inner.getI8Type(), value);
    memref::StoreOp::create(inner, loc, value, stack, ivs);
  });
  Value zero = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(stackType.getElementType())));
  SmallVector<bool> inBounds(type.getRank(), true);
  Value value = vector::TransferReadOp::create(
      b, loc, VectorType::get(type.getShape(), stackType.getElementType()), stack,
      SmallVector<Value>(shape.size(), outer.index(0)), zero,
      AffineMap::get(shape.size(), 0, exprs, b.getContext()),
      ArrayRef<bool>(inBounds));
  return isBit ? arith::TruncIOp::create(b, loc, type, value).getResult() : value;
}

static void readPadding(vector::TransferReadOp read, const Padding &padding) {
  OpBuilder b(read);
  Location loc = read.getLoc();
  auto branch =
      scf::IfOp::create(b, loc, read.getVectorType(), isAllInside(b, read, padding),
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  read.getResult().replaceAllUsesWith(branch.getResult(0));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, readElements(b, read, padding));
  read->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, read.getResult());
}

static void readPadding(memref::LoadOp read, const Padding &padding) {
  OpBuilder b(read);
  Reader reader(b, read.getLoc(), padding);
  SmallVector<Value> at(read.getIndices());
  Value value = reader.load(read.getMemRef(), at, reader.isInside(at), reader.fill());
  read.getResult().replaceAllUsesWith(value);
  read.erase();
}

namespace {
struct ReadPaddingPass
    : tilewright::impl::ReadPaddingPassBase<ReadPaddingPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isKernel(func) || func.isExternal() || !func->hasAttr(kPaddingAttr))
      return;
    SmallVector<std::pair<Operation *, Padding>> reads;
    func.walk([&](Operation *op) {
      Value memory;
      if (auto read = dyn_cast<vector::TransferReadOp>(op))
        memory = read.getBase();
      else if (auto load = dyn_cast<memref::LoadOp>(op))
        memory = load.getMemRef();
      if (!memory)
        return;
      if (std::optional<Padding> padding = getPadding(memory))
        reads.push_back({op, *padding});
    });
    for (auto &[op, padding] : reads)
      if (auto read = dyn_cast<vector::TransferReadOp>(op))
        readPadding(read, padding);
      else
        readPadding(cast<memref::LoadOp>(op), padding);
    func->removeAttr(kPaddingAttr);
  }
};
} // namespace
