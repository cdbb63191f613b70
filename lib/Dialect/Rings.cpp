// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification of rings.

#include "tilewright/Dialect/Rings.h"

using namespace mlir;
using namespace tilewright;

#define GET_OP_CLASSES
#include "tilewright/Dialect/RingOps.cpp.inc"

static LogicalResult tilesOf(ValueRange operands,
                             SmallVectorImpl<Type> &types) {
  auto ring =
      operands.empty() ? RingType() : dyn_cast<RingType>(operands[0].getType());
  if (!ring)
    return failure();
  llvm::append_range(types, ring.getTiles());
  return success();
}

LogicalResult AcquireOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return tilesOf(adaptor.getOperands(), types);
}

LogicalResult WaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return tilesOf(adaptor.getOperands(), types);
}

LogicalResult MmaWaitOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getValues().getTypes());
  return success();
}

LogicalResult MmaFenceOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getValues().getTypes());
  return success();
}

LogicalResult TileCopyOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto dest = cast<MemRefType>(getDest().getType());
  if (source.getMemorySpace() ||
      !isa_and_nonnull<SharedAttr>(dest.getMemorySpace()) ||
      source.getElementType() != dest.getElementType())
    return emitOpError() << "copies elements from global to shared memory, not "
                         << source << " to " << dest;
  if (!stageOf(*this))
    return emitOpError()
           << "fills a tile of a stage that 'tilewright.acquire' gave, or a subview of one";
  if (getByThreads() && getMulticast())
    return emitOpError() << "is by threads, which copy to their own block";
  if (int64_t(getIndices().size()) != source.getRank())
    return emitOpError() << "has " << getIndices().size() << " indices into "
                         << source;
  AffineMap map = getMap();
  if (map.getNumDims() != unsigned(dest.getRank()) || map.getNumSymbols() ||
      map.getNumResults() != unsigned(source.getRank()))
    return emitOpError() << "map must lead from the dims of " << dest
                         << " to those of " << source;
  return success();
}

SmallVector<TileCopyOp> tilewright::copiesInto(AcquireOp stage) {
  SmallVector<TileCopyOp> copies;
  for (Value tile : stage.getTiles())
    for (Operation *user : tile.getUsers())
      if (auto part = dyn_cast<memref::SubViewOp>(user))
        llvm::append_range(copies, llvm::map_range(part->getUsers(), llvm::CastTo<TileCopyOp>));
      else
        copies.push_back(cast<TileCopyOp>(user));
  return copies;
}

AcquireOp tilewright::stageOf(TileCopyOp copy) {
  Value tile = copy.getDest();
  if (auto part = tile.getDefiningOp<memref::SubViewOp>())
    tile = part.getSource();
  return tile.getDefiningOp<AcquireOp>();
}

SharedAttr tilewright::swizzledRows(MLIRContext *context, int64_t rowBytes,
                                    int64_t elementBytes) {
  layout::Swizzle swizzle = rowBytes == 128  ? layout::swizzle128B
                            : rowBytes == 64 ? layout::swizzle64B
                                             : layout::swizzle32B;
  swizzle.base -= llvm::Log2_64(elementBytes);
  return SharedAttr::getSwizzled(context, swizzle);
}

StorePiece tilewright::storePieceOf(int64_t columns, int64_t elementBytes) {
  StorePiece piece;
  for (int64_t bytes : {128, 64, 32})
    if (!piece.rowBytes && columns * elementBytes % bytes == 0)
      piece.rowBytes = bytes;
  piece.columns = piece.rowBytes / elementBytes;
  return piece;
}

/// Whether copy engines move a tile of type `type` to or from `memory` in pieces.
static LogicalResult verifyPieces(Operation *op, StringRef moves, StringRef where,
                                  Type type, MemRefType memory, size_t indices) {
  auto value = dyn_cast<VectorType>(type);
  if (!value || value.getRank() != 2 ||
      value.getElementType() != memory.getElementType())
    return op->emitOpError() << moves << " a matrix of " << memory.getElementType()
                             << ", not " << type;
  if (memory.getMemorySpace() || memory.getRank() < 2 || memory.getRank() > 5 ||
      int64_t(indices) != memory.getRank())
    return op->emitOpError() << moves << " " << where
                             << " 2 to 5 dims of global memory, with an index for each, not "
                             << where << " " << memory;
  int64_t bits = value.getElementTypeBitWidth();
  if (bits % 8 || !storePieceOf(value.getDimSize(1), bits / 8).rowBytes)
    return op->emitOpError() << moves << " rows of multiples of 32 bytes, not of " << value;
  return success();
}

LogicalResult TileStoreOp::verify() {
  return verifyPieces(*this, "stores", "into", getValue().getType(),
                      cast<MemRefType>(getDest().getType()), getIndices().size());
}

LogicalResult TileLoadOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  if (failed(verifyPieces(*this, "loads", "from", getValue().getType(), source,
                          getIndices().size())))
    return failure();
  auto value = cast<VectorType>(getValue().getType());
  unsigned bits = value.getElementTypeBitWidth();
  if (bits != 16 && bits != 32)
    return emitOpError() << "loads elements of 16 or 32 bits, not of " << value;
  StorePiece piece = storePieceOf(value.getDimSize(1), bits / 8);
  auto ring = cast<RingType>(getRing().getType());
  if (ring.getTiles().size() != 1 || ring.getStages() % StorePiece::kTurns ||
      ring.getTiles().front().getElementType() != value.getElementType() ||
      ring.getTiles().front().getShape() != ArrayRef<int64_t>{piece.rows, piece.columns})
    return emitOpError() << "of " << value << " goes through stages of " << piece.rows
                         << "x" << piece.columns << "x" << value.getElementType()
                         << ", two for each warpgroup";
  return success();
}

LogicalResult SetRegistersOp::verify() {
  auto warps = dyn_cast<WarpsOp>((*this)->getParentOp());
  if (getCount() % 8 || getCount() < 24 || getCount() > 240)
    return emitOpError() << "takes a multiple of 8 from 24 to 240, not "
                         << getCount();
  if (warps && (warps.getFirst() % 4 || warps.getCount() % 4))
    return emitOpError() << "is for whole warpgroups of four warps, not warps ["
                         << warps.getFirst() << ", "
                         << warps.getFirst() + warps.getCount() << ")";
  return success();
}

LogicalResult RoleOp::verify() {
  if (getBarrier() < 1 || getBarrier() > 15)
    return emitOpError() << "meets at a named barrier from 1 to 15, not " << getBarrier();
  if (getThreads() < 32 || getThreads() % 32)
    return emitOpError() << "is of whole warps of 32 threads, not of " << getThreads();
  return success();
}
