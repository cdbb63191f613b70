// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that stay in shared memory (`promote` of strategy reduction). The first loop along
// a row leaves a copy, the others read that.
//
//   scf.for %j = %c0 to %n step %s { %v = vector.transfer_read %x[%i, %j] … }
//   scf.for %j = %c0 to %n step %s { %w = vector.transfer_read %x[%i, %j] … }
// becomes
//   %row = memref.alloc() : memref<1xNxf16, #tilewright.shared>
//   scf.for %j = … { %v = vector.transfer_read %x[%i, %j] …
//                    vector.transfer_write %v, %row[%c0, %j] }
//   scf.for %j = … { %w = vector.transfer_read %row[%c0, %j] … }
//
// Where the target copies asynchronously and rows begin and end at multiples of 4 bytes
// (better 16), copies go A steps ahead instead, without registers:
//
//   for a in 0 .. A-1: copy step a of %x to %row; commit
//   scf.for %j = … { copy step %j + A * s, if there is one; commit; wait A; barrier
//                    %v = vector.transfer_read %row[%c0, %j] … }
//
// Groups of steps that there are none of are empty, so that nothing is under way behind.
//
// The copy ends where the row does: what lies behind is padded as each read says. Of rows of
// a dynamic extent, which the kernel's guard limits (`tilewright.at_most`), memory has as much
// as the limit, and the copy is the beginning of that:
//
//   %all = memref.alloc() : memref<1x40704xf32, #tilewright.shared>
//   %row = memref.subview %all[0, 0] [1, %n] [1, 1]

#include "KeepRows.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/KeptRows.h"
#include "tilewright/Dialect/SharedPlaces.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// A read of a step of rows, in a loop along them.
struct RowRead {
  vector::TransferReadOp read;
  scf::ForOp loop;
  int64_t dim = 0;  // of memory, along the loop
  int64_t most = 0; // elements along it
};
} // namespace

/// How many iterations of one element a loop has at most; nothing where nobody says.
static std::optional<int64_t> mostOf(Value upper) {
  if (std::optional<int64_t> constant = getConstantIntValue(upper))
    return constant;
  auto size = upper.getDefiningOp<memref::DimOp>();
  auto argument = size ? dyn_cast<BlockArgument>(size.getSource()) : BlockArgument();
  std::optional<int64_t> dim = size ? size.getConstantIndex() : std::nullopt;
  auto kernel = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                         : func::FuncOp();
  int64_t most = kernel && dim ? promisedMost(kernel, operandNumber(argument), *dim)
                               : ShapedType::kDynamic;
  return ShapedType::isDynamic(most) ? std::nullopt : std::optional(most);
}

static FailureOr<RowRead> matchRead(vector::TransferReadOp read) {
  RowRead row;
  row.read = read;
  row.loop = dyn_cast<scf::ForOp>(read->getParentOp());
  auto fail = [&] {
    return read.emitOpError() << "is no step along a row, which is to stay in shared memory "
                                 "('" << kKeptRowsAttr << "')";
  };
  std::optional<int64_t> most =
      row.loop ? mostOf(row.loop.getUpperBound()) : std::nullopt;
  if (!most || read.getMask() ||
      !llvm::all_of(read.getPermutationMap().getResults(), llvm::IsaPred<AffineDimExpr>))
    return fail();
  row.most = *most;
  int64_t along = 0;
  for (auto [dim, index] : llvm::enumerate(read.getIndices())) {
    if (index == row.loop.getInductionVar()) {
      row.dim = dim;
      ++along;
    } else if (!row.loop.isDefinedOutsideOfLoop(index)) {
      return fail();
    }
  }
  return along == 1 ? FailureOr<RowRead>(row) : fail();
}

/// How many elements of each dim of memory a read has.
static SmallVector<int64_t> stepShape(vector::TransferReadOp read) {
  SmallVector<int64_t> shape(read.getIndices().size(), 1);
  for (auto [dim, expr] : llvm::enumerate(read.getPermutationMap().getResults()))
    shape[cast<AffineDimExpr>(expr).getPosition()] = read.getVectorType().getDimSize(dim);
  return shape;
}

/// Whether `other` reads what `first` has read, step by step, when that has read all.
static bool isSameRow(RowRead first, RowRead other) {
  if (first.loop->getBlock() != other.loop->getBlock() ||
      !first.loop->isBeforeInBlock(other.loop) || first.dim != other.dim ||
      first.loop.getLowerBound() != other.loop.getLowerBound() ||
      first.loop.getUpperBound() != other.loop.getUpperBound() ||
      first.loop.getStep() != other.loop.getStep() ||
      stepShape(first.read) != stepShape(other.read))
    return false;
  for (auto [dim, a, b] : llvm::enumerate(first.read.getIndices(), other.read.getIndices()))
    if (int64_t(dim) != first.dim && a != b)
      return false;
  return true;
}

/// Memory for the rows of a step: whole along the loop, in the order of the argument.
static MemRefType rowsType(RowRead row) {
  auto memory = cast<MemRefType>(row.read.getBase().getType());
  SmallVector<int64_t> shape = stepShape(row.read);
  shape[row.dim] = row.most;
  return MemRefType::get(shape, memory.getElementType(), MemRefLayoutAttrInterface(),
                         SharedAttr::get(memory.getContext(), {}));
}

/// The copy of the rows, which is in front of all that `row` is a read of.
static Value allocateRows(OpBuilder &b, RowRead row) {
  Location loc = row.read.getLoc();
  MemRefType type = rowsType(row);
  Value rows = memref::AllocOp::create(b, loc, type);
  if (getConstantIntValue(row.loop.getUpperBound()))
    return rows;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(row.loop.getUpperBound());
  SmallVector<OpFoldResult> begin(type.getRank(), b.getIndexAttr(0)),
      steps(type.getRank(), b.getIndexAttr(1)),
      sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape());
  sizes[row.dim] = row.loop.getUpperBound();
  return memref::SubViewOp::create(b, loc, rows, begin, sizes, steps);
}

/// Where a step lies in the copy: only the dim along the loop has an end that steps may go
/// beyond.
static SmallVector<Value> indicesIn(OpBuilder &b, RowRead row, SmallVector<bool> &inBounds) {
  SmallVector<Value> indices;
  Location loc = row.read.getLoc();
  for (int64_t dim = 0; dim < int64_t(row.read.getIndices().size()); ++dim)
    indices.push_back(dim == row.dim ? row.loop.getInductionVar()
                                     : arith::ConstantIndexOp::create(b, loc, 0).getResult());
  inBounds = row.read.getInBoundsValues();
  for (auto [dim, expr] : llvm::enumerate(row.read.getPermutationMap().getResults()))
    if (int64_t(cast<AffineDimExpr>(expr).getPosition()) != row.dim)
      inBounds[dim] = true;
  return indices;
}

/// Reads a step out of the copy.
static void readKept(RowRead row, Value rows) {
  OpBuilder b(row.read);
  SmallVector<bool> inBounds;
  SmallVector<Value> indices = indicesIn(b, row, inBounds);
  auto kept = vector::TransferReadOp::create(
      b, row.read.getLoc(), row.read.getVectorType(), rows, indices,
      row.read.getPermutationMapAttr(), row.read.getPadding(), Value(),
      b.getBoolArrayAttr(inBounds));
  row.read.getResult().replaceAllUsesWith(kept.getResult());
  row.read.erase();
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// Bytes of the copies; 0: there are none.
static int64_t copiedBytes(func::FuncOp kernel, BlockArgument argument, RowRead row) {
  std::optional<int64_t> step = getConstantIntValue(row.loop.getStep());
  return step && getConstantIntValue(row.loop.getLowerBound()) == 0
             ? keptRowCopies(kernel, argument, row.dim, *step)
             : 0;
}

static int64_t stepsAhead(RowRead row) {
  VectorType step = row.read.getVectorType();
  return keptStepsAhead(step.getNumElements() * step.getElementTypeBitWidth() / 8,
                        llvm::divideCeil(row.most, *getConstantIntValue(row.loop.getStep())));
}

/// Starts to copy the step that begins at `at`, if there is one, and closes a group.
static void startCopy(OpBuilder &b, RowRead row, Value rows, int64_t bytes, Value at) {
  Location loc = row.read.getLoc();
  Value source = row.read.getBase();
  int64_t rank = cast<MemRefType>(source.getType()).getRank();
  SmallVector<Value> indices(row.read.getIndices());
  indices[row.dim] = at;
  SmallVector<OpFoldResult> begin(rank, b.getIndexAttr(0)), steps(rank, b.getIndexAttr(1));
  begin[row.dim] = at;
  // Of rows of a dynamic extent, the memory for the longest.
  if (auto part = rows.getDefiningOp<memref::SubViewOp>())
    rows = part.getSource();
  SmallVector<int64_t> shape = stepShape(row.read);
  Value tile = memref::SubViewOp::create(
      b, loc, rows, begin, getAsIndexOpFoldResult(b.getContext(), shape), steps);
  SmallVector<bool> inBounds(rank, true);
  for (auto [dim, expr] : llvm::enumerate(row.read.getPermutationMap().getResults()))
    inBounds[cast<AffineDimExpr>(expr).getPosition()] = row.read.isDimInBounds(dim);
  Value live = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at,
                                     row.loop.getUpperBound());
  auto copy = AsyncCopyOp::create(b, loc, source, indices, tile, live,
                                  b.getMultiDimIdentityMap(rank),
                                  b.getBoolArrayAttr(inBounds));
  copy->setAttr(kClippedAttr, b.getI64IntegerAttr(bytes));
  AsyncCommitOp::create(b, loc);
}

/// Copies go ahead of the loop that reads the rows first, which waits for its step's.
static void copyRows(RowRead first, Value rows, int64_t bytes) {
  Location loc = first.read.getLoc();
  Value memory = rows;
  if (auto part = rows.getDefiningOp<memref::SubViewOp>())
    memory = part.getSource();
  int64_t ahead = stepsAhead(first);
  OpBuilder b(first.loop);
  // Barriers are those of this schedule.
  memory.getDefiningOp()->setAttr(kStagesAttr, b.getI64IntegerAttr(1));
  if (!isa<func::FuncOp>(first.loop->getParentOp()))
    gpu::BarrierOp::create(b, loc);
  auto stepAt = [&](OpBuilder &b, Value from, int64_t steps) -> Value {
    if (!steps)
      return from;
    Value by = arith::MulIOp::create(b, loc, first.loop.getStep(),
                                     arith::ConstantIndexOp::create(b, loc, steps));
    return arith::AddIOp::create(b, loc, from, by);
  };
  for (int64_t step = 0; step < ahead; ++step)
    startCopy(b, first, rows, bytes, stepAt(b, first.loop.getLowerBound(), step));
  OpBuilder inner = OpBuilder::atBlockBegin(first.loop.getBody());
  startCopy(inner, first, rows, bytes,
            stepAt(inner, first.loop.getInductionVar(), ahead));
  AsyncWaitOp::create(inner, loc, ahead);
  gpu::BarrierOp::create(inner, loc);
  readKept(first, rows);
}

static LogicalResult keepRows(func::FuncOp kernel, BlockArgument argument) {
  SmallVector<RowRead> reads;
  WalkResult walk = kernel.walk([&](vector::TransferReadOp read) {
    if (read.getBase() != argument)
      return WalkResult::advance();
    FailureOr<RowRead> row = matchRead(read);
    if (failed(row))
      return WalkResult::interrupt();
    reads.push_back(*row);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (reads.empty())
    return kernel.emitOpError() << "reads no rows of argument " << argument.getArgNumber()
                                << ", which are to stay in shared memory ('"
                                << kKeptRowsAttr << "')";
  RowRead first = reads.front();
  Location loc = first.read.getLoc();
  OpBuilder top = OpBuilder::atBlockBegin(&kernel.front());
  Value rows = allocateRows(top, first);
  for (RowRead other : ArrayRef(reads).drop_front()) {
    if (!isSameRow(first, other))
      return other.read.emitOpError() << "reads another part of rows that stay in shared "
                                         "memory ('" << kKeptRowsAttr << "')";
    readKept(other, rows);
  }
  if (int64_t bytes = copiedBytes(kernel, argument, first)) {
    copyRows(first, rows, bytes);
    return success();
  }
  OpBuilder b(first.read);
  b.setInsertionPointAfter(first.read);
  SmallVector<bool> inBounds;
  SmallVector<Value> indices = indicesIn(b, first, inBounds);
  vector::TransferWriteOp::create(b, loc, first.read.getVector(), rows, indices,
                                  first.read.getPermutationMap(), inBounds);
  return success();
}

LogicalResult tilewright::keepRows(func::FuncOp kernel) {
  auto kept = kernel->getAttrOfType<DenseI64ArrayAttr>(kKeptRowsAttr);
  if (!kept)
    return success();
  for (BlockArgument argument : kernel.getArguments())
    if (isa<MemRefType>(argument.getType()) &&
        llvm::is_contained(kept.asArrayRef(), operandNumber(argument)) &&
        failed(::keepRows(kernel, argument)))
      return failure();
  kernel->removeAttr(kKeptRowsAttr);
  return success();
}
