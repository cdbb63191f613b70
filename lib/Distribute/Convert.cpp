// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert_layout, as the layout library plans it: nothing, a renaming of
// registers, shuffles within the warp, or a round trip through shared memory
// (every first owner writes, a barrier, every thread reads, a barrier so that
// the scratch can be used again).

#include "ThreadCode.h"
#include "tilewright/Layout/Conversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layout;

Value ThreadCode::shuffle(Location loc, Value value, Value offset,
                          gpu::ShuffleMode mode) {
  Type type = value.getType();
  Type i32 = b.getI32Type();
  Value width = arith::ConstantIntOp::create(b, loc, i32, threads.lanes);
  auto word = [&](Value word) -> Value {
    return gpu::ShuffleOp::create(b, loc, word, offset, width, mode)
        .getShuffleResult();
  };
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto asInteger = [&](unsigned width) { return b.getIntegerType(width); };
  if (type.isF32() || type.isInteger(32))
    return word(value);
  if (type.isIndex()) {
    Value wide = arith::IndexCastUIOp::create(b, loc, asInteger(64), value);
    return arith::IndexCastUIOp::create(
        b, loc, type, shuffle(loc, wide, offset, mode));
  }
  if (bits == 64) {
    Value integer =
        isa<FloatType>(type)
            ? arith::BitcastOp::create(b, loc, asInteger(64), value).getResult()
            : value;
    Value low = arith::TruncIOp::create(b, loc, i32, integer);
    Value half = arith::ConstantIntOp::create(b, loc, asInteger(64), 32);
    Value high = arith::TruncIOp::create(
        b, loc, i32, arith::ShRUIOp::create(b, loc, integer, half));
    low = arith::ExtUIOp::create(b, loc, asInteger(64), word(low));
    high = arith::ExtUIOp::create(b, loc, asInteger(64), word(high));
    integer = arith::OrIOp::create(
        b, loc, low, arith::ShLIOp::create(b, loc, high, half));
    return isa<FloatType>(type)
               ? arith::BitcastOp::create(b, loc, type, integer).getResult()
               : integer;
  }
  // Narrow types travel in the low bits of a word.
  Value integer =
      isa<FloatType>(type)
          ? arith::BitcastOp::create(b, loc, asInteger(bits), value).getResult()
          : value;
  integer = word(arith::ExtUIOp::create(b, loc, i32, integer));
  integer = arith::TruncIOp::create(b, loc, asInteger(bits), integer);
  return isa<FloatType>(type)
             ? arith::BitcastOp::create(b, loc, type, integer).getResult()
             : integer;
}

MemView ThreadCode::scratch(Location loc, Type element, const SharedLayout &layout) {
  MemView view;
  int64_t elements = layout.sizeInElements();
  view.base = sharedMemory(loc, element, elements);
  view.shared = SharedAttr::getSwizzled(b.getContext(),
                                        layout.elementSwizzle().value_or(Swizzle()));
  view.element = element;
  for (auto [size, stride] :
       llvm::zip_equal(layout.shape(), layout.strides())) {
    view.sizes.push_back(Index(size));
    view.strides.push_back(Index(stride));
  }
  return view;
}

Index ThreadCode::registerOffset(Location loc, const MemView &view,
                                 const DistributedLayout &layout, Index base,
                                 int64_t reg) {
  std::vector<int64_t> coordinates = layout.registerOffset(reg);
  for (auto [coordinate, stride] : llvm::zip_equal(coordinates, view.strides))
    base = add(loc, base, multiply(loc, Index(coordinate), stride));
  return base;
}

Index ThreadCode::threadOffset(Location loc, const MemView &view,
                               const DistributedLayout &layout) {
  Index base(0);
  for (auto [coordinate, stride] : llvm::zip_equal(baseCoordinates(layout), view.strides))
    base = add(loc, base, multiply(loc, coordinate, stride));
  return base;
}

void ThreadCode::storeBlock(Location loc, const MemView &view,
                            const DistributedLayout &layout,
                            ArrayRef<Value> values, int dim, int64_t width) {
  OpBuilder::InsertionGuard guard(b);
  if (Value owner = isFirstOwner(loc, layout)) {
    auto branch = scf::IfOp::create(b, loc, owner, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  Index base = threadOffset(loc, view, layout);
  for (const std::vector<int64_t> &run : layout.registerRuns(dim, width).groups) {
    SmallVector<Value> stored;
    for (int64_t reg : run)
      stored.push_back(values[reg]);
    Index offset = registerOffset(loc, view, layout, base, run[0]);
    store(loc, view, elementOffset(loc, view, offset), stored);
  }
}

Registers ThreadCode::loadBlock(Location loc, const MemView &view,
                                const DistributedLayout &layout, int dim,
                                int64_t width) {
  Registers result(layout.numRegisters());
  Index base = threadOffset(loc, view, layout);
  for (const std::vector<int64_t> &run : layout.registerRuns(dim, width).groups) {
    Index offset = registerOffset(loc, view, layout, base, run[0]);
    SmallVector<Value> values =
        load(loc, view, elementOffset(loc, view, offset), run.size());
    for (auto [reg, value] : llvm::zip_equal(run, values))
      result[reg] = value;
  }
  return result;
}

/// True if `value` is computed from what this kernel reads of a tensor that it updates.
static bool isReadFromUpdated(ThreadCode &code, Value value) {
  SmallVector<Value> work{value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
      FailureOr<MemView> view = code.view(read.getBase());
      if (succeeded(view) && view->updated)
        return true;
    } else if (op->getNumRegions() == 0) {
      llvm::append_range(work, op->getOperands());
    }
  }
  return false;
}

LogicalResult ThreadCode::convert(ConvertLayoutOp op) {
  Location loc = op.getLoc();
  VectorType type = laidOutType(op.getResult().getType());
  if (!type)
    return op.emitOpError() << "converts a rank-0 vector";
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  auto from = DistributedLayout::parse(std::string(op.getFrom().getText()), shape);
  auto to = DistributedLayout::parse(std::string(op.getTo().getText()), shape);
  if (!from || !to)
    return op.emitOpError() << (from ? to.error() : from.error());
  if (from->isOpaque() || to->isOpaque())
    return convertFragments(op, *from, *to);
  FailureOr<Registers> source = registers(op.getSource());
  if (failed(source))
    return failure();
  // Up to two shuffles a register; exchanges that need more rounds, and choices
  // among more, are cheaper through shared memory.
  ConversionOptions options;
  options.maxShufflesPerRegister = 2;
  int bits = elementBytes(type.getElementType()) * 8;
  auto plan = planConversion(*from, *to, bits, options);
  if (!plan)
    return op.emitOpError() << plan.error();

  if (plan->kind == ConversionKind::SharedMemory) {
    MemView view = scratch(loc, type.getElementType(), plan->shared.layout);
    storeBlock(loc, view, *from, *source, plan->shared.dim,
               std::max<int64_t>(1, plan->shared.writeElems));
    define(op.getResult(), loadBlock(loc, view, *to, plan->shared.dim,
                                     std::max<int64_t>(1, plan->shared.readElems)));
    return success();
  }
  define(op.getResult(), convertInWarp(loc, *plan, *source));
  // Another lane may write where this one has read. Shuffles do not order accesses of
  // memory.
  if (plan->kind == ConversionKind::LaneShuffle && isReadFromUpdated(*this, op.getSource()))
    barrier(loc);
  return success();
}
