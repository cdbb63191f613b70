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
  if (!getDest().getDefiningOp<AcquireOp>())
    return emitOpError()
           << "fills a tile of a stage that 'tilewright.acquire' gave";
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
