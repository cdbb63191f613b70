// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles beside the sums, a residual say, which copy engines bring through
// the memory that results leave through:
//
//   %r = vector.transfer_read %R[%i, %j]      {tilewright.loaded_tiles = [R] on the kernel}
// becomes
//   %ring = tilewright.ring : <2 for each warpgroup, a piece>     in front of the roles
//   %r = tilewright.tile_load %R[%i, %j] through %ring[%tiles before]

#include "RingWriter.h"

#include "tilewright/Dialect/Divisibility.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

/// Whether what is computed from `value` element by element is all for ops of `ofSums`.
static bool meets(Value value, const SetVector<Operation *> &ofSums) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return OpTrait::hasElementwiseMappableTraits(user) && user->getNumResults() == 1 &&
           (ofSums.contains(user) || meets(user->getResult(0), ofSums));
  });
}

FailureOr<SmallVector<vector::TransferReadOp>>
tilewright::findLoadedTiles(func::FuncOp kernel, ArrayRef<Value> sums) {
  SmallVector<vector::TransferReadOp> reads;
  auto loaded = kernel->getAttrOfType<DenseI64ArrayAttr>(kLoadedTilesAttr);
  if (!loaded)
    return reads;
  SetVector<Operation *> ofSums;
  for (Value sum : sums)
    getForwardSlice(sum, &ofSums);
  for (vector::TransferReadOp read : kernel.front().getOps<vector::TransferReadOp>()) {
    auto argument = dyn_cast<BlockArgument>(read.getBase());
    if (!argument ||
        !llvm::is_contained(loaded.asArrayRef(), operandNumber(argument)))
      continue;
    if (read.getMask() || !read.getPermutationMap().isMinorIdentity() ||
        read.getVectorType().getShape() != cast<VectorType>(sums.front().getType()).getShape() ||
        !meets(read.getVector(), ofSums))
      return read.emitOpError() << "is no tile beside the sums, which copy engines are to "
                                   "bring ('" << kLoadedTilesAttr << "')";
    reads.push_back(read);
  }
  return reads;
}

Value tilewright::addLoadRing(OpBuilder &b, Location loc, VectorType tile,
                              int64_t consumers) {
  MLIRContext *context = b.getContext();
  int64_t bytes = tile.getElementTypeBitWidth() / 8;
  StorePiece piece = storePieceOf(tile.getDimSize(1), bytes);
  auto type = MemRefType::get({piece.rows, piece.columns}, tile.getElementType(),
                              MemRefLayoutAttrInterface(),
                              swizzledRows(context, piece.rowBytes, bytes));
  return RingOp::create(
      b, loc, RingType::get(context, StorePiece::kTurns * consumers / 4, {type}));
}

/// Tiles beside the sums, one after the other through the ring of their type.
void RingWriter::writeLoads(const TileBody &body) {
  llvm::MapVector<Type, int64_t> before, all;
  for (vector::TransferReadOp read : loads)
    ++all[read.getVectorType().getElementType()];
  for (vector::TransferReadOp read : loads) {
    Type type = read.getVectorType().getElementType();
    OpBuilder b(read);
    Value at = constant(b, before[type]++);
    if (body.inside)
      at = arith::AddIOp::create(
          b, loc, arith::MulIOp::create(b, loc, body.inside, constant(b, all[type])), at);
    auto load = TileLoadOp::create(b, read.getLoc(), read.getVectorType(), read.getBase(),
                                   read.getIndices(), loadRings[type], at);
    read.getVector().replaceAllUsesWith(load.getValue());
    read->erase();
  }
}
