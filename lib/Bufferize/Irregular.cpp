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
// scan, it has a row along the dim, or a chunk of one, and carries the value. A CPU carries
// a vector of them where rows lie beside each other.

#include "Irregular.h"
#include "IrregularWriter.h"

#include "tilewright/Dialect/Combiners.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

void IrregularWriter::eachThread(int64_t count, llvm::function_ref<void(Value)> body) {
  if (launch.getThreads() == 1)
    return loop(index(0), index(count), 1, body);
  // A loop of one iteration would be folded away, and all threads would run its body.
  bool isOne = count == 1;
  SmallVector<OpFoldResult> counts{b.getIndexAttr(isOne ? launch.getThreads() : count)};
  auto threads = scf::ForallOp::create(b, loc, counts, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(threads.getBody());
  Value thread = threads.getInductionVar(0);
  if (isOne)
    return when(isLess(thread, index(1)), [&] { body(index(0)); });
  body(thread);
}

/// This block's place along each of the loops that the launch counts tiles of.
SmallVector<Value> IrregularWriter::tileIds() {
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

void IrregularWriter::eachChunk(
    ArrayRef<Value> ids, Value input, Value chunks,
    llvm::function_ref<void(Value outer, Value chunk, Value inner, Value inside)> body) {
  ArrayRef<int64_t> block = config.getBlock();
  eachThread(block[0] * block[1] * block[2], [&](Value thread) {
    Value inner = add(multiply(ids[2], index(block[2])), modulo(thread, block[2]));
    Value chunk = add(multiply(ids[1], index(block[1])),
                      modulo(divide(thread, block[2]), block[1]));
    Value outer = add(multiply(ids[0], index(block[0])),
                      divide(thread, block[1] * block[2]));
    Value inside = both(both(isLess(outer, dim(input, 0)), isLess(chunk, chunks)),
                        isLess(inner, dim(input, 2)));
    body(outer, chunk, inner, inside);
  });
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

Value IrregularWriter::findPlace(ScatterOp op, Value number, SmallVectorImpl<Value> &place) {
  Value indices = memory.lookup(op.getIndices()), dest = memory.lookup(op.getDest());
  Type type = op.getIndicesType().getElementType();
  // As wide as both coordinates and sizes, so that neither is cut before it is compared.
  Type wide =
      b.getIntegerType(std::max<int64_t>(getIndexBits(kernel), type.getIntOrFloatBitWidth()));
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
void IrregularWriter::moveSlice(ScatterOp op, Value number, ArrayRef<Value> place,
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
      value = combine(b, op.getCombiner(), {value, load(dest, to)});
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

void IrregularWriter::scatter(ScatterOp op) {
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

/// Whether ops of the combiner compute vectors as they do numbers.
static bool isElementwise(Region &combiner) {
  return llvm::all_of(combiner.front().without_terminator(), [](Operation &op) {
    return op.hasTrait<OpTrait::ConstantLike>() ||
           (OpTrait::hasElementwiseMappableTraits(&op) && op.getNumResults() == 1);
  });
}

/// The combiner of vectors.
static Value combineVectors(OpBuilder &b, Region &combiner, Value before, Value next) {
  ArrayRef<int64_t> shape = cast<VectorType>(before.getType()).getShape();
  IRMapping mapping;
  mapping.map(combiner.getArguments(), ValueRange{before, next});
  for (Operation &op : combiner.front().without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      b.clone(op, mapping);
      continue;
    }
    Location loc = op.getLoc();
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      Value own = mapping.lookupOrDefault(operand);
      if (!isa<VectorType>(own.getType()))
        own = vector::BroadcastOp::create(b, loc, VectorType::get(shape, own.getType()), own);
      operands.push_back(own);
    }
    Type type = VectorType::get(shape, op.getResult(0).getType());
    Operation *made =
        b.create(loc, op.getName().getIdentifier(), operands, type, op.getAttrs());
    mapping.map(op.getResult(0), made->getResult(0));
  }
  Value result = mapping.lookupOrDefault(combiner.front().getTerminator()->getOperand(0));
  if (isa<VectorType>(result.getType()))
    return result;
  return vector::BroadcastOp::create(b, result.getLoc(), before.getType(), result);
}

/// Rows that lie beside each other, a vector of elements of each at a time.
void IrregularWriter::scanVectors(ScanOp op, Value outer, Value inner) {
  Value input = memory.lookup(op.getInput()), output = memory.lookup(op.getOutput());
  Value init = op.getInit() ? memory.lookup(op.getInit()) : Value();
  Value length = dim(input, 1);
  auto type =
      VectorType::get(config.getBlock()[2], cast<MemRefType>(input.getType()).getElementType());
  auto at = [&](Value step) {
    Value place = op.getReverse() ? subtract(subtract(length, index(1)), step) : step;
    return SmallVector<Value>{outer, place, inner};
  };
  auto read = [&](Value from, ValueRange place) -> Value {
    return vector::LoadOp::create(b, loc, type, from, place);
  };
  auto write = [&](Value value, Value step) {
    vector::StoreOp::create(b, loc, value, output, at(step));
  };
  when(isLess(index(0), length), [&] {
    Value sum = init ? read(init, {outer, inner}) : Value();
    if (!op.getExclusive()) {
      Value first = read(input, at(index(0)));
      sum = init ? combineVectors(b, op.getCombiner(), sum, first) : first;
      write(sum, index(0));
    }
    auto along = scf::ForOp::create(b, loc, index(op.getExclusive() ? 0 : 1), length, index(1),
                                    sum);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(along.getBody());
    Value step = along.getInductionVar(), carried = along.getRegionIterArg(0);
    Value combined =
        combineVectors(b, op.getCombiner(), carried, read(input, at(step)));
    write(op.getExclusive() ? carried : combined, step);
    scf::YieldOp::create(b, loc, combined);
  });
}

void IrregularWriter::scan(ScanOp op) {
  ArrayRef<int64_t> block = config.getBlock();
  auto contiguous = [&](Value tensor) {
    return !tensor || cast<MemRefType>(memory.lookup(tensor).getType()).getLayout().isIdentity();
  };
  auto type = cast<MemRefType>(memory.lookup(op.getInput()).getType());
  if (launch.getThreads() > 1 || op.getChunk() || block[0] * block[1] > 1 || block[2] == 1 ||
      op.getCarried() || !isElementwise(op.getCombiner()) || !contiguous(op.getInput()) ||
      !contiguous(op.getOutput()) || !contiguous(op.getInit()) ||
      type.getElementTypeBitWidth() < 8)
    return scanRows(op);
  SmallVector<Value> ids = tileIds();
  Value inner = multiply(ids[2], index(block[2]));
  Value end = add(inner, index(block[2])), size = dim(memory.lookup(op.getInput()), 2);
  Value isWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, end, size);
  auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scanVectors(op, ids[0], inner);
  b.setInsertionPointToStart(branch.elseBlock());
  scanRows(op);
}

void IrregularWriter::scanRows(ScanOp op) {
  Value input = memory.lookup(op.getInput()), output = memory.lookup(op.getOutput());
  Value init = op.getInit() ? memory.lookup(op.getInit()) : Value();
  Value length = dim(input, 1);
  Value chunks = !op.getChunk() ? index(1) : dim(op.getTotals() ? output : init, 1);
  eachChunk(tileIds(), input, chunks, [&](Value outer, Value chunk, Value inner, Value inside) {
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
      return combine(b, op.getCombiner(), {sum, load(input, at(step))});
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
          scf::YieldOp::create(b, loc, combine(b, op.getCombiner(), {before, sum}));
          sum = branch.getResult(0);
        } else if (init) {
          sum = combine(b, op.getCombiner(), {initOf(chunk), sum});
        }
        if (!op.getTotals())
          store(sum, output, at(zero));
      }
      auto along = scf::ForOp::create(b, loc, index(op.getExclusive() ? 0 : 1), count,
                                      index(1), sum);
      along->setAttr(kScanLoopAttr, b.getUnitAttr());
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
  // What the call looks like is the back end's.
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    GemmOp::create(b, op->getLoc(), TypeRange(), memory.lookup(gemm.getA()),
                   memory.lookup(gemm.getB()), memory.lookup(gemm.getC()), gemm.getMaps(),
                   gemm.getLibrary(), gemm.getAccumulate());
    return success();
  }
  auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  if (!config || !launch)
    return op->emitOpError("is not tiled; run tilewright-tile");
  if (auto scan = dyn_cast<ScanOp>(op); scan && scan.getLookBack()) {
    writeLookBack(b, kernel, scan, memory, config, launch);
    return success();
  }
  IrregularWriter writer(b, kernel, op, memory, config, launch);
  if (auto scatter = dyn_cast<ScatterOp>(op))
    writer.scatter(scatter);
  else if (auto scan = dyn_cast<ScanOp>(op))
    writer.scan(scan);
  else
    writer.sort(cast<SortOp>(op));
  return success();
}
