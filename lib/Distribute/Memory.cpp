// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes of block vectors. A thread accesses the runs of registers
// that are neighbours in memory with one wide access each, where the address is
// known to be aligned; bounds are compared per run. Where only the bound stands
// in the way of wide accesses (a vector of any length), threads that are inside
// altogether take them, and those at the end a narrow way. A masked read takes
// element 0 of the memory instead of the one that is out of bounds and selects
// the padding (no branch); of memory that the kernel also writes that would be a
// race, so there it is under an scf.if, as a masked write is, and where a padded
// operand may have no element at all. Where nobody reads the padding
// (Dialect/InPlaceReads.h), a coordinate that is out of bounds counts as 0, and
// nothing is selected behind the load.
//
//   %v = vector.transfer_read %A[%i, %j], %pad : memref<?x512xf32>, vector<64x16xf32>
// becomes, for each run of four registers,
//   %in = arith.cmpi slt, %row, %dim
//   %o  = arith.select %in, %offset, %c0
//   %x  = vector.load %A[%o] {alignment = 16} : memref<?xf32>, vector<4xf32>
//   %e0 = arith.select %in, %x[0], %pad …

#include "MemoryAccess.h"
#include "Swizzle.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/InPlaceReads.h"
#include "tilewright/Dialect/SharedPlaces.h"

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

Value ThreadCode::fillOf(Location loc, const MemView &view) {
  return arith::ConstantOp::create(b, loc, view.padding->fill);
}

SmallVector<Value> ThreadCode::maskedLoad(Location loc, const MemView &view,
                                          Value offset, Value inside,
                                          Value padding, int64_t count) {
  if (view.updated || (view.padding && view.padding->mayBeEmpty)) {
    SmallVector<Value> otherwise(count, padding);
    auto branch =
        scf::IfOp::create(b, loc, SmallVector<Type>(count, padding.getType()),
                          inside, /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, load(loc, view, offset, count));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, otherwise);
    return llvm::to_vector_of<Value>(branch.getResults());
  }
  offset = arith::SelectOp::create(b, loc, inside, offset, constant(loc, 0));
  SmallVector<Value> values = load(loc, view, offset, count);
  for (Value &value : values)
    value = arith::SelectOp::create(b, loc, inside, value, padding);
  return values;
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

LogicalResult ThreadCode::read(vector::TransferReadOp op) {
  Location loc = op.getLoc();
  FailureOr<DistributedLayout> layout = getLayout(op.getVector());
  if (failed(layout))
    return failure();
  if (layout->isOpaque())
    return readFragments(op, *layout);
  if (readMatrices(op, *layout))
    return success();
  FailureOr<Access> found =
      access(op, op.getBase(), op.getIndices(), op.getPermutationMap(),
             op.getInBounds(), op.getVectorType(), *layout);
  if (failed(found))
    return failure();
  Registers mask;
  if (op.getMask()) {
    FailureOr<Registers> held = registers(op.getMask());
    if (failed(held))
      return failure();
    mask = *held;
    found->runs = layout->registerRuns(0, 1);
    found->wideRuns.reset();
  }
  if (op->hasAttr(kFromBeforeAttr)) {
    found->inside = arith::CmpIPredicate::ult;
    found->wideRuns.reset(); // whose last element alone would be compared
  }
  found->unreadPadding = op->hasAttr(kUnreadPaddingAttr) && mask.empty() &&
                         !found->view.padding && !found->view.updated &&
                         !found->view.shared;
  Value padding = scalars.lookup(op.getPadding());
  auto readRuns = [&](const RegisterRuns &runs, bool checked) {
    return readRunsOf(loc, *found, runs, checked, mask, padding);
  };
  if (std::optional<UnalignedRuns> unaligned = findUnalignedRead(op, *found)) {
    define(op.getVector(), readUnaligned(loc, *found, *unaligned));
    return success();
  }
  if (!found->wideRuns) {
    define(op.getVector(), readRuns(found->runs, /*checked=*/true));
    return success();
  }
  // Only the threads at the end of the dim take the narrow way.
  SmallVector<Type> types(layout->numRegisters(), op.getVectorType().getElementType());
  auto branch = scf::IfOp::create(b, loc, types, allInside(loc, *found),
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    bool inside = block == branch.thenBlock();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    found->compared.clear();
    found->clamped.clear();
    found->insidePadding.clear();
    Registers values = readRuns(inside ? *found->wideRuns : found->runs, !inside);
    scf::YieldOp::create(b, loc, values);
  }
  define(op.getVector(), Registers(branch.getResults()));
  return success();
}

/// Addresses of a stage of a ring, from its beginning on: those of a thread differ by
/// constants.
std::optional<SharedOffsets> ThreadCode::swizzledOffsets(Location loc,
                                                         const Access &access) {
  const MemView &view = access.view;
  auto config = source->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (!config || !config.isForWarpgroups() || !view.shared ||
      view.shared.getSwizzle().empty() || llvm::is_contained(access.checked, true) ||
      !llvm::all_of(access.indices, [](Index index) {
        return index.isConstant() && index.constant == 0;
      }))
    return std::nullopt;
  SmallVector<int64_t> strides;
  Index thread(0);
  for (auto [dim, base] : llvm::enumerate(baseCoordinates(*access.layout))) {
    int64_t memory = memoryDim(access.map, dim);
    if (memory < 0 || !view.strides[memory].isConstant())
      return std::nullopt;
    strides.push_back(view.strides[memory].constant);
    thread = add(loc, thread, multiply(loc, base, view.strides[memory]));
  }
  return SharedOffsets(*this, loc, view, thread, threadBits(*access.layout, strides));
}

Registers ThreadCode::readRunsOf(Location loc, Access &found,
                                 const RegisterRuns &runs, bool checked,
                                 const Registers &mask, Value padding) {
  Registers result(found.layout->numRegisters());
  if (std::optional<SharedOffsets> offsets =
          mask.empty() ? swizzledOffsets(loc, found) : std::nullopt) {
    for (const std::vector<int64_t> &run : runs.groups) {
      int64_t constant = 0;
      for (auto [dim, coordinate] :
           llvm::enumerate(found.layout->registerOffset(run[0])))
        constant += coordinate * found.view.strides[memoryDim(found.map, dim)].constant;
      SmallVector<Value> values =
          load(loc, found.view, offsets->at(constant), run.size());
      for (auto [reg, value] : llvm::zip_equal(run, values))
        result[reg] = value;
    }
    return result;
  }
  for (const std::vector<int64_t> &run : runs.groups) {
    if (checked && found.unreadPadding) {
      Value at = materialize(loc, clampedOffset(loc, found, run[0]));
      for (auto [reg, value] : llvm::zip_equal(run, load(loc, found.view, at, run.size())))
        result[reg] = value;
      continue;
    }
    Index offset = groupOffset(loc, found, run[0]);
    Value inside = checked ? groupPredicate(loc, found, run[0]) : Value();
    if (!mask.empty())
      inside = inside
                   ? arith::AndIOp::create(b, loc, inside, mask[run[0]]).getResult()
                   : mask[run[0]];
    Value at = elementOffset(loc, found.view, offset), outside = padding;
    if (Value source = checked ? groupInsidePadding(loc, found, run[0]) : Value()) {
      Value fill = fillOf(loc, found.view);
      outside = inside ? arith::SelectOp::create(b, loc, inside, fill, padding)
                       : fill;
      inside = inside ? arith::AndIOp::create(b, loc, inside, source).getResult()
                      : source;
    }
    SmallVector<Value> values =
        inside ? maskedLoad(loc, found.view, at, inside, outside, run.size())
               : load(loc, found.view, at, run.size());
    for (auto [reg, value] : llvm::zip_equal(run, values))
      result[reg] = value;
  }
  return result;
}

LogicalResult ThreadCode::write(vector::TransferWriteOp op) {
  Location loc = op.getLoc();
  FailureOr<DistributedLayout> layout = getLayout(op.getVector());
  FailureOr<Registers> values = registers(op.getVector());
  if (failed(layout) || failed(values))
    return failure();
  if (layout->isOpaque())
    return writeFragments(op, *layout);
  FailureOr<Access> found =
      access(op, op.getBase(), op.getIndices(), op.getPermutationMap(),
             op.getInBounds(), op.getVectorType(), *layout);
  if (failed(found))
    return failure();
  Registers mask;
  if (op.getMask()) {
    FailureOr<Registers> held = registers(op.getMask());
    if (failed(held))
      return failure();
    mask = *held;
    found->runs = layout->registerRuns(0, 1);
    found->wideRuns.reset();
  }
  Value owner = isFirstOwner(loc, *layout);
  // Threads with the same element may have read it from here, each for itself.
  if (found->view.updated && owner)
    barrier(loc);
  if (std::optional<UnalignedRuns> unaligned = findUnalignedWrite(op, *found)) {
    writeUnaligned(loc, *found, *unaligned, owner, *values);
    return success();
  }
  if (!found->wideRuns) {
    writeRunsOf(loc, *found, found->runs, /*checked=*/true, mask, owner, *values);
    return success();
  }
  auto branch = scf::IfOp::create(b, loc, allInside(loc, *found),
                                  /*withElseRegion=*/true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    bool inside = block == branch.thenBlock();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    found->compared.clear();
    writeRunsOf(loc, *found, inside ? *found->wideRuns : found->runs, !inside,
                mask, owner, *values);
  }
  return success();
}

void ThreadCode::writeRunsOf(Location loc, Access &found,
                             const RegisterRuns &runs, bool checked,
                             const Registers &mask, Value owner,
                             ArrayRef<Value> values) {
  const DistributedLayout &layout = *found.layout;
  llvm::DenseSet<int64_t> written;
  for (const std::vector<int64_t> &run : runs.groups) {
    // Registers that repeat an element of another register write once.
    std::vector<int64_t> first = layout.registerOffset(run[0]);
    if (layout.replication(layout::Level::Register) > 1) {
      int64_t linear = 0;
      for (auto [coordinate, extent] : llvm::zip_equal(first, layout.shape()))
        linear = linear * extent + coordinate;
      if (!written.insert(linear).second)
        continue;
    }
    Value inside = checked ? groupPredicate(loc, found, run[0]) : Value();
    for (Value extra : {owner, mask.empty() ? Value() : mask[run[0]]})
      if (extra)
        inside = inside ? arith::AndIOp::create(b, loc, inside, extra).getResult()
                        : extra;
    SmallVector<Value> stored;
    for (int64_t reg : run)
      stored.push_back(values[reg]);
    Index offset = groupOffset(loc, found, run[0]);
    if (!inside) {
      store(loc, found.view, elementOffset(loc, found.view, offset), stored);
      continue;
    }
    auto branch = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    store(loc, found.view, elementOffset(loc, found.view, offset), stored);
  }
}
