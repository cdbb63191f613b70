// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that sums up a row and then writes it computes what both need twice. A
// transcendental function, or a few steps, cost more than a store to a cache and a load:
// their values are kept, a tile for each step of the loop, where a row of them fits there.
//
//   scf.for %i … { %e = math.exp %d, sum }         %rows = memref.alloca : memref<128x2x64xf32>
//   scf.for %i … { %e = math.exp %d, write }  ->   scf.for %i … { %e = math.exp %d, sum, write to %rows }
//                                                  scf.for %i … { %e = read %rows, write }
//
// The first of such loops waits for memory, the others find the row in a cache and compute.
// The last that reads it has the next rows brought there meanwhile:
//
//   scf.for %i … { %v = read %x[%row, %i] … memref.prefetch %x[%row + 2, %i] … }
//
// A tile that is transposed reads a line of each of its rows, more rows than processors
// follow: the lines two further are brought there meanwhile.

#include "RowLoops.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {
#define GEN_PASS_DEF_KEEPCOMPUTEDROWSPASS
#define GEN_PASS_DEF_PREFETCHROWSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

static constexpr int64_t kLineBytes = 64;

/// A function that is a polynomial or more.
static bool isCostly(Operation &op) {
  return isa_and_present<math::MathDialect>(op.getDialect()) && op.getNumResults() == 1 &&
         !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
              math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp,
              math::FmaOp, math::RoundEvenOp, math::SqrtOp, math::RsqrtOp, math::TruncOp>(op) &&
         isa<VectorType>(op.getResult(0).getType());
}

/// Vector instructions that compute `value` out of what a loop reads.
static double stepsOf(Value value, scf::ForOp loop) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || !isPure(op) || !isa<VectorType>(value.getType()))
    return 0;
  // Conversions from and to 16 bits take two.
  double steps = isa<CastOpInterface>(op) ? 2 : OpTrait::hasElementwiseMappableTraits(op);
  for (Value operand : op->getOperands())
    steps += stepsOf(operand, loop);
  return steps;
}

/// Whether it pays to store and load what `op` of a loop computes.
static bool isWorthKeeping(Operation &op, scf::ForOp loop) {
  constexpr double kStoreAndLoad = 6;
  if (isCostly(op))
    return true;
  if (op.getNumResults() != 1 || !OpTrait::hasElementwiseMappableTraits(&op))
    return false;
  Type element = getElementTypeOrSelf(op.getResult(0).getType());
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8 &&
         stepsOf(op.getResult(0), loop) > kStoreAndLoad;
}

/// The indices of the tile of this step.
static SmallVector<Value> tileIndices(OpBuilder &builder, scf::ForOp loop, int64_t rank) {
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> indices(rank + 1, zero);
  indices[0] = arith::DivUIOp::create(builder, loc, loop.getInductionVar(), loop.getStep());
  return indices;
}

/// Keeps `value` of a loop, a tile for each of its steps.
static Value store(Operation *value, scf::ForOp first, int64_t steps) {
  auto type = cast<VectorType>(value->getResult(0).getType());
  Location loc = value->getLoc();
  SmallVector<int64_t> shape = {steps};
  llvm::append_range(shape, type.getShape());
  OpBuilder builder(first->getContext());
  builder.setInsertionPointToStart(&first->getParentOfType<func::FuncOp>().getBody().front());
  Value rows = memref::AllocaOp::create(
      builder, loc, MemRefType::get(shape, type.getElementType()),
      /*alignment=*/builder.getI64IntegerAttr(64));
  SmallVector<bool> inBounds(type.getRank(), true);
  builder.setInsertionPointAfter(value);
  vector::TransferWriteOp::create(builder, loc, value->getResult(0), rows,
                                  tileIndices(builder, first, type.getRank()),
                                  ArrayRef<bool>(inBounds));
  return rows;
}

/// Reads in place of `again` what is kept in `rows`.
static void load(Value rows, Operation *again, scf::ForOp second) {
  auto type = cast<VectorType>(again->getResult(0).getType());
  Location loc = again->getLoc();
  OpBuilder builder(again);
  SmallVector<bool> inBounds(type.getRank(), true);
  Value pad = arith::ConstantOp::create(builder, loc,
                                        builder.getZeroAttr(type.getElementType()));
  Value read = vector::TransferReadOp::create(
      builder, loc, type, rows, tileIndices(builder, second, type.getRank()), pad,
      ArrayRef<bool>(inBounds));
  again->getResult(0).replaceAllUsesWith(read);
}

/// Erases what no other op of the loop's body needs any more.
static void eraseUnused(scf::ForOp loop) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*loop.getBody())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Prefetches the tile that lies below the one that `read` reads, a line after the other.
static void prefetchBelow(vector::TransferReadOp read) {
  auto type = cast<MemRefType>(read.getBase().getType());
  VectorType tile = read.getVectorType();
  OpBuilder builder(read);
  Location loc = read.getLoc();
  auto number = [&](int64_t n) {
    return Value(arith::ConstantIndexOp::create(builder, loc, n));
  };
  int64_t rows = tile.getDimSize(0), line = kLineBytes * 8 / type.getElementTypeBitWidth();
  Value end = memref::DimOp::create(builder, loc, read.getBase(), number(0));
  Value last = arith::SubIOp::create(builder, loc, end, number(1));
  for (int64_t row = 0; row < rows; ++row) {
    Value next = arith::AddIOp::create(builder, loc, read.getIndices()[0], number(rows + row));
    Value inside = arith::MinSIOp::create(builder, loc, next, last);
    for (int64_t first = 0; first < tile.getDimSize(1); first += line) {
      Value column =
          arith::AddIOp::create(builder, loc, read.getIndices()[1], number(first));
      // Into the second-level cache: a few rows may be more than the first one.
      memref::PrefetchOp::create(builder, loc, read.getBase(), ValueRange{inside, column},
                                 /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
    }
  }
}

/// The dim of its rows, of a transposed read of whole lines: rows of its vectors lie across them.
/// They are in pages of their own.
static std::optional<unsigned> transposedRows(vector::TransferReadOp read) {
  constexpr int64_t kPageBytes = 4096;
  auto type = dyn_cast<MemRefType>(read.getBase().getType());
  AffineMap map = read.getPermutationMap();
  if (!type || map.getNumResults() != 2 || !map.isProjectedPermutation() || read.getMask() ||
      map.getDimPosition(0) + 1 != type.getRank())
    return std::nullopt;
  int64_t bits = type.getElementTypeBitWidth(), columns = type.getShape().back();
  if (bits < 8 || read.getVectorType().getDimSize(0) * bits % (8 * kLineBytes) ||
      (!ShapedType::isDynamic(columns) && columns * bits / 8 < kPageBytes))
    return std::nullopt;
  return map.getDimPosition(1);
}

/// Prefetches what a transposed tile reads two lines further along its rows.
static void prefetchAhead(vector::TransferReadOp read, unsigned rows) {
  constexpr int64_t kAheadBytes = 2 * kLineBytes;
  auto type = cast<MemRefType>(read.getBase().getType());
  int64_t ahead = kAheadBytes * 8 / type.getElementTypeBitWidth();
  // What is read now is asked for first.
  OpBuilder builder(read->getContext());
  builder.setInsertionPointAfter(read);
  Location loc = read.getLoc();
  auto number = [&](int64_t n) {
    return Value(arith::ConstantIndexOp::create(builder, loc, n));
  };
  unsigned column = type.getRank() - 1;
  Value end = memref::DimOp::create(builder, loc, read.getBase(), number(column));
  Value last = arith::SubIOp::create(builder, loc, end, number(1));
  SmallVector<Value> indices = read.getIndices();
  Value next = arith::AddIOp::create(builder, loc, indices[column], number(ahead));
  indices[column] = arith::MinSIOp::create(builder, loc, next, last);
  Value first = indices[rows];
  for (int64_t row = 0; row < read.getVectorType().getDimSize(1); ++row) {
    indices[rows] = arith::AddIOp::create(builder, loc, first, number(row));
    memref::PrefetchOp::create(builder, loc, read.getBase(), indices, /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
  }
}

namespace {
struct KeepComputedRowsPass : tilewright::impl::KeepComputedRowsPassBase<KeepComputedRowsPass> {
  using KeepComputedRowsPassBase::KeepComputedRowsPassBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    auto access = func->getAttrOfType<ArrayAttr>(kAccessAttr);
    if (!isKernel(func) || func.isExternal() || !access)
      return;
    SmallVector<scf::ForOp> loops = innermostLoops(func);
    kept.clear();
    int64_t left = bytes;
    for (size_t j = 1; j < loops.size(); ++j)
      for (size_t i = 0; i < j; ++i)
        if (loops[i]->getBlock() == loops[j]->getBlock())
          keepCommon(loops[i], loops[j], access, left);
  }

  void keepCommon(scf::ForOp first, scf::ForOp second, ArrayAttr access, int64_t &left) {
    std::optional<int64_t> steps = commonSteps(first, second);
    if (!steps || *steps < 1)
      return;
    Twins twins(first, second, access);
    SmallVector<Operation *> again;
    for (Operation &op : llvm::reverse(*second.getBody()))
      if (isWorthKeeping(op, second))
        again.push_back(&op);
    for (Operation *candidate : again) {
      // Of an op that is unused by now, another that needs it is kept.
      if (candidate->use_empty())
        continue;
      for (Operation &op : *first.getBody()) {
        if (!isWorthKeeping(op, first) ||
            !twins.areEqual(op.getResult(0), candidate->getResult(0)))
          continue;
        if (!keep(&op, candidate, first, second, *steps, left))
          break;
        eraseUnused(second);
        return keepCommon(first, second, access, left);
      }
    }
  }

  /// Keeps `value` of the first loop, once, and reads it in place of `again` of the second. False
  /// if there is no room for it.
  bool keep(Operation *value, Operation *again, scf::ForOp first, scf::ForOp second,
            int64_t steps, int64_t &left) {
    Value &rows = kept[value];
    if (!rows) {
      auto type = cast<VectorType>(value->getResult(0).getType());
      int64_t size =
          steps * type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      if (size > left)
        return false;
      left -= size;
      rows = store(value, first, steps);
    }
    load(rows, again, second);
    return true;
  }

  llvm::DenseMap<Operation *, Value> kept;
};

struct PrefetchRowsPass : tilewright::impl::PrefetchRowsPassBase<PrefetchRowsPass> {
  using PrefetchRowsPassBase::PrefetchRowsPassBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    auto access = func->getAttrOfType<ArrayAttr>(kAccessAttr);
    if (!isKernel(func) || func.isExternal() || !access)
      return;
    SmallVector<scf::ForOp> loops = innermostLoops(func);
    for (scf::ForOp first : loops)
      for (auto read : llvm::to_vector(first.getBody()->getOps<vector::TransferReadOp>()))
        if (isRowOfMatrix(read))
          prefetch(first, read, loops, access);
        else if (std::optional<unsigned> rows = transposedRows(read))
          prefetchAhead(read, *rows);
  }

  /// Tiles of a matrix whose rows of tiles a cache keeps.
  bool isRowOfMatrix(vector::TransferReadOp read) {
    auto type = dyn_cast<MemRefType>(read.getBase().getType());
    return type && type.getRank() == 2 && read.getVectorType().getRank() == 2 &&
           !type.isDynamicDim(1) && type.getElementTypeBitWidth() >= 8 &&
           read.getPermutationMap().isIdentity() && !read.getMask() &&
           read.isDimInBounds(1) &&
           type.getDimSize(1) * read.getVectorType().getDimSize(0) *
                   type.getElementTypeBitWidth() / 8 <= bytes;
  }

  static void prefetch(scf::ForOp first, vector::TransferReadOp read,
                       ArrayRef<scf::ForOp> loops, ArrayAttr access) {
    vector::TransferReadOp last;
    bool behind = false;
    for (scf::ForOp loop : loops) {
      if (behind && loop->getBlock() == first->getBlock() && commonSteps(first, loop)) {
        Twins twins(first, loop, access);
        for (auto again : loop.getBody()->getOps<vector::TransferReadOp>())
          if (twins.haveSameTile(read, again))
            last = again;
      } else if (behind && loop->getBlock() == first->getBlock()) {
        return;
      }
      // Rows that an earlier loop reads have been seen to.
      if (!behind && loop != first && loop->getBlock() == first->getBlock()) {
        Twins twins(loop, first, access);
        for (auto before : loop.getBody()->getOps<vector::TransferReadOp>())
          if (twins.haveSameTile(before, read))
            return;
      }
      behind |= loop == first;
    }
    if (last)
      prefetchBelow(last);
  }
};
} // namespace
