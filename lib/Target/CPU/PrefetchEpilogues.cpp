// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is done to a product reads tiles of other tensors, those of a residual connection, say,
// and writes one of the result. Nothing has touched these lines before, and the processor gets to
// them when the sums are there: it would wait for each tile. They are asked for in front of the
// loop over the sums.
//
//   memref.prefetch %residual[%row, %column], read …
//   memref.prefetch %result[%row, %column], write …
//   %sums = scf.for %k … { tilewright.mma … }
//   %other = vector.transfer_read %residual[%row, %column]
//   %r = arith.addf %sums, %other
//   vector.transfer_write %r, %result[%row, %column]

#include "CacheLines.h"
#include "RowLoops.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tilewright {
#define GEN_PASS_DEF_PREFETCHEPILOGUESPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// More than these are what processors ask for at a time, about.
static constexpr int64_t kMostLines = 32;

/// Whether steps of `loop` add products to what it returns.
static bool isOfSums(scf::ForOp loop) {
  return loop.getNumResults() && !loop.getBody()->getOps<MmaOp>().empty();
}

/// The lines of the tile that `access` reads or writes. None if there are too many, or if rows of
/// the vector are not rows of memory.
static SmallVector<Line> linesOf(VectorTransferOpInterface access) {
  auto type = dyn_cast<MemRefType>(access.getBase().getType());
  VectorType tile = access.getVectorType();
  if (!type || !access.getPermutationMap().isMinorIdentity() || access.getMask() ||
      tile.getRank() < 2 || type.getElementTypeBitWidth() < 8)
    return {};
  SmallVector<Line> lines = linesOf(tile);
  return int64_t(lines.size()) <= kMostLines ? lines : SmallVector<Line>();
}

/// Whether the indices of `access` behind `loop` are there in front of it, too.
static bool isKnownBefore(scf::ForOp loop, VectorTransferOpInterface access) {
  return llvm::all_of(access.getIndices(), [&](Value index) {
    Operation *from = index.getDefiningOp();
    return !from || from->getBlock() != loop->getBlock() || from->isBeforeInBlock(loop);
  });
}

/// Prefetches in front of `loop` what `access` behind it reads or writes.
static void prefetch(scf::ForOp loop, VectorTransferOpInterface access) {
  if (!isKnownBefore(loop, access))
    return;
  OpBuilder builder(loop);
  Location loc = access.getLoc();
  auto number = [&](int64_t n) { return arith::ConstantIndexOp::create(builder, loc, n); };
  unsigned rank = access.getVectorType().getRank(), outer = access.getIndices().size() - rank;
  for (const Line &line : linesOf(access)) {
    SmallVector<Value> indices = access.getIndices();
    for (unsigned dim = 0; dim < rank; ++dim) {
      if (!line[dim])
        continue;
      Value &index = indices[outer + dim];
      index = arith::AddIOp::create(builder, loc, index, number(line[dim]));
      if (access.isDimInBounds(dim))
        continue;
      Value end = memref::DimOp::create(builder, loc, access.getBase(), number(outer + dim));
      Value last = arith::SubIOp::create(builder, loc, end, number(1));
      index = arith::MinSIOp::create(builder, loc, index, last);
    }
    memref::PrefetchOp::create(builder, loc, access.getBase(), indices,
                               isa<vector::TransferWriteOp>(access), /*localityHint=*/3,
                               /*isDataCache=*/true);
  }
}

namespace {
struct PrefetchEpiloguesPass
    : tilewright::impl::PrefetchEpiloguesPassBase<PrefetchEpiloguesPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    ArrayAttr access = accessOfKernel(func);
    if (!access)
      return;
    func.walk([&](scf::ForOp loop) {
      if (!isOfSums(loop))
        return;
      for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
        auto transfer = dyn_cast<VectorTransferOpInterface>(op);
        if (transfer && isOfArgument(transfer.getBase(),
                                     isa<vector::TransferReadOp>(op) ? "read" : "write", access))
          prefetch(loop, transfer);
      }
    });
  }
};
} // namespace
