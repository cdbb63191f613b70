// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile's asynchronous copy, as the runs that one thread copies. Lanes lie along
// the rows of global memory, 16 bytes each where that is aligned; bounds decide
// how many elements of a run are read, the others are zeros.
//
//   tilewright.async_copy %A[%i, %k] to %stage if %live {in_bounds = [false, true], …}
// becomes, for each run,
//   %in = %row < %dim and %live
//   %n  = arith.select %in, 8, 0
//   tilewright.async_copy_run %A[%from] to %s[%to] valid %n {count = 8}

#include "Swizzle.h"
#include "tilewright/Dialect/AsyncCopies.h"
#include "tilewright/Dialect/KeptRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

namespace {

class CopyWriter {
public:
  CopyWriter(ThreadCode &code, AsyncCopyOp op, const MemView &from,
             const MemView &to, const DistributedLayout &layout,
             const CopyRuns &runs)
      : code(code), op(op), loc(op.getLoc()), from(from), to(to),
        layout(layout), runs(runs), bases(code.baseCoordinates(layout)) {}
  void write();

private:
  unsigned memoryDim(int64_t dim) { return op.getMap().getDimPosition(dim); }
  /// Position in the source of the element at `coordinate` of register 0's dim.
  Value position(int64_t dim, int64_t coordinate);
  /// i1: `dim`'s coordinate is inside.
  Value isInside(int64_t dim, int64_t coordinate);
  /// How many elements of a run are read; null: all.
  Value validOf(ArrayRef<int64_t> coordinates);
  /// i1: a run of a clipped copy (kClippedAttr) is there; null: it is.
  Value isThere(ArrayRef<int64_t> coordinates);
  Value fromOffset(ArrayRef<int64_t> coordinates);
  Value sum(Value left, Value right) {
    return !left ? right
           : !right
               ? left
               : arith::AddIOp::create(code.b, loc, left, right,
                                       arith::IntegerOverflowFlags::nsw)
                     .getResult();
  }

  ThreadCode &code;
  AsyncCopyOp op;
  Location loc;
  const MemView &from, &to;
  const DistributedLayout &layout;
  CopyRuns runs;
  SmallVector<Index> bases;
  Value start; // the thread's offset in the source, register 0
  std::map<std::pair<int64_t, int64_t>, Value> compared;
  PaddingCache insidePadding;
};

} // namespace

Value CopyWriter::position(int64_t dim, int64_t coordinate) {
  Index at = code.add(loc, bases[dim], Index(coordinate));
  at = code.add(loc, code.mapped(OpFoldResult(op.getIndices()[memoryDim(dim)])), at);
  return code.materialize(loc, at);
}

Value CopyWriter::isInside(int64_t dim, int64_t coordinate) {
  Value &known = compared[{dim, coordinate}];
  if (!known)
    known = arith::CmpIOp::create(
        code.b, loc, arith::CmpIPredicate::slt, position(dim, coordinate),
        code.materialize(loc, from.sizes[memoryDim(dim)]));
  return known;
}

Value CopyWriter::isThere(ArrayRef<int64_t> coordinates) {
  Value live = op.getLive() ? code.scalars.lookup(op.getLive()) : Value();
  if (cast<BoolAttr>(op.getInBounds()[runs.dim]).getValue())
    return live;
  Value inside = isInside(runs.dim, coordinates[runs.dim]);
  return live ? arith::AndIOp::create(code.b, loc, live, inside).getResult() : inside;
}

Value CopyWriter::validOf(ArrayRef<int64_t> coordinates) {
  OpBuilder &b = code.b;
  bool isClipped = op->hasAttr(kClippedAttr);
  Value all = op.getLive() && !isClipped ? code.scalars.lookup(op.getLive()) : Value();
  bool cut = false; // a run may be inside in part
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
    if (cast<BoolAttr>(op.getInBounds()[dim]).getValue() ||
        (isClipped && int64_t(dim) == runs.dim))
      continue;
    Value inside = isInside(dim, coordinate);
    all = all ? arith::AndIOp::create(b, loc, all, inside).getResult() : inside;
    unsigned m = memoryDim(dim);
    if (int64_t(dim) == runs.dim)
      cut = from.sizeDivisors[m] % runs.length ||
            knownDivisor(op.getIndices()[m]) % runs.length;
  }
  if (from.padding) {
    SmallVector<Index> at;
    for (Value index : op.getIndices())
      at.push_back(code.mapped(OpFoldResult(index)));
    for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
      Index &position = at[memoryDim(dim)];
      position = code.add(loc, code.add(loc, bases[dim], Index(coordinate)), position);
    }
    Value inside = code.insideOf(loc, from, at, insidePadding);
    all = !all     ? inside
          : inside ? arith::AndIOp::create(b, loc, all, inside).getResult()
                   : all;
  }
  if (!all)
    return {};
  Value valid = code.constant(loc, runs.length);
  if (cut) {
    Value left = arith::SubIOp::create(
        b, loc, code.materialize(loc, from.sizes[memoryDim(runs.dim)]),
        position(runs.dim, coordinates[runs.dim]));
    valid = arith::MinSIOp::create(b, loc, left, valid);
  }
  return arith::SelectOp::create(b, loc, all, valid, code.constant(loc, 0));
}

Value CopyWriter::fromOffset(ArrayRef<int64_t> coordinates) {
  if (!start) {
    Index first = from.offset;
    for (auto [dim, index] : llvm::enumerate(op.getIndices()))
      first = code.add(loc, first,
                       code.multiply(loc, code.mapped(OpFoldResult(index)),
                                     from.strides[dim]));
    for (auto [dim, base] : llvm::enumerate(bases))
      first = code.add(loc, first,
                       code.multiply(loc, base, from.strides[memoryDim(dim)]));
    start = code.materialize(loc, first);
  }
  Index rest(0);
  for (auto [dim, coordinate] : llvm::enumerate(coordinates))
    if (coordinate)
      rest = code.add(loc, rest,
                      code.multiply(loc, Index(coordinate),
                                    from.strides[memoryDim(dim)]));
  if (rest.isConstant() && rest.constant == 0)
    return start;
  return sum(start, code.materialize(loc, rest));
}

void CopyWriter::write() {
  OpBuilder &b = code.b;
  SmallVector<int64_t> strides;
  Index thread(0);
  for (auto [base, stride] : llvm::zip_equal(bases, to.strides)) {
    strides.push_back(stride.constant);
    thread = code.add(loc, thread, code.multiply(loc, base, stride));
  }
  // Lanes that the tile does not need do nothing.
  Value owner = code.isFirstOwner(loc, layout);
  OpBuilder::InsertionGuard guard(b);
  if (owner) {
    auto branch = scf::IfOp::create(b, loc, owner, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  SharedOffsets offsets(code, loc, to, thread, threadBits(layout, strides));
  for (const std::vector<int64_t> &run :
       layout.registerRuns(runs.dim, runs.length).groups) {
    std::vector<int64_t> coordinates = layout.registerOffset(run[0]);
    int64_t constant = 0;
    for (auto [coordinate, stride] : llvm::zip_equal(coordinates, strides))
      constant += coordinate * stride;
    OpBuilder::InsertionGuard guard(b);
    // A condition's values serve other runs, too: they stay outside.
    Value to = offsets.at(constant), from = fromOffset(coordinates),
          valid = validOf(coordinates);
    if (Value there = op->hasAttr(kClippedAttr) ? isThere(coordinates) : Value()) {
      auto branch = scf::IfOp::create(b, loc, there, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    AsyncCopyRunOp::create(b, loc, this->from.base, from, this->to.base, to, valid,
                           runs.length);
  }
}

LogicalResult ThreadCode::asyncCopy(AsyncCopyOp op) {
  FailureOr<MemView> from = view(op.getSource()), to = view(op.getDest());
  if (failed(from) || failed(to))
    return failure();
  auto tile = cast<MemRefType>(op.getDest().getType());
  BufferDivisors divisors{from->sizeDivisors, from->strideDivisors, from->offsetDivisor};
  auto runs = findCopyRuns(cast<MemRefType>(op.getSource().getType()), divisors, op.getIndices(),
                           op.getMap(), tile);
  if (!runs)
    return op.emitOpError() << "cannot be made of asynchronous copies: " << runs.why().str();
  for (const Index &stride : to->strides)
    if (!stride.isConstant())
      return op.emitOpError() << "needs constant strides in shared memory";
  if (auto bytes = op->getAttrOfType<IntegerAttr>(kClippedAttr)) {
    // A run is there, or it is not.
    runs->length = std::min(runs->length, bytes.getInt() / elementBytes(tile.getElementType()));
    unsigned along = op.getMap().getDimPosition(runs->dim);
    if (!cast<BoolAttr>(op.getInBounds()[runs->dim]).getValue() &&
        (!runs->length || from->sizeDivisors[along] % runs->length ||
         knownDivisor(op.getIndices()[along]) % runs->length))
      return op.emitOpError() << "is clipped at an end that is in the middle of "
                              << bytes.getInt() << " bytes ('" << kClippedAttr << "')";
  }
  auto layout = copyLayout(tile, op.getMap(), runs->length, threads);
  if (failed(layout))
    return op.emitOpError() << "has no layout for " << tile;
  CopyWriter(*this, op, *from, *to, *layout, *runs).write();
  return success();
}
