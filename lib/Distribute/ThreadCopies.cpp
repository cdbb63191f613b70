// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of tiles into a ring by threads: each copies runs of 16 bytes, those of a warp lie
// side by side in shared memory, and so, row by row, in global memory. What is outside of
// the tensor is zero, as copy engines have it.
//
//   tilewright.tile_copy %A[%i, %k] to %a {by_threads, map = (r, c) -> (r, c)}
//     // 128 x 64 elements of two bytes by 128 threads: each has 8 runs, 16 rows apart
//     -> %valid = %i + %thread / 8 < %rows and %k + %thread mod 8 * 8 < %columns ? 8 : 0
//        async_copy_run %A[…] to %tiles[swizzled %thread * 8] valid %valid
//        … rows 16, 32, … further down

#include "Swizzle.h"
#include "ThreadCode.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

namespace {

constexpr int64_t kRunBytes = 16;

class RunWriter {
public:
  RunWriter(ThreadCode &code, TileCopyOp op, const MemView &from, const MemView &to)
      : code(code), op(op), loc(op.getLoc()), from(from), to(to),
        tile(cast<MemRefType>(op.getDest().getType())) {}
  LogicalResult write();

private:
  LogicalResult findSteps();
  /// Where element `linear` of shared memory is along each dim of the tile.
  SmallVector<Index> placeOf(Index linear);
  /// Along a dim of the source: where the tile's element at `place` comes from.
  Index coordinate(unsigned dim, ArrayRef<Index> place);
  bool endsInside(unsigned dim);
  Value validOf(ArrayRef<Index> coordinates);

  ThreadCode &code;
  TileCopyOp op;
  Location loc;
  const MemView &from, &to;
  MemRefType tile;
  int64_t length = 0;
  SmallVector<int64_t> strides;
  /// For each dim of the source, elements of it for each step along a dim of the tile.
  SmallVector<SmallVector<int64_t>> steps;
};

} // namespace

LogicalResult RunWriter::findSteps() {
  int64_t offset;
  if (failed(tile.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return op.emitOpError() << "copies rows of " << tile
                            << ", whose elements are no neighbours";
  length = kRunBytes * 8 / tile.getElementTypeBitWidth();
  for (AffineExpr expr : op.getMap().getResults()) {
    SmallVector<int64_t> flat;
    if (failed(getFlattenedAffineExpr(expr, tile.getRank(), 0, &flat)))
      return op.emitOpError() << "map must be of sums of dims times constants";
    flat.pop_back();
    steps.push_back(flat);
  }
  if (steps.back().back() != 1 || tile.getShape().back() % length)
    return op.emitOpError() << "copies rows that are no runs of " << kRunBytes
                            << " bytes in both memories";
  return success();
}

SmallVector<Index> RunWriter::placeOf(Index linear) {
  SmallVector<Index> place;
  for (auto [size, stride] : llvm::zip_equal(tile.getShape(), strides)) {
    if (linear.isConstant()) {
      place.push_back(Index(linear.constant / stride % size));
      continue;
    }
    Value at = code.materialize(loc, linear);
    if (stride > 1)
      at = arith::DivUIOp::create(code.b, loc, at, code.constant(loc, stride));
    at = arith::RemUIOp::create(code.b, loc, at, code.constant(loc, size));
    place.push_back(Index(at));
  }
  return place;
}

Index RunWriter::coordinate(unsigned dim, ArrayRef<Index> place) {
  Index at = code.mapped(OpFoldResult(op.getIndices()[dim]));
  for (auto [step, along] : llvm::zip_equal(steps[dim], place))
    at = code.add(loc, at, code.multiply(loc, along, Index(step)));
  return at;
}

/// Whether the source has a whole number of tiles along `dim`.
bool RunWriter::endsInside(unsigned dim) {
  int64_t extent = 1;
  for (auto [step, size] : llvm::zip_equal(steps[dim], tile.getShape()))
    extent += step * (size - 1);
  return extent == 1 || (from.sizeDivisors[dim] % extent == 0 &&
                         knownDivisor(op.getIndices()[dim]) % extent == 0);
}

/// How many elements of a run are inside; null: all.
Value RunWriter::validOf(ArrayRef<Index> coordinates) {
  OpBuilder &b = code.b;
  Value all;
  for (auto [dim, at] : llvm::enumerate(coordinates)) {
    if (endsInside(dim))
      continue;
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                         code.materialize(loc, at),
                                         code.materialize(loc, from.sizes[dim]));
    all = all ? arith::AndIOp::create(b, loc, all, inside).getResult() : inside;
  }
  if (!all)
    return {};
  unsigned last = coordinates.size() - 1;
  Value valid = code.constant(loc, length);
  if (!endsInside(last) && (from.sizeDivisors[last] % length ||
                            knownDivisor(op.getIndices()[last]) % length)) {
    Value left = arith::SubIOp::create(b, loc, code.materialize(loc, from.sizes[last]),
                                       code.materialize(loc, coordinates[last]));
    valid = arith::MinSIOp::create(b, loc, left, valid);
  }
  return arith::SelectOp::create(b, loc, all, valid, code.constant(loc, 0));
}

LogicalResult RunWriter::write() {
  if (failed(findSteps()))
    return failure();
  OpBuilder &b = code.b;
  int64_t threads = code.threads.lanes * code.threads.warps;
  int64_t runs = tile.getNumElements() / length;
  // A thread's runs are `threads` apart: what that adds is a constant along each dim.
  if (!llvm::isPowerOf2_64(threads))
    return op.emitOpError() << "is by " << threads << " threads, no power of two";
  for (auto [size, stride] : llvm::zip_equal(tile.getShape(), strides))
    if (stride * size < tile.getNumElements() && !llvm::isPowerOf2_64(stride * size))
      return op.emitOpError() << "is of " << tile
                              << ", whose inner dims are no powers of two";
  Value lanes = code.constant(loc, code.threads.lanes);
  Value thread = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, code.warp(), lanes), code.lane());
  Index first = code.multiply(loc, Index(thread), Index(length));
  SmallVector<Index> own = placeOf(first);
  SharedOffsets offsets(code, loc, to, first, (threads - 1) * length);
  OpBuilder::InsertionGuard guard(b);
  for (int64_t run = 0; run < runs; run += threads) {
    if (run + threads > runs) {
      // The last ones are some threads' only.
      Value has = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, thread,
                                        code.constant(loc, runs - run));
      auto branch = scf::IfOp::create(b, loc, has, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    SmallVector<Index> place = placeOf(Index(run * length)), coordinates;
    for (auto [along, mine] : llvm::zip_equal(place, own))
      along = code.add(loc, along, mine);
    Index offset = from.offset;
    for (unsigned dim = 0; dim < steps.size(); ++dim) {
      coordinates.push_back(coordinate(dim, place));
      offset = code.add(loc, offset,
                        code.multiply(loc, coordinates.back(), from.strides[dim]));
    }
    AsyncCopyRunOp::create(b, loc, from.base, code.materialize(loc, offset), to.base,
                           offsets.at(run * length), validOf(coordinates), length);
  }
  return success();
}

LogicalResult ThreadCode::copyByThreads(TileCopyOp op) {
  FailureOr<MemView> from = view(op.getSource()), to = view(op.getDest());
  if (failed(from) || failed(to))
    return failure();
  if (from->padding)
    return op.emitOpError() << "is of a padded tensor, which copy engines alone read";
  return RunWriter(*this, op, *from, *to).write();
}
