// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the elements of a thread are in memory, and whether they are inside of it: what a
// transfer op is to threads, see MemoryAccess.h.

#include "MemoryAccess.h"
#include "tilewright/Dialect/Divisibility.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;
using layout::RegisterRuns;

//===----------------------------------------------------------------------===//
// Single accesses
//===----------------------------------------------------------------------===//

Value ThreadCode::elementOffset(Location loc, const MemView &view,
                                Index unswizzled) {
  Value offset = materialize(loc, unswizzled);
  if (!view.shared || view.shared.getSwizzle().empty())
    return offset;
  layout::Swizzle swizzle = view.shared.getElementSwizzle();
  auto shifted = [&](int64_t by) -> Value {
    return arith::ShRUIOp::create(b, loc, offset, constant(loc, by));
  };
  Value bits = shifted(swizzle.shift);
  if (swizzle.fold)
    bits = arith::XOrIOp::create(b, loc, bits, shifted(swizzle.fold));
  bits = arith::AndIOp::create(b, loc, bits,
                               constant(loc, swizzle.mask()));
  return arith::XOrIOp::create(b, loc, offset, bits);
}

SmallVector<Value> ThreadCode::load(Location loc, const MemView &view,
                                    Value offset, int64_t count) {
  Type element = memoryElement(view.element);
  SmallVector<Value> values;
  if (count == 1) {
    values.push_back(memref::LoadOp::create(b, loc, view.base, offset));
  } else {
    auto type = VectorType::get({count}, element);
    Value wide = vector::LoadOp::create(
        b, loc, type, view.base, offset, /*nontemporal=*/false,
        llvm::MaybeAlign(count * elementBytes(element)));
    for (int64_t i = 0; i < count; ++i)
      values.push_back(vector::ExtractOp::create(b, loc, wide, i));
  }
  if (element != view.element)
    for (Value &value : values)
      value = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::ne, value,
          arith::ConstantIntOp::create(b, loc, element, 0));
  return values;
}

void ThreadCode::store(Location loc, const MemView &view, Value offset,
                       ArrayRef<Value> stored) {
  Type element = memoryElement(view.element);
  SmallVector<Value> values(stored);
  if (element != view.element)
    for (Value &value : values)
      value = arith::ExtUIOp::create(b, loc, element, value);
  if (values.size() == 1) {
    memref::StoreOp::create(b, loc, values[0], view.base, offset);
    return;
  }
  int64_t count = values.size();
  Value wide = vector::FromElementsOp::create(
      b, loc, VectorType::get({count}, element), values);
  vector::StoreOp::create(b, loc, wide, view.base, offset,
                          /*nontemporal=*/false,
                          llvm::MaybeAlign(count * elementBytes(element)));
}

//===----------------------------------------------------------------------===//
// Block accesses
//===----------------------------------------------------------------------===//

FailureOr<ThreadCode::Access>
ThreadCode::access(Operation *op, Value memref, OperandRange indices,
                   AffineMap map, ArrayAttr inBounds, VectorType type,
                   const DistributedLayout &layout) {
  Location loc = op->getLoc();
  FailureOr<MemView> found = view(memref);
  if (failed(found))
    return failure();
  Access result;
  result.view = *found;
  result.map = map;
  result.layout = &layout;
  const MemView &mem = result.view;
  SmallVector<Index> bases = baseCoordinates(layout);

  // Offset and alignment of the indices themselves.
  Index offset = mem.offset;
  int64_t aligned = mem.offsetDivisor;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    result.indices.push_back(mapped(OpFoldResult(index)));
    offset = add(loc, offset,
                 multiply(loc, result.indices.back(), mem.strides[dim]));
    aligned = std::gcd(aligned, std::min<int64_t>(
                                    int64_t(1) << 30,
                                    knownDivisor(index) * mem.strideDivisors[dim]));
  }
  // Then the thread's coordinates. The dim along which runs are neighbours:
  int64_t runDim = -1;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t m = memoryDim(map, dim);
    bool unchecked = m < 0 || cast<BoolAttr>(inBounds[dim]).getValue();
    result.checked.push_back(!unchecked);
    result.start.push_back(Index(0));
    if (m < 0)
      continue;
    if (mem.strides[m].isConstant() && mem.strides[m].constant == 1)
      runDim = dim;
    result.start[dim] = add(loc, mapped(OpFoldResult(indices[m])), bases[dim]);
    offset = add(loc, offset, multiply(loc, bases[dim], mem.strides[m]));
  }
  result.base = offset;

  // The widest run that stays aligned in every row, and entirely in or out of
  // bounds.
  int64_t width = 1;
  if (runDim >= 0) {
    int64_t m = memoryDim(map, runDim);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (int64_t other = memoryDim(map, dim); dim != runDim && other >= 0)
        aligned = std::gcd(aligned, mem.strideDivisors[other]);
    if (mem.shared && !mem.shared.getSwizzle().empty())
      aligned = std::gcd(aligned, int64_t(1) << mem.shared.getSwizzle()[1]);
    auto widest = [&](int64_t aligned) {
      int64_t width = accessBytes / elementBytes(mem.element);
      while (width > 1 && (aligned % width || layout.contiguity(runDim) % width))
        width /= 2;
      return std::max<int64_t>(width, 1);
    };
    int64_t wide = widest(aligned);
    if (result.checked[runDim])
      aligned = std::gcd(aligned, std::gcd(mem.sizeDivisors[m],
                                           knownDivisor(indices[m])));
    width = widest(aligned);
    // A run may begin in front of the source, and end behind it.
    if (mem.padding && llvm::any_of(mem.padding->inside.getConstraints(),
                                    [&](AffineExpr expr) {
                                      return expr.isFunctionOfDim(m);
                                    }))
      width = 1;
    if (wide > width)
      result.wideRuns = layout.registerRuns(runDim, wide);
    result.runDim = runDim;
    result.aligned = std::max<int64_t>(1, aligned);
  }
  result.runs = layout.registerRuns(std::max<int64_t>(runDim, 0),
                                    std::max<int64_t>(width, 1));
  return result;
}

Index ThreadCode::groupOffset(Location loc, const Access &access, int64_t reg) {
  Index offset = access.base;
  std::vector<int64_t> coordinates = access.layout->registerOffset(reg);
  for (auto [dim, coordinate] : llvm::enumerate(coordinates))
    if (int64_t m = memoryDim(access.map, dim); m >= 0 && coordinate)
      offset = add(loc, offset,
                   multiply(loc, Index(coordinate), access.view.strides[m]));
  return offset;
}

/// i1: registers at `coordinate` along `dim` are within the memory's bound.
Value ThreadCode::isInside(Location loc, Access &access, int64_t dim, int64_t coordinate) {
  Value &compared = access.compared[{dim, coordinate}];
  if (!compared) {
    int64_t m = memoryDim(access.map, dim);
    Index position = add(loc, access.start[dim], Index(coordinate));
    compared = arith::CmpIOp::create(b, loc, access.inside, materialize(loc, position),
                                     materialize(loc, access.view.sizes[m]));
  }
  return compared;
}

Value ThreadCode::groupPredicate(Location loc, Access &access, int64_t reg) {
  std::vector<int64_t> coordinates = access.layout->registerOffset(reg);
  Value all;
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
    if (!access.checked[dim])
      continue;
    Value inside = isInside(loc, access, dim, coordinate);
    all = all ? arith::AndIOp::create(b, loc, all, inside).getResult() : inside;
  }
  return all;
}

/// A register's offset, where coordinates that are out of bounds count as 0: each is chosen once
/// for all registers that have it.
Index ThreadCode::clampedOffset(Location loc, Access &access, int64_t reg) {
  SmallVector<Index> at = access.indices;
  for (auto [dim, coordinate] : llvm::enumerate(access.layout->registerOffset(reg))) {
    int64_t m = memoryDim(access.map, dim);
    if (m < 0)
      continue;
    at[m] = add(loc, access.start[dim], Index(coordinate));
    if (!access.checked[dim])
      continue;
    Value &clamped = access.clamped[{int64_t(dim), coordinate}];
    if (!clamped)
      clamped = arith::SelectOp::create(b, loc, isInside(loc, access, dim, coordinate),
                                        materialize(loc, at[m]), constant(loc, 0));
    at[m] = Index(clamped);
  }
  Index offset = access.view.offset;
  for (auto [position, stride] : llvm::zip_equal(at, access.view.strides))
    offset = add(loc, offset, multiply(loc, position, stride));
  return offset;
}

Value ThreadCode::groupInsidePadding(Location loc, Access &access, int64_t reg) {
  if (!access.view.padding)
    return {};
  SmallVector<Index> at = access.indices;
  for (auto [dim, coordinate] :
       llvm::enumerate(access.layout->registerOffset(reg)))
    if (int64_t m = memoryDim(access.map, dim); m >= 0)
      at[m] = add(loc, access.start[dim], Index(coordinate));
  return insideOf(loc, access.view, at, access.insidePadding);
}

/// i1: nothing that the thread accesses is out of bounds.
Value ThreadCode::allInside(Location loc, Access &access) {
  Value all;
  const DistributedLayout &layout = *access.layout;
  SmallVector<int64_t> lasts(layout.rank(), 0);
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
    for (auto [last, at] : llvm::zip_equal(lasts, layout.registerOffset(reg)))
      last = std::max(last, at);
  for (int64_t dim = 0; dim < layout.rank(); ++dim) {
    if (!access.checked[dim])
      continue;
    int64_t last = lasts[dim];
    Index position = add(loc, access.start[dim], Index(last));
    Value inside = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::slt, materialize(loc, position),
        materialize(loc, access.view.sizes[memoryDim(access.map, dim)]));
    all = all ? arith::AndIOp::create(b, loc, all, inside).getResult() : inside;
  }
  if (!access.view.padding)
    return all;
  // Each constraint at the corner of the thread's elements where it is least.
  const IntegerSet &set = access.view.padding->inside;
  for (AffineExpr expr : set.getConstraints()) {
    SmallVector<Index> at = access.indices;
    for (int64_t dim = 0; dim < layout.rank(); ++dim)
      if (int64_t m = memoryDim(access.map, dim); m >= 0) {
        bool grows = growsAlong(expr, m, set.getNumDims());
        at[m] = add(loc, access.start[dim], Index(grows ? 0 : lasts[dim]));
      }
    Value inside = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::sge,
        materialize(loc, evaluate(loc, expr, at, access.view.padding->symbols)),
        constant(loc, 0));
    all = all ? arith::AndIOp::create(b, loc, all, inside).getResult() : inside;
  }
  return all;
}
