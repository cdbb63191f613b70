// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-chunk-sums: a product of a vector and a large matrix, whose
// columns are summed, reads the matrix row after row.
//
//   for %j step 64 {                                  // register tiles of the result
//     %r = for %k = 0 to %K step 1 iter_args(%c = %init) { … read %B[%k, %j] … }
//     write %r, %y[%j]
//   }
// reads 256 bytes of a row and goes to the next, a page further. It becomes,
// with chunks of 8 steps,
//   for %p = 0 to %K step 8 {
//     for %j step 64 {
//       %c = if first chunk: %init else: read %sums[%j / 64]
//       %r = for %k = %p to %p + 8 step 1 iter_args(%c) { … read %B[%k, %j] … }
//       if last chunk: write %r, %y[%j] else: write %r, %sums[%j / 64] } }
// where eight rows are read side by side, as memory has them; the sums stay in
// the first-level cache.

#include "Chunks.h"
#include "tilewright/Promote/Promote.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {
#define GEN_PASS_DEF_CHUNKSUMSPASS
#include "tilewright/Promote/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

LogicalResult tilewright::chunkSums(func::FuncOp kernel) {
  auto chunks = kernel->getAttrOfType<DenseI64ArrayAttr>(kChunksAttr);
  if (!chunks || kernel.isExternal())
    return success();
  SmallVector<scf::ForOp> carrying;
  kernel.walk([&](scf::ForOp loop) {
    if (loop.getNumResults())
      carrying.push_back(loop);
  });
  // A sum of one step has no loop.
  if (carrying.empty())
    return success();
  if (chunks.size() != 2 || carrying.size() != 1)
    return kernel.emitOpError() << "has " << carrying.size() << " sums; '"
                                << kChunksAttr << "' is for one";
  scf::ForOp sum = carrying.front();
  auto tiles = dyn_cast<scf::ForOp>(sum->getParentOp());
  // One tile has nothing that a chunk could go on with.
  if (!tiles)
    return success();
  auto type = dyn_cast<VectorType>(sum.getResult(0).getType());
  std::optional<int64_t> step = getConstantIntValue(tiles.getStep()),
                         sumStep = getConstantIntValue(sum.getStep());
  if (sum.getNumResults() != 1 || !type || !step || !sumStep ||
      tiles->getParentOp() != kernel.getOperation())
    return sum.emitOpError(
        "cannot be cut into chunks: it carries several values, or "
        "there are several loops around it");

  Location loc = sum.getLoc();
  SmallVector<int64_t> shape{chunks[0]};
  llvm::append_range(shape, type.getShape());
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value sums = memref::AllocOp::create(
      b, loc, MemRefType::get(shape, type.getElementType()),
      b.getI64IntegerAttr(64));
  b.setInsertionPoint(tiles);
  Chunk chunk = enterChunks(b, loc, sum.getLowerBound(), sum.getUpperBound(),
                            chunks[1] * *sumStep);
  auto loop = scf::ForOp::create(b, loc, tiles.getLowerBound(),
                                 tiles.getUpperBound(), tiles.getStep());
  b.setInsertionPointToStart(loop.getBody());
  IRMapping mapping;
  mapping.map(tiles.getInductionVar(), loop.getInductionVar());
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  SmallVector<Value> place{affine::AffineApplyOp::create(
      b, loc, (d0 - d1).floorDiv(*step),
      ValueRange{loop.getInductionVar(), loop.getLowerBound()})};
  for (Operation &op :
       llvm::make_range(tiles.getBody()->begin(), sum->getIterator()))
    b.clone(op, mapping);
  Value start =
      startChunk(b, loc, chunk, mapping.lookupOrDefault(sum.getInitArgs()[0]),
                 sums, place);
  auto part = cast<scf::ForOp>(b.clone(*sum, mapping));
  part.setLowerBound(chunk.begin);
  part.setUpperBound(chunk.end);
  part.getInitArgsMutable()[0].set(start);
  finishChunk(b, loc, chunk, part.getResult(0), sums, place);
  for (Operation &op :
       llvm::make_range(std::next(sum->getIterator()),
                        tiles.getBody()->getTerminator()->getIterator()))
    b.clone(op, mapping);
  tiles->erase();
  return success();
}

namespace {
struct ChunkSumsPass : tilewright::impl::ChunkSumsPassBase<ChunkSumsPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()) && failed(chunkSums(getOperation())))
      signalPassFailure();
  }
};
} // namespace
