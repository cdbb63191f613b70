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
#include "tilewright/Dialect/InPlaceReads.h"
#include "tilewright/Dialect/SharedPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using layout::RegisterRuns;

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

FailureOr<Registers> ThreadCode::maskOf(Value mask, const DistributedLayout &layout,
                                        Access &access) {
  if (!mask)
    return Registers();
  access.runs = layout.registerRuns(0, 1);
  access.wideRuns.reset();
  return registers(mask);
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
  FailureOr<Registers> mask = maskOf(op.getMask(), *layout, *found);
  if (failed(mask))
    return failure();
  if (op->hasAttr(kFromBeforeAttr)) {
    found->inside = arith::CmpIPredicate::ult;
    found->wideRuns.reset(); // whose last element alone would be compared
  }
  found->unreadPadding = op->hasAttr(kUnreadPaddingAttr) && mask->empty() &&
                         !found->view.padding && !found->view.updated &&
                         !found->view.shared;
  Value padding = scalars.lookup(op.getPadding());
  auto readRuns = [&](const RegisterRuns &runs, bool checked) {
    return readRunsOf(loc, *found, runs, checked, *mask, padding);
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
  FailureOr<Registers> mask = maskOf(op.getMask(), *layout, *found);
  if (failed(mask))
    return failure();
  Value owner = isFirstOwner(loc, *layout);
  // Threads with the same element may have read it from here, each for itself.
  if (found->view.updated && owner)
    barrier(loc);
  if (std::optional<UnalignedRuns> unaligned = findUnalignedWrite(op, *found)) {
    writeUnaligned(loc, *found, *unaligned, owner, *values);
    return success();
  }
  if (!found->wideRuns) {
    writeRunsOf(loc, *found, found->runs, /*checked=*/true, *mask, owner, *values);
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
                *mask, owner, *values);
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
