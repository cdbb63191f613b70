// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoopParts.h"
#include "tilewright/Dialect/SharedPlaces.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace tilewright;

std::optional<LoopParts> tilewright::findLoopParts(scf::ForOp loop) {
  LoopParts parts;
  Block *body = loop.getBody();
  bool multiplies = false;
  llvm::SetVector<Operation *> loads;
  for (Operation &op : *body) {
    multiplies |= isa<MmaOp>(op);
    auto store = dyn_cast<vector::TransferWriteOp>(op);
    if (!store)
      continue;
    auto alloc = store.getBase().getDefiningOp<memref::AllocOp>();
    if (!alloc || !isa_and_nonnull<SharedAttr>(alloc.getType().getMemorySpace()) ||
        body->findAncestorOpInBlock(*alloc))
      return std::nullopt;
    parts.stores.push_back(store);
    if (!llvm::is_contained(parts.tiles, alloc))
      parts.tiles.push_back(alloc);
    BackwardSliceOptions options;
    options.filter = [&](Operation *op) { return op->getBlock() == body; };
    options.inclusive = false;
    options.omitBlockArguments = true;
    if (failed(getBackwardSlice(store.getOperation(), &loads, options)))
      return std::nullopt;
  }
  if (!multiplies || parts.stores.empty())
    return std::nullopt;
  // A product in front of this one, whose result is stored: nothing to load ahead.
  if (llvm::any_of(loads, [](Operation *op) { return op->getNumRegions() != 0; }))
    return std::nullopt;
  // Index arithmetic may serve both sides; it is cheap to have twice.
  llvm::SmallPtrSet<Operation *, 16> shared;
  for (Operation &op : llvm::reverse(*body))
    if (loads.contains(&op) && llvm::any_of(op.getUsers(), [&](Operation *user) {
          return shared.contains(user) ||
                 (!loads.contains(user) && !isa<vector::TransferWriteOp>(user));
        }))
      shared.insert(&op);
  for (Operation &op : body->without_terminator()) {
    if (loads.contains(&op)) {
      // Loads must not depend on what earlier steps computed.
      if (isa<MmaOp>(op) ||
          llvm::any_of(op.getOperands(), [&](Value operand) {
            auto argument = dyn_cast<BlockArgument>(operand);
            return argument && argument.getOwner() == body &&
                   argument != loop.getInductionVar();
          }))
        return std::nullopt;
      parts.loads.push_back(&op);
      if (shared.contains(&op))
        parts.work.push_back(&op);
    } else if (!isa<vector::TransferWriteOp, gpu::BarrierOp>(op)) {
      parts.work.push_back(&op);
    }
  }
  // Tiles may only be used by this loop's stores and products.
  for (memref::AllocOp tile : parts.tiles)
    for (Operation *user : tile->getUsers())
      if (!isa<MmaOp, vector::TransferWriteOp>(user) || user->getBlock() != body)
        return std::nullopt;
  return parts;
}

MemRefType tilewright::stagedType(MemRefType type, int64_t stages) {
  SmallVector<int64_t> strides, shape(type.getShape());
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return {};
  int64_t size = 1;
  for (auto [extent, stride] : llvm::zip_equal(shape, strides))
    size = std::max(size, extent * stride);
  // A stage's swizzle does not see which stage it is.
  if (auto space = dyn_cast_or_null<SharedAttr>(type.getMemorySpace());
      space && !space.getSwizzle().empty())
    size = llvm::alignTo(size, space.getElementSwizzle().period());
  shape.insert(shape.begin(), stages);
  strides.insert(strides.begin(), size);
  return MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), 0, strides),
      type.getMemorySpace());
}

memref::AllocOp tilewright::addStages(memref::AllocOp tile, int64_t stages) {
  OpBuilder b(tile);
  auto staged =
      memref::AllocOp::create(b, tile.getLoc(), stagedType(tile.getType(), stages));
  staged->setAttr(kStagesAttr, b.getI64IntegerAttr(stages));
  return staged;
}

Value tilewright::stageOf(OpBuilder &b, Location loc, Value tile, Value stage) {
  auto type = cast<MemRefType>(tile.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), sizes,
      strides(type.getRank(), b.getIndexAttr(1));
  offsets[0] = stage;
  for (int64_t extent : type.getShape())
    sizes.push_back(b.getIndexAttr(extent));
  sizes[0] = b.getIndexAttr(1);
  auto result = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, loc, result, tile, offsets, sizes, strides);
}
