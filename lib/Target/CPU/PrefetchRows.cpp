// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first of several loops over the same row waits for memory, the others find the row in a
// cache and compute. Meanwhile they have the next rows brought there:
//
//   scf.for %i … { %v = read %x[%row, %i] … memref.prefetch %x[%row + 2, %i] … }
//
// Processors drop what is asked for faster than memory gives it: of the lines of a tile, each
// loop asks for a part that is as large as its part of the work. So does one that reads what an
// earlier one kept of these rows.
//
// So does a single loop over rows and, beside them, those before (tilewright-pipeline-rows), which
// are in a cache then.
//
// A row may have several dims, with a nest of loops over them:
//
//   scf.for %c … scf.for %i … { … memref.prefetch %x[%image, %group + 1, %c, %i] … }
//
// A tile that is transposed reads a line of each of its rows, more rows than processors
// follow: the lines two further are brought there meanwhile. Likewise sums of columns, which read
// a few rows side by side and then the next ones: these are brought there.
//
//   scf.for %chunk … step 8 {
//     scf.for %column … {
//       scf.for %row = %chunk … { … read %x[%row, %column], prefetch %x[%row + 8, %column] }

#include "CacheLines.h"
#include "RowLoops.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tilewright {
#define GEN_PASS_DEF_PREFETCHROWSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

static Value number(OpBuilder &builder, Location loc, int64_t n) {
  return arith::ConstantIndexOp::create(builder, loc, n);
}

/// The first dim of the rows of `read`: this one and those behind it the loops `nest` go along,
/// innermost first, from the last dim on.
static unsigned firstDimOfRows(vector::TransferReadOp read, ArrayRef<scf::ForOp> nest) {
  unsigned first = read.getIndices().size();
  for (scf::ForOp loop : nest) {
    if (first == 0 || read.getIndices()[first - 1] != loop.getInductionVar())
      break;
    --first;
  }
  return first;
}

/// How many elements the tile of `read` has along a dim of the memory.
static int64_t tileExtent(vector::TransferReadOp read, unsigned dim) {
  unsigned outer = read.getIndices().size() - read.getVectorType().getRank();
  return dim < outer ? 1 : read.getVectorType().getDimSize(dim - outer);
}

namespace {
/// A loop that goes along the rows that `read` of the first one reads.
struct RowPass {
  scf::ForOp loop;
  vector::TransferReadOp read;
  /// Where `read` reads at the same step of this loop.
  SmallVector<Value> at;
  Operation *before;
  /// It reads what was kept of these rows in their place.
  bool ofKept = false;
};
} // namespace

/// Prefetches lines of the tile that lies in the rows behind those of the tile of a pass, where
/// dims from `first` on are those of a row.
static void prefetchNext(const RowPass &pass, unsigned first, ArrayRef<Line> lines) {
  if (lines.empty())
    return;
  vector::TransferReadOp read = pass.read;
  OpBuilder builder(pass.before);
  Location loc = read.getLoc();
  unsigned dim = first - 1, inner = read.getIndices().size() - 1, beside = inner - 1;
  Value end = memref::DimOp::create(builder, loc, read.getBase(), number(builder, loc, dim));
  Value last = arith::SubIOp::create(builder, loc, end, number(builder, loc, 1));
  for (const Line &line : lines) {
    int64_t row = line[0], column = line[1];
    SmallVector<Value> indices(pass.at);
    auto move = [&](unsigned d, int64_t by) {
      if (by)
        indices[d] = arith::AddIOp::create(builder, loc, indices[d], number(builder, loc, by));
    };
    move(dim, tileExtent(read, dim) + (dim == beside ? row : 0));
    indices[dim] = arith::MinSIOp::create(builder, loc, indices[dim], last);
    move(beside, dim == beside ? 0 : row);
    move(inner, column);
    // Into the second-level cache: a few rows may be more than the first one.
    memref::PrefetchOp::create(builder, loc, read.getBase(), indices, /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
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
  unsigned column = type.getRank() - 1;
  Value end = memref::DimOp::create(builder, loc, read.getBase(), number(builder, loc, column));
  Value last = arith::SubIOp::create(builder, loc, end, number(builder, loc, 1));
  SmallVector<Value> indices = read.getIndices();
  Value next = arith::AddIOp::create(builder, loc, indices[column], number(builder, loc, ahead));
  indices[column] = arith::MinSIOp::create(builder, loc, next, last);
  Value first = indices[rows];
  for (int64_t row = 0; row < read.getVectorType().getDimSize(1); ++row) {
    indices[rows] = arith::AddIOp::create(builder, loc, first, number(builder, loc, row));
    memref::PrefetchOp::create(builder, loc, read.getBase(), indices, /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
  }
}

/// How many rows further the next ones are, of a read by a loop over a few rows side by side.
static std::optional<int64_t> rowsOfChunk(scf::ForOp loop, vector::TransferReadOp read) {
  auto type = dyn_cast<MemRefType>(read.getBase().getType());
  auto begin = dyn_cast<BlockArgument>(loop.getLowerBound());
  auto chunks = begin ? dyn_cast<scf::ForOp>(begin.getOwner()->getParentOp()) : scf::ForOp();
  if (!type || type.getRank() < 2 || !chunks || begin != chunks.getInductionVar() ||
      !loop.getNumResults() || read.getIndices()[type.getRank() - 2] != loop.getInductionVar() ||
      read.getMask() || !read.getPermutationMap().isMinorIdentity())
    return std::nullopt;
  VectorType tile = read.getVectorType();
  int64_t bits = type.getElementTypeBitWidth();
  bool hasLines = tile.getRank() == 1 && bits >= 8 &&
                  tile.getNumElements() * bits % (8 * kLineBytes) == 0;
  return hasLines ? getConstantIntValue(chunks.getStep()) : std::nullopt;
}

/// Prefetches the tile that lies `rows` further.
static void prefetchChunk(vector::TransferReadOp read, int64_t rows) {
  OpBuilder builder(read->getContext());
  builder.setInsertionPointAfter(read);
  Location loc = read.getLoc();
  SmallVector<Value> indices = read.getIndices();
  unsigned column = indices.size() - 1, row = column - 1;
  Value end = memref::DimOp::create(builder, loc, read.getBase(), number(builder, loc, row));
  Value last = arith::SubIOp::create(builder, loc, end, number(builder, loc, 1));
  Value next = arith::AddIOp::create(builder, loc, indices[row], number(builder, loc, rows));
  indices[row] = arith::MinSIOp::create(builder, loc, next, last);
  Value first = indices[column];
  for (const Line &line : linesOf(read.getVectorType())) {
    indices[column] =
        arith::AddIOp::create(builder, loc, first, number(builder, loc, line.back()));
    memref::PrefetchOp::create(builder, loc, read.getBase(), indices, /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
  }
}

/// Whether `loop` reads a tile of the rows before those of `read`, too: rows are pipelined.
static bool readsRowsBefore(scf::ForOp loop, vector::TransferReadOp read) {
  return llvm::any_of(loop.getBody()->getOps<vector::TransferReadOp>(), [&](auto other) {
    unsigned inner = read.getIndices().size() - 1;
    auto before = other.getBase() == read.getBase()
                      ? other.getIndices()[inner - 1].template getDefiningOp<arith::SubIOp>()
                      : arith::SubIOp();
    return before && before.getLhs() == read.getIndices()[inner - 1] &&
           other.getIndices()[inner] == read.getIndices()[inner];
  });
}

namespace {
struct PrefetchRowsPass : tilewright::impl::PrefetchRowsPassBase<PrefetchRowsPass> {
  using PrefetchRowsPassBase::PrefetchRowsPassBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    ArrayAttr access = accessOfKernel(func);
    if (!access)
      return;
    SmallVector<scf::ForOp> loops = innermostLoops(func);
    for (scf::ForOp first : loops)
      for (auto read : llvm::to_vector(first.getBody()->getOps<vector::TransferReadOp>()))
        if (isOfRows(read))
          prefetch(first, read, loops, access);
        else if (std::optional<unsigned> rows = transposedRows(read))
          prefetchAhead(read, *rows);
        else if (std::optional<int64_t> rows = rowsOfChunk(first, read))
          if (isReadOfInput(read, access) && isLarge(read))
            prefetchChunk(read, *rows);
  }

  /// Whether all that is read is more than a cache has, or may be.
  bool isLarge(vector::TransferReadOp read) {
    auto type = cast<MemRefType>(read.getBase().getType());
    return !type.hasStaticShape() ||
           type.getNumElements() * type.getElementTypeBitWidth() / 8 > 2 * bytes;
  }

  /// Tiles of rows whose elements lie side by side.
  static bool isOfRows(vector::TransferReadOp read) {
    auto type = dyn_cast<MemRefType>(read.getBase().getType());
    return type && type.getRank() >= 2 && read.getVectorType().getRank() == 2 &&
           type.getElementTypeBitWidth() >= 8 && read.getPermutationMap().isMinorIdentity() &&
           !read.getMask() && read.isDimInBounds(1);
  }

  /// Whether a cache keeps the rows of tiles that loops go along from dim `first` on.
  bool areKept(vector::TransferReadOp read, unsigned first) {
    auto type = cast<MemRefType>(read.getBase().getType());
    int64_t rank = type.getRank(), size = type.getElementTypeBitWidth() / 8;
    if (first == 0 || first == rank)
      return false;
    for (int64_t dim = first; dim < rank; ++dim) {
      if (type.isDynamicDim(dim))
        return false;
      size *= type.getDimSize(dim);
    }
    return size * tileExtent(read, first - 1) <= bytes;
  }

  void prefetch(scf::ForOp first, vector::TransferReadOp read, ArrayRef<scf::ForOp> loops,
                ArrayAttr access) {
    SmallVector<RowPass> passes = {{first, read, llvm::to_vector(read.getIndices()), read}};
    LoopPairs nests;
    bool behind = false;
    for (scf::ForOp loop : loops) {
      LoopPairs pairs = pairLoops(first, loop);
      if (behind && haveCommonSteps(first, loop)) {
        if (std::optional<RowPass> pass = passOf(pairs, read, access)) {
          passes.push_back(*pass);
          nests = pairs;
        }
      } else if (behind && !pairs.empty()) {
        return;
      }
      // Rows that an earlier loop reads have been seen to.
      if (!behind && !pairs.empty()) {
        Twins twins(loop, first, access);
        for (auto before : loop.getBody()->getOps<vector::TransferReadOp>())
          if (twins.haveSameTile(before, read))
            return;
      }
      behind |= loop == first;
    }
    SmallVector<scf::ForOp> nest(llvm::make_first_range(nests));
    if (nests.empty() && readsRowsBefore(first, read))
      nest.push_back(first);
    if (nest.empty())
      return;
    unsigned dim = firstDimOfRows(read, nest);
    if (areKept(read, dim))
      share(passes, dim);
  }

  /// What the inner one of the second loops does with what `read` of the first ones reads.
  static std::optional<RowPass> passOf(LoopPairs &pairs, vector::TransferReadOp read,
                                    ArrayAttr access) {
    auto [first, loop] = pairs.front();
    Twins twins(first, loop, access);
    RowPass pass{loop, read, {}, loop.getBody()->getTerminator()};
    for (auto other : loop.getBody()->getOps<vector::TransferReadOp>()) {
      if (twins.haveSameTile(read, other)) {
        pass.at = llvm::to_vector(other.getIndices());
        pass.before = other;
        pass.ofKept = false;
        return pass;
      }
      pass.ofKept |= isa_and_present<memref::AllocaOp>(other.getBase().getDefiningOp());
    }
    if (!pass.ofKept)
      return std::nullopt;
    for (Value index : read.getIndices()) {
      auto pair = llvm::find_if(
          pairs, [&](auto &pair) { return index == pair.first.getInductionVar(); });
      if (pair != pairs.end())
        index = pair->second.getInductionVar();
      else if (!pairs.back().first.isDefinedOutsideOfLoop(index))
        return std::nullopt;
      pass.at.push_back(index);
    }
    return pass;
  }

  /// Divides the lines of a tile among the loops that go along it. One with little of the work,
  /// next to one that computes exponentials, is over too soon to ask for anything.
  static void share(SmallVector<RowPass> &passes, unsigned dim) {
    constexpr int64_t kLeastShare = 6;
    SmallVector<Line> lines = linesOf(passes.front().read.getVectorType());
    int64_t total = 0, done = 0, from = 0;
    for (const RowPass &pass : passes)
      total += workOf(pass.loop);
    llvm::erase_if(passes, [&](const RowPass &pass) {
      return pass.ofKept && kLeastShare * workOf(pass.loop) < total;
    });
    total = 0;
    for (const RowPass &pass : passes)
      total += workOf(pass.loop);
    for (auto [number, pass] : llvm::enumerate(passes)) {
      int64_t own = workOf(pass.loop);
      if (kLeastShare * own >= total)
        done += own;
      if (number + 1 == passes.size())
        done = total;
      int64_t to = int64_t(lines.size()) * done / total;
      prefetchNext(pass, dim, ArrayRef(lines).slice(from, to - from));
      from = to;
    }
  }
};
} // namespace
