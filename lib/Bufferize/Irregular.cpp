// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   tilewright.scatter ins(%u, %i) outs(%t) {dims = [0], unique}     // block = [2, 64]
// becomes
//   %n0, %c0 = tilewright.tile_id(…)
//   scf.forall (%t) in (128) {
//     %n = %n0 * 2 + %t / 64, %c = %c0 * 64 + %t mod 64
//     %p = memref.load %i[%n, 0]
//     scf.if %p < rows of %t { memref.store of %u[%n, %c] at %t[%p, %c] }
//   }
//
// Of other scatters a thread has a range of places and goes through all updates; of a
// scan, it has a row along the dim, or a chunk of one, and carries the value.

#include "Irregular.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright;

namespace {
class Writer {
public:
  Writer(OpBuilder &b, func::FuncOp kernel, Operation *op, const IRMapping &memory,
         LoweringConfigAttr config, LaunchAttr launch)
      : b(b), loc(op->getLoc()), kernel(kernel), memory(memory), config(config),
        launch(launch) {}

  void scatter(ScatterOp op);
  void scan(ScanOp op);

private:
  using Body = llvm::function_ref<void()>;

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value subtract(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value multiply(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value divide(Value x, int64_t y) {
    return y == 1 ? x : arith::DivUIOp::create(b, loc, x, index(y)).getResult();
  }
  Value modulo(Value x, int64_t y) {
    return y == 1 ? index(0) : arith::RemUIOp::create(b, loc, x, index(y)).getResult();
  }
  Value isLess(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, y);
  }
  Value both(Value x, Value y) {
    return x ? arith::AndIOp::create(b, loc, x, y).getResult() : y;
  }
  Value dim(Value memref, int64_t number) {
    return memref::DimOp::create(b, loc, memref, number);
  }
  Value load(Value memref, ValueRange at) {
    return memref::LoadOp::create(b, loc, memref, at);
  }
  void store(Value value, Value memref, ValueRange at) {
    memref::StoreOp::create(b, loc, value, memref, at);
  }
  void when(Value condition, Body body) {
    auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  }
  void loop(Value lower, Value upper, int64_t step, llvm::function_ref<void(Value)> body) {
    auto made = scf::ForOp::create(b, loc, lower, upper, index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    body(made.getInductionVar());
  }
  /// `body` for each number below `count`, by threads where there are several.
  void eachThread(int64_t count, llvm::function_ref<void(Value)> body);
  SmallVector<Value> tileIds();

  /// Where update `number` goes: coordinates of the destination, null for those of the
  /// slice, and whether that is inside.
  Value findPlace(ScatterOp op, Value number, SmallVectorImpl<Value> &place);
  void moveSlice(ScatterOp op, Value number, ArrayRef<Value> place, ArrayRef<Value> ids,
                 Value lane, int64_t lanes);

  OpBuilder &b;
  Location loc;
  func::FuncOp kernel;
  const IRMapping &memory;
  LoweringConfigAttr config;
  LaunchAttr launch;
};
} // namespace

void Writer::eachThread(int64_t count, llvm::function_ref<void(Value)> body) {
  if (launch.getThreads() == 1)
    return loop(index(0), index(count), 1, body);
  SmallVector<OpFoldResult> counts{b.getIndexAttr(count)};
  auto threads = scf::ForallOp::create(b, loc, counts, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(threads.getBody());
  body(threads.getInductionVar(0));
}

/// This block's place along each of the loops that the launch counts tiles of.
SmallVector<Value> Writer::tileIds() {
  SmallVector<Value> tensors;
  for (BlockArgument argument : kernel.getArguments())
    if (isa<ShapedType>(argument.getType()))
      tensors.push_back(memory.lookupOrNull(argument));
  SmallVector<Value> symbols, counts;
  ArrayRef<int64_t> dims = launch.getDims();
  for (size_t i = 0; i + 1 < dims.size(); i += 2)
    symbols.push_back(dim(tensors[dims[i]], dims[i + 1]));
  AffineMap tiles = launch.getTiles().getValue();
  for (unsigned number = 0; number < tiles.getNumResults(); ++number)
    counts.push_back(
        affine::AffineApplyOp::create(b, loc, tiles.getSubMap({number}), symbols));
  SmallVector<Type> types(counts.size(), b.getIndexType());
  auto ids = TileIdOp::create(b, loc, types, counts, Value(), DenseI64ArrayAttr(),
                              IntegerAttr());
  return SmallVector<Value>(ids.getIds());
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

Value Writer::findPlace(ScatterOp op, Value number, SmallVectorImpl<Value> &place) {
  Value indices = memory.lookup(op.getIndices()), dest = memory.lookup(op.getDest());
  auto bits = kernel->getAttrOfType<IntegerAttr>(kIndexBitsAttr);
  TargetAttr target = getTarget(kernel);
  int64_t indexBits = bits ? bits.getInt() : target ? target.getFact("index_bits", 32) : 64;
  Type type = op.getIndicesType().getElementType();
  // As wide as both coordinates and sizes, so that neither is cut before it is compared.
  Type wide = b.getIntegerType(std::max<int64_t>(indexBits, type.getIntOrFloatBitWidth()));
  place.assign(op.getDestType().getRank(), Value());
  Value inside;
  for (auto [k, d] : llvm::enumerate(op.getDims())) {
    Value at = load(indices, {number, index(k)});
    if (type != wide)
      at = arith::ExtSIOp::create(b, loc, wide, at);
    Value size = arith::IndexCastOp::create(b, loc, wide, dim(dest, d));
    inside = both(inside, isLess(at, size));
    place[d] = arith::IndexCastOp::create(b, loc, b.getIndexType(), at);
  }
  return inside;
}

/// The block's part of slice `number`, of which this thread has each `lanes`-th element.
void Writer::moveSlice(ScatterOp op, Value number, ArrayRef<Value> place,
                       ArrayRef<Value> ids, Value lane, int64_t lanes) {
  Value updates = memory.lookup(op.getUpdates()), dest = memory.lookup(op.getDest());
  int64_t rank = op.getUpdatesType().getRank(), columns = config.getBlock()[1];
  auto move = [&](Value column) {
    SmallVector<Value> from{number}, to(place);
    for (int64_t d = 1; d < rank; ++d)
      from.push_back(d + 1 == rank ? column : ids[d]);
    for (auto [k, d] : llvm::enumerate(op.getSliceDims()))
      to[d] = from[k + 1];
    Value value = load(updates, from);
    if (!op.getCombiner().empty())
      value = combine(b, op.getCombiner(), value, load(dest, to));
    store(value, dest, to);
  };
  if (rank == 1)
    return move({});
  Value first = multiply(ids.back(), index(columns)), size = dim(updates, rank - 1);
  if (lanes == columns) {
    Value column = add(first, lane);
    return when(isLess(column, size), [&] { move(column); });
  }
  Value end = arith::MinUIOp::create(b, loc, add(first, index(columns)), size);
  loop(add(first, lane), end, lanes, move);
}

void Writer::scatter(ScatterOp op) {
  SmallVector<Value> ids = tileIds();
  int64_t rows = config.getBlock()[0];
  int64_t lanes = launch.getThreads() == 1 ? 1 : config.getBlock()[1];
  Value updates = memory.lookup(op.getUpdates()), dest = memory.lookup(op.getDest());
  Value count = dim(updates, 0);
  SmallVector<Value> place;
  if (op.getUnique()) {
    eachThread(rows * lanes, [&](Value thread) {
      Value number = add(multiply(ids[0], index(rows)), divide(thread, lanes));
      Value lane = modulo(thread, lanes);
      when(isLess(number, count), [&] {
        Value inside = findPlace(op, number, place);
        when(inside, [&] { moveSlice(op, number, place, ids, lane, lanes); });
      });
    });
    return;
  }
  Value places = index(1);
  for (int64_t d : op.getDims())
    places = multiply(places, dim(dest, d));
  Value share = arith::CeilDivUIOp::create(b, loc, places, index(config.getSplits()));
  eachThread(rows * lanes, [&](Value thread) {
    Value range = add(multiply(ids[0], index(rows)), divide(thread, lanes));
    Value lane = modulo(thread, lanes), first = multiply(range, share);
    loop(index(0), count, 1, [&](Value number) {
      Value inside = findPlace(op, number, place);
      if (config.getSplits() > 1) {
        Value row;
        for (int64_t d : op.getDims())
          row = row ? add(multiply(row, dim(dest, d)), place[d]) : place[d];
        inside = both(inside, isLess(subtract(row, first), share));
      }
      when(inside, [&] { moveSlice(op, number, place, ids, lane, lanes); });
    });
  });
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

void Writer::scan(ScanOp op) {
  SmallVector<Value> ids = tileIds();
  ArrayRef<int64_t> block = config.getBlock();
  Value input = memory.lookup(op.getInput()), output = memory.lookup(op.getOutput());
  Value init = op.getInit() ? memory.lookup(op.getInit()) : Value();
  Value length = dim(input, 1);
  Value chunks = !op.getChunk() ? index(1) : dim(op.getTotals() ? output : init, 1);
  eachThread(block[0] * block[1] * block[2], [&](Value thread) {
    Value inner = add(multiply(ids[2], index(block[2])), modulo(thread, block[2]));
    Value chunk = add(multiply(ids[1], index(block[1])),
                      modulo(divide(thread, block[2]), block[1]));
    Value outer = add(multiply(ids[0], index(block[0])),
                      divide(thread, block[1] * block[2]));
    Value inside = both(both(isLess(outer, dim(input, 0)), isLess(chunk, chunks)),
                        isLess(inner, dim(input, 2)));
    Value first = index(0), count = length;
    if (op.getChunk()) {
      Value size = memory.lookup(op.getChunk());
      first = multiply(chunk, size);
      inside = both(inside, isLess(first, length));
      count = arith::MinUIOp::create(b, loc, size, subtract(length, first));
    } else {
      inside = both(inside, isLess(first, length));
    }
    auto at = [&](Value step) {
      Value place = add(first, step);
      if (op.getReverse())
        place = subtract(subtract(length, index(1)), place);
      return SmallVector<Value>{outer, place, inner};
    };
    auto initOf = [&](Value number) {
      return load(init, op.getChunk() ? SmallVector<Value>{outer, number, inner}
                                      : SmallVector<Value>{outer, inner});
    };
    auto next = [&](Value sum, Value step) {
      return combine(b, op.getCombiner(), sum, load(input, at(step)));
    };
    when(inside, [&] {
      Value sum, zero = index(0);
      if (op.getExclusive()) {
        sum = initOf(chunk);
      } else {
        sum = load(input, at(zero));
        if (op.getCarried()) {
          Value isFirst = isLess(chunk, index(1));
          auto branch = scf::IfOp::create(b, loc, sum.getType(), isFirst, true);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.thenBlock());
          scf::YieldOp::create(b, loc, sum);
          b.setInsertionPointToStart(branch.elseBlock());
          Value before = initOf(subtract(chunk, index(1)));
          scf::YieldOp::create(b, loc, combine(b, op.getCombiner(), before, sum));
          sum = branch.getResult(0);
        } else if (init) {
          sum = combine(b, op.getCombiner(), initOf(chunk), sum);
        }
        if (!op.getTotals())
          store(sum, output, at(zero));
      }
      auto along = scf::ForOp::create(b, loc, index(op.getExclusive() ? 0 : 1), count,
                                      index(1), sum);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(along.getBody());
        Value step = along.getInductionVar(), carried = along.getRegionIterArg(0);
        Value combined = next(carried, step);
        if (!op.getTotals())
          store(op.getExclusive() ? carried : combined, output, at(step));
        scf::YieldOp::create(b, loc, combined);
      }
      if (op.getTotals())
        store(along.getResult(0), output, {outer, chunk, inner});
    });
  });
}

LogicalResult tilewright::writeIrregular(OpBuilder &b, func::FuncOp kernel, Operation *op,
                                         const IRMapping &memory) {
  auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  if (!config || !launch)
    return op->emitOpError("is not tiled; run tilewright-tile");
  Writer writer(b, kernel, op, memory, config, launch);
  if (auto scatter = dyn_cast<ScatterOp>(op))
    writer.scatter(scatter);
  else
    writer.scan(cast<ScanOp>(op));
  return success();
}
