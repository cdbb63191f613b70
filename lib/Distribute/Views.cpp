// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers and views of them, as a thread sees them: where they begin, strides, padding; and
// reads and writes of single elements by all threads of a block alike.

#include "MemoryAccess.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/SharedPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

LogicalResult ThreadCode::allocate(memref::AllocOp op) {
  MemRefType type = op.getType();
  auto space = dyn_cast_or_null<SharedAttr>(type.getMemorySpace());
  if (!space || !type.hasStaticShape())
    return op.emitOpError() << "allocates " << type
                            << " in a kernel; only static shared memory "
                               "(#tilewright.shared) can be allocated";
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return op.emitOpError() << "needs a strided layout without offset";
  int64_t elements = 1;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
    elements += (size - 1) * stride;
  if (!space.getSwizzle().empty())
    elements = llvm::alignTo(elements, space.getElementSwizzle().period());
  MemView result;
  result.base = sharedMemory(op.getLoc(), type.getElementType(), elements);
  if (Attribute stages = op->getAttr(kStagesAttr))
    result.base.getDefiningOp()->setAttr(kStagesAttr, stages);
  result.offsetDivisor = int64_t(1) << 30;
  result.shared = space;
  result.element = type.getElementType();
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
    result.sizes.push_back(Index(size));
    result.strides.push_back(Index(stride));
    result.sizeDivisors.push_back(std::max<int64_t>(size, 1));
    result.strideDivisors.push_back(std::max<int64_t>(stride, 1));
  }
  defineView(op, result);
  return success();
}

LogicalResult ThreadCode::subview(memref::SubViewOp op) {
  FailureOr<MemView> from = view(op.getSource());
  if (failed(from))
    return failure();
  MemView result = *from;
  result.sizes.clear();
  result.strides.clear();
  result.sizeDivisors.clear();
  result.strideDivisors.clear();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Location loc = op.getLoc();
  for (auto [dim, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    result.offset = add(loc, result.offset,
                        multiply(loc, mapped(offset), from->strides[dim]));
    result.offsetDivisor = std::gcd(
        result.offsetDivisor,
        std::min<int64_t>(int64_t(1) << 30,
                          knownDivisor(offset) * from->strideDivisors[dim]));
    if (dropped.test(dim))
      continue;
    result.sizes.push_back(mapped(size));
    result.strides.push_back(multiply(loc, mapped(stride), from->strides[dim]));
    result.sizeDivisors.push_back(knownDivisor(size));
    result.strideDivisors.push_back(knownDivisor(stride) * from->strideDivisors[dim]);
  }
  defineView(op, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Scalar accesses (uniform over the block)
//===----------------------------------------------------------------------===//

Value ThreadCode::offsetOf(Location loc, const MemView &view, ValueRange indices) {
  Index offset = view.offset;
  for (auto [dim, index] : llvm::enumerate(indices))
    offset = add(loc, offset,
                 multiply(loc, mapped(OpFoldResult(index)), view.strides[dim]));
  return elementOffset(loc, view, offset);
}

LogicalResult ThreadCode::scalarLoad(memref::LoadOp op) {
  FailureOr<MemView> mem = view(op.getMemRef());
  if (failed(mem))
    return failure();
  Location loc = op.getLoc();
  Value at = offsetOf(loc, *mem, op.getIndices()), inside;
  if (mem->padding) {
    SmallVector<Index> coordinates;
    for (Value index : op.getIndices())
      coordinates.push_back(mapped(OpFoldResult(index)));
    PaddingCache known;
    inside = insideOf(loc, *mem, coordinates, known);
  }
  scalars.map(op.getResult(),
              (inside ? maskedLoad(loc, *mem, at, inside, fillOf(loc, *mem), 1)
                      : load(loc, *mem, at, 1))
                  .front());
  return success();
}

LogicalResult ThreadCode::scalarStore(memref::StoreOp op) {
  FailureOr<MemView> mem = view(op.getMemRef());
  if (failed(mem))
    return failure();
  Location loc = op.getLoc();
  Value at = offsetOf(loc, *mem, op.getIndices());
  if (isOneThread) {
    store(loc, *mem, at, {scalars.lookup(op.getValueToStore())});
    return success();
  }
  // One thread writes, when all have read what stood there.
  if (llvm::any_of(op.getMemRef().getUsers(), llvm::IsaPred<memref::LoadOp>))
    barrier(loc);
  Value zero = constant(loc, 0);
  Value first = arith::AndIOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, laneId, zero),
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, warp(), zero));
  auto branch = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  store(loc, *mem, at, {scalars.lookup(op.getValueToStore())});
  return success();
}

//===----------------------------------------------------------------------===//
// Between blocks
//===----------------------------------------------------------------------===//

LogicalResult ThreadCode::takeNumber(TakeNumberOp op) {
  FailureOr<MemView> mem = view(op.getCounter());
  if (failed(mem))
    return failure();
  Location loc = op.getLoc();
  Value at = offsetOf(loc, *mem, op.getIndices());
  scalars.map(op.getNumber(),
              TakeNumberOp::create(b, loc, b.getI32Type(), mem->base, at).getNumber());
  return success();
}

LogicalResult ThreadCode::publish(PublishOp op) {
  FailureOr<MemView> mem = view(op.getStates());
  if (failed(mem))
    return failure();
  Location loc = op.getLoc();
  Value at = offsetOf(loc, *mem, op.getIndices());
  PublishOp::create(b, loc, scalars.lookup(op.getState()), mem->base, at);
  return success();
}

LogicalResult ThreadCode::observe(ObserveOp op) {
  FailureOr<MemView> mem = view(op.getStates());
  if (failed(mem))
    return failure();
  Location loc = op.getLoc();
  Value at = offsetOf(loc, *mem, op.getIndices());
  scalars.map(op.getState(),
              ObserveOp::create(b, loc, b.getI32Type(), mem->base, at).getState());
  return success();
}
