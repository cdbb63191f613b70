// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Chunks.h.

#include "Chunks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

Chunk tilewright::enterChunks(OpBuilder &b, Location loc, Value lower,
                              Value upper, int64_t size) {
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  Value stop = affine::AffineMaxOp::create(
      b, loc, AffineMap::get(2, 0, {d0 + 1, d1}, b.getContext()),
      ValueRange{lower, upper});
  Value step = arith::ConstantIndexOp::create(b, loc, size);
  auto loop = scf::ForOp::create(b, loc, lower, stop, step);
  b.setInsertionPointToStart(loop.getBody());
  Chunk chunk;
  chunk.begin = loop.getInductionVar();
  chunk.end = affine::AffineMinOp::create(
      b, loc, AffineMap::get(2, 0, {d0 + size, d1}, b.getContext()),
      ValueRange{chunk.begin, upper});
  chunk.isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        chunk.begin, lower);
  chunk.isLast =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, chunk.end, upper);
  return chunk;
}

/// `place`, and the start of the vector there.
static SmallVector<Value> indicesOf(OpBuilder &b, Location loc, VectorType type,
                                    ArrayRef<Value> place) {
  SmallVector<Value> indices(place);
  indices.append(type.getRank(), arith::ConstantIndexOp::create(b, loc, 0));
  return indices;
}

Value tilewright::startChunk(OpBuilder &b, Location loc, const Chunk &chunk,
                             Value init, Value sums, ArrayRef<Value> place) {
  auto type = cast<VectorType>(init.getType());
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, chunk.isFirst,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, init);
  b.setInsertionPointToStart(branch.elseBlock());
  Value padding =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  SmallVector<bool> inBounds(type.getRank(), true);
  Value read = vector::TransferReadOp::create(
      b, loc, type, sums, indicesOf(b, loc, type, place), padding,
      std::optional<ArrayRef<bool>>(inBounds));
  scf::YieldOp::create(b, loc, read);
  return branch.getResult(0);
}

void tilewright::finishChunk(OpBuilder &b, Location loc, const Chunk &chunk,
                             Value result, Value sums, ArrayRef<Value> place) {
  auto type = cast<VectorType>(result.getType());
  auto branch =
      scf::IfOp::create(b, loc, chunk.isLast, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<bool> inBounds(type.getRank(), true);
  vector::TransferWriteOp::create(b, loc, result, sums,
                                  indicesOf(b, loc, type, place),
                                  ArrayRef<bool>(inBounds));
  b.setInsertionPointToStart(branch.thenBlock());
}
