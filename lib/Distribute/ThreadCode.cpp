// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ids, coordinates, index arithmetic, barriers and shared memory of ThreadCode.

#include "ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using layout::DigitTerm;
using layout::Level;

ThreadCode::ThreadCode(func::FuncOp source, func::FuncOp target,
                       LaunchAttr launch)
    : source(source), target(target), b(target.getContext()) {
  threads.lanes = launch.getSubgroup();
  threads.warps = launch.getThreads() / launch.getSubgroup();
  if (TargetAttr attr = getTarget(source))
    accessBytes = attr.getFact("access_bytes", 16);
  b.setInsertionPointToStart(&target.getBody().front());
  Location loc = source.getLoc();
  laneId = gpu::LaneIdOp::create(b, loc, /*upper_bound=*/IntegerAttr());
  warpId = gpu::SubgroupIdOp::create(b, loc, /*upper_bound=*/IntegerAttr());
  // Where warps have roles, the assembler must see that all lanes of a warp have the
  // same number, so that what follows from it is computed once for the warp.
  WalkResult roles = source.walk([](WarpsOp) { return WalkResult::interrupt(); });
  if (roles.wasInterrupted()) {
    Value number = arith::IndexCastUIOp::create(b, loc, b.getI32Type(), warpId);
    Value first = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0);
    number = shuffle(loc, number, first, gpu::ShuffleMode::IDX);
    warpId = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), number);
  }
  // Everything of the prologue is created in front of this one.
  prologueEnd = coordinatesEnd = arith::ConstantIndexOp::create(b, loc, 0);
}

void ThreadCode::computeCoordinatesAgain(Location loc) {
  Value lane = arith::IndexCastUIOp::create(b, loc, b.getI32Type(), laneId);
  lane = shuffle(loc, lane, lane, gpu::ShuffleMode::IDX);
  laneId = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), lane);
  coordinatesEnd = arith::ConstantIndexOp::create(b, loc, 0);
  bases.clear();
}

FailureOr<Registers> ThreadCode::registers(Value vector) {
  auto it = held.find(vector);
  if (it == held.end())
    return emitError(vector.getLoc())
           << "vector " << vector.getType() << " was not distributed";
  return it->second;
}

FailureOr<MemView> ThreadCode::view(Value memref) {
  auto it = views.find(memref);
  if (it == views.end())
    return emitError(memref.getLoc())
           << "memory " << memref.getType()
           << " is neither an argument, a shared allocation nor a view of one";
  return it->second;
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Value ThreadCode::constant(Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value ThreadCode::materialize(Location loc, Index index) {
  if (!index.value)
    return constant(loc, index.constant);
  if (index.constant == 0)
    return index.value;
  return arith::AddIOp::create(b, loc, index.value,
                               constant(loc, index.constant));
}

Index ThreadCode::add(Location loc, Index left, Index right) {
  Index result(left.constant + right.constant);
  if (left.value && right.value)
    result.value = arith::AddIOp::create(b, loc, left.value, right.value);
  else
    result.value = left.value ? left.value : right.value;
  return result;
}

Index ThreadCode::multiply(Location loc, Index left, Index right) {
  if (right.isConstant())
    std::swap(left, right);
  if (!left.isConstant())
    return Index(arith::MulIOp::create(b, loc, materialize(loc, left),
                                       materialize(loc, right))
                     .getResult());
  Index result(left.constant * right.constant);
  if (right.value && left.constant == 1)
    result.value = right.value;
  else if (right.value && left.constant != 0)
    result.value = arith::MulIOp::create(b, loc, right.value,
                                         constant(loc, left.constant));
  return result;
}

Index ThreadCode::mapped(OpFoldResult value) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return Index(*known);
  return Index(scalars.lookup(cast<Value>(value)));
}

//===----------------------------------------------------------------------===//
// Who the thread is
//===----------------------------------------------------------------------===//

Value ThreadCode::warp() {
  if (threads.firstWarp == 0)
    return warpId;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(prologueEnd);
  Location loc = source.getLoc();
  return arith::SubIOp::create(b, loc, warpId, constant(loc, threads.firstWarp));
}

/// ((x / div) % mod) * multiplier, leaving out what does nothing.
static Index applyTerm(ThreadCode &code, Location loc, Value x,
                       const DigitTerm &term) {
  OpBuilder &b = code.b;
  if (term.div != 1)
    x = arith::DivUIOp::create(b, loc, x, code.constant(loc, term.div));
  if (!term.top)
    x = arith::RemUIOp::create(b, loc, x, code.constant(loc, term.mod));
  return code.multiply(loc, Index(x), Index(term.multiplier));
}

SmallVector<Index>
ThreadCode::baseCoordinates(const DistributedLayout &layout) {
  return coordinates(layout, {Level::Lane, Level::Warp});
}

SmallVector<Index>
ThreadCode::warpCoordinates(const DistributedLayout &layout) {
  return coordinates(layout, Level::Warp);
}

SmallVector<Index> ThreadCode::coordinates(const DistributedLayout &layout,
                                           ArrayRef<Level> levels) {
  std::string key = layout.print();
  for (Level level : levels)
    key += " " + std::to_string(int(level));
  auto [it, isNew] = bases.try_emplace(key);
  if (!isNew)
    return it->second;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(coordinatesEnd);
  Location loc = source.getLoc();
  SmallVector<Index> result(layout.rank());
  auto addTerms = [&](Level level, Value id) {
    for (const DigitTerm &term : layout.forwardTerms(level))
      result[term.dim] =
          add(loc, result[term.dim], applyTerm(*this, loc, id, term));
  };
  for (Level level : levels)
    addTerms(level, level == Level::Lane ? laneId : warp());
  it->second = result;
  return result;
}

Value ThreadCode::isFirstOwner(Location loc, const DistributedLayout &layout,
                               ArrayRef<Level> levels) {
  Value result;
  for (Level level : levels)
    for (const DigitTerm &term : layout.replicaDigits(level)) {
      DigitTerm digit = term;
      digit.multiplier = 1;
      Index value = applyTerm(*this, loc, level == Level::Lane ? laneId : warp(),
                              digit);
      Value isZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                           materialize(loc, value),
                                           constant(loc, 0));
      result = result ? arith::AndIOp::create(b, loc, result, isZero).getResult()
                      : isZero;
    }
  return result;
}

void ThreadCode::barrier(Location loc) {
  if (barrierId == 0)
    gpu::BarrierOp::create(b, loc);
  else
    BarrierOp::create(b, loc, barrierId, threads.lanes * threads.warps,
                      /*arrive=*/false);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Type tilewright::memoryElement(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
                              : element;
}

Value ThreadCode::sharedMemory(Location loc, Type element, int64_t elements) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(prologueEnd);
  int64_t unit = std::max<int64_t>(1, 16 / elementBytes(element));
  auto space = SharedAttr::get(b.getContext(), {});
  auto type = MemRefType::get({int64_t(llvm::alignTo(elements, unit))},
                              memoryElement(element), MemRefLayoutAttrInterface(),
                              space);
  return memref::AllocOp::create(b, loc, type);
}
