// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transfers row by row. A row outside the buffer is a row whose mask is empty:
// no branches, and the masks of all rows are ordinary vectors. It is accessed where the first
// row is: an empty mask on a page that is not there takes x86 processors hundreds of cycles.
//
//   %v = vector.transfer_read %a[%i, %j], %pad {in_bounds = [false, true]}
//          : memref<?x512xf32>, vector<2x16xf32>
//
//   %m0 = broadcast(%i < %n),  %m1 = broadcast(%i + 1 < %n)
//   %i1 = %i + select(%i + 1 < %n, 1, 0)
//   %r0 = vector.transfer_read %a[%i, %j], %pad, %m0 {in_bounds = [true]}
//   %r1 = vector.transfer_read %a[%i1, %j], %pad, %m1 {in_bounds = [true]}

#include "Unroll.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace tilewright;

/// What both transfers need to go one row down.
namespace {
struct Row {
  SmallVector<Value> indices;
  Value mask; // null: everything
  ArrayAttr inBounds;
};
} // namespace

/// Row `number` of a transfer along its first vector dim.
template <typename Op>
static Row getRow(PatternRewriter &rewriter, Op op, VectorType type,
                  int64_t number) {
  Location loc = op.getLoc();
  Row row;
  row.indices = llvm::to_vector(op.getIndices());
  int64_t rank = type.getRank();
  int64_t dim = row.indices.size() - rank;
  Value first = row.indices[dim], distance;
  if (number) {
    distance = arith::ConstantIndexOp::create(rewriter, loc, number);
    row.indices[dim] = arith::AddIOp::create(rewriter, loc, first, distance);
  }
  if (op.getMask())
    row.mask = vector::ExtractOp::create(rewriter, loc, op.getMask(), number);
  if (!op.isDimInBounds(0)) {
    Value size = memref::DimOp::create(rewriter, loc, op.getBase(), dim);
    Value inside =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                              row.indices[dim], size);
    auto maskType =
        VectorType::get(type.getShape().drop_front(), rewriter.getI1Type());
    Value mask = vector::BroadcastOp::create(rewriter, loc, maskType, inside);
    row.mask = row.mask ? arith::AndIOp::create(rewriter, loc, mask, row.mask)
                        : mask;
    if (number) {
      Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
      distance = arith::SelectOp::create(rewriter, loc, inside, distance, zero);
      row.indices[dim] = arith::AddIOp::create(rewriter, loc, first, distance);
    }
  }
  row.inBounds =
      rewriter.getArrayAttr(op.getInBoundsAttr().getValue().drop_front());
  return row;
}

/// Rank at least 2, minor identity, on memrefs.
template <typename Op>
static LogicalResult check(PatternRewriter &rewriter, Op op, VectorType type) {
  if (type.getRank() < 2 || !op.getPermutationMap().isMinorIdentity() ||
      !isa<MemRefType>(op.getBase().getType()))
    return rewriter.notifyMatchFailure(op, "not a minor identity on a memref");
  return success();
}

/// A column: rows of one element. A masked load of one element would be a
/// branch, so an element outside is read from the start of its dim (a tile
/// that is looked at has no empty dim) and replaced.
namespace {
struct ReadColumn : OpRewritePattern<vector::TransferReadOp> {
  ReadColumn(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(vector::TransferReadOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getVectorType();
    if (type.getRank() < 1 || type.getShape().back() != 1 || op.getMask() ||
        !op.getPermutationMap().isMinorIdentity() ||
        !isa<MemRefType>(op.getBase().getType()))
      return rewriter.notifyMatchFailure(op, "not a column of a memref");
    Location loc = op.getLoc();
    int64_t first = op.getIndices().size() - type.getRank();
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    SmallVector<Value> sizes(type.getRank());
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (!op.isDimInBounds(d))
        sizes[d] = memref::DimOp::create(rewriter, loc, op.getBase(), first + d);
    SmallVector<int64_t> position(type.getRank(), 0);
    SmallVector<Value> elements;
    for (int64_t n = 0; n < type.getNumElements(); ++n) {
      SmallVector<Value> indices = llvm::to_vector(op.getIndices());
      Value inside;
      for (int64_t d = 0; d < type.getRank(); ++d) {
        Value &index = indices[first + d];
        if (position[d])
          index = arith::AddIOp::create(
              rewriter, loc, index,
              arith::ConstantIndexOp::create(rewriter, loc, position[d]));
        if (!sizes[d])
          continue;
        Value below = arith::CmpIOp::create(
            rewriter, loc, arith::CmpIPredicate::slt, index, sizes[d]);
        index = arith::SelectOp::create(rewriter, loc, below, index, zero);
        inside = inside ? arith::AndIOp::create(rewriter, loc, inside, below)
                        : below;
      }
      Value element =
          memref::LoadOp::create(rewriter, loc, op.getBase(), indices);
      if (inside)
        element = arith::SelectOp::create(rewriter, loc, inside, element,
                                          op.getPadding());
      elements.push_back(element);
      for (int64_t d = type.getRank() - 1; d >= 0; --d) {
        if (++position[d] < type.getDimSize(d))
          break;
        position[d] = 0;
      }
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }
};

struct UnrollRead : OpRewritePattern<vector::TransferReadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::TransferReadOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getVectorType();
    if (failed(check(rewriter, op, type)))
      return failure();
    Location loc = op.getLoc();
    auto rowType =
        VectorType::get(type.getShape().drop_front(), type.getElementType());
    auto map = AffineMapAttr::get(AffineMap::getMinorIdentityMap(
        op.getIndices().size(), rowType.getRank(), op.getContext()));
    Value result = ub::PoisonOp::create(rewriter, loc, type);
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      Row row = getRow(rewriter, op, type, i);
      Value read = vector::TransferReadOp::create(
          rewriter, loc, rowType, op.getBase(), row.indices, map,
          op.getPadding(), row.mask, row.inBounds);
      result = vector::InsertOp::create(rewriter, loc, read, result, i);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct UnrollWrite : OpRewritePattern<vector::TransferWriteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::TransferWriteOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getVectorType();
    if (failed(check(rewriter, op, type)))
      return failure();
    Location loc = op.getLoc();
    auto map = AffineMapAttr::get(AffineMap::getMinorIdentityMap(
        op.getIndices().size(), type.getRank() - 1, op.getContext()));
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      Row row = getRow(rewriter, op, type, i);
      Value value =
          vector::ExtractOp::create(rewriter, loc, op.getVector(), i);
      vector::TransferWriteOp::create(rewriter, loc, value, op.getBase(),
                                      row.indices, map, row.mask,
                                      row.inBounds);
    }
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void tilewright::cpu::populateUnrollTransferPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ReadColumn, UnrollRead, UnrollWrite>(patterns.getContext());
}
