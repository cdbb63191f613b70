// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The products of a chunk of the sum out of panels (PackPanels.cpp packs them):
//
//   %r = for %t: 8 x mma %ap[%t] (12x1), %bp[%j / 32, %t] (1x32), %c
//
// Where the rows' operand is not packed, its numbers come from where they lie:
//
//   for %t: 8 x mma (read %A[%i, %p + 8 * %t]) (12x1), %bp[%j / 32, %t] (1x32), %c
//
// What is left of the sum behind whole steps is multiplied element by element. A tile that
// hangs over the edge reads the last row instead of those that do not exist; what comes of
// it is not stored:
//
//   %c = if %i + 12 <= %m { … } else { … read %A[min(%i + 1, %m - 1), %p + 8 * %t] … }

#include "PackWords.h"
#include "Packer.h"
#include "tilewright/Dialect/MatrixInstruction.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;

/// What step `step`, element `element` of it, takes of the panel.
Value Packer::readStep(Panel &panel, Value tile, Value step, Value element) {
  auto memory = cast<MemRefType>(panel.memory.getType());
  SmallVector<int64_t> shape = panel.getShape(mma);
  unsigned outer = memory.getRank() - shape.size();
  shape[panel.sumDim] = 1;
  SmallVector<Value> indices(memory.getRank(), constant(0));
  indices[outer + panel.sumDim] = element;
  indices[outer - 1] = step;
  if (tile)
    indices.front() = tile;
  SmallVector<bool> inBounds(shape.size(), true);
  Value padding =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(memory.getElementType()));
  return vector::TransferReadOp::create(
      b, loc, VectorType::get(shape, memory.getElementType()), panel.memory,
      indices, padding, std::optional<ArrayRef<bool>>(inBounds));
}

/// The indices of the rows' operand where the tile begins, at `sumIndex` of the sum.
SmallVector<Value> Packer::indexRows(IRMapping mapping, Value sumIndex) {
  mapping.map(sum.getInductionVar(), sumIndex);
  for (Operation *op : rows.chain)
    if (op != rowsInPlace)
      b.clone(*op, mapping);
  return llvm::map_to_vector(rowsInPlace.getIndices(), [&](Value index) {
    return mapping.lookupOrDefault(index);
  });
}

/// The rows' operand at `sumIndex` of the sum, out of its own memory. `whole`: no tile leaves
/// it.
Value Packer::readRows(const IRMapping &mapping, Value sumIndex, bool whole) {
  VectorType type = rowsInPlace.getVectorType();
  unsigned summed = rows.order[rows.sumDim];
  SmallVector<int64_t> shape(type.getShape());
  shape[summed] = 1;
  auto read = VectorType::get(shape, type.getElementType());
  SmallVector<Value> indices = indexRows(mapping, sumIndex);
  Value memory = rowsInPlace.getBase();
  AffineMap map = rowsInPlace.getPermutationMap();
  if (whole)
    return vector::TransferReadOp::create(
        b, loc, read, memory, indices, rowsInPlace.getPadding(), map,
        ArrayRef<bool>(SmallVector<bool>(shape.size(), true)));
  Value tile = arith::ConstantOp::create(b, loc, b.getZeroAttr(read));
  for (SmallVector<int64_t> element :
       StaticTileOffsetRange(shape, SmallVector<int64_t>(shape.size(), 1))) {
    SmallVector<Value> at(indices);
    for (auto [dim, along] : llvm::enumerate(element)) {
      if (dim == summed)
        continue;
      unsigned position = map.getDimPosition(dim);
      Value &index = at[position];
      index = arith::AddIOp::create(b, loc, index, constant(along));
      if (rowsInPlace.isDimInBounds(dim))
        continue;
      Value size = memref::DimOp::create(b, loc, memory, position);
      index = arith::MinSIOp::create(b, loc, index,
                                     arith::SubIOp::create(b, loc, size, constant(1)));
    }
    tile = vector::InsertOp::create(b, loc, memref::LoadOp::create(b, loc, memory, at), tile,
                                    element);
  }
  return tile;
}

/// Whether all rows of the tile exist; null where that is known.
Value Packer::areRowsInside(const IRMapping &mapping, Value sumIndex) {
  Value inside;
  SmallVector<Value> indices;
  for (auto [dim, extent] : llvm::enumerate(rowsInPlace.getVectorType().getShape())) {
    if (dim == rows.order[rows.sumDim] || rowsInPlace.isDimInBounds(dim))
      continue;
    if (indices.empty())
      indices = indexRows(mapping, sumIndex);
    unsigned position = rowsInPlace.getPermutationMap().getDimPosition(dim);
    Value end = arith::AddIOp::create(b, loc, indices[position], constant(extent));
    Value size = memref::DimOp::create(b, loc, rowsInPlace.getBase(), position);
    Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, end, size);
    inside = inside ? arith::AndIOp::create(b, loc, inside, fits) : fits;
  }
  return inside;
}

/// Step `step` of the panel, in its memory.
Value Packer::readStepWords(Panel &panel, Value tile, Value step) {
  auto memory = cast<MemRefType>(panel.memory.getType());
  SmallVector<int64_t> shape = panel.getWordShape(mma, instruction->perWord());
  unsigned outer = memory.getRank() - shape.size();
  SmallVector<OpFoldResult> offsets(memory.getRank(), b.getIndexAttr(0)), sizes,
      strides(memory.getRank(), b.getIndexAttr(1));
  offsets[outer - 1] = step;
  if (tile)
    offsets.front() = tile;
  for (int64_t size : memory.getShape())
    sizes.push_back(b.getIndexAttr(size));
  for (unsigned dim = 0; dim < outer; ++dim)
    sizes[dim] = b.getIndexAttr(1);
  auto type = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      shape, memory, offsets, sizes, strides));
  return memref::SubViewOp::create(b, loc, type, panel.memory, offsets, sizes,
                                   strides);
}

/// The product of a step's words of the rows and of the columns.
Value Packer::multiplyWords(Value row, Value column, Value acc) {
  // Dims are the loops of the accumulator, then the sum.
  AffineExpr m = b.getAffineDimExpr(0), n = b.getAffineDimExpr(1),
             k = b.getAffineDimExpr(2);
  auto mapOf = [&](Panel &panel, AffineExpr own) {
    SmallVector<AffineExpr> results{own, k};
    if (!panel.alongSum)
      results = {k.floorDiv(instruction->perWord()), own,
                 k % instruction->perWord()};
    return AffineMapAttr::get(AffineMap::get(3, 0, results, b.getContext()));
  };
  Value operands[2];
  Attribute maps[3];
  operands[rows.number] = row;
  operands[columns.number] = column;
  maps[rows.number] = mapOf(rows, m);
  maps[columns.number] = mapOf(columns, n);
  maps[2] = AffineMapAttr::get(AffineMap::get(3, 0, {m, n}, b.getContext()));
  return MmaOp::create(b, loc, operands[0], operands[1], acc, b.getArrayAttr(maps), signedness,
                       name);
}

/// `for t = 0 to count`, which carries the accumulator: what `step` makes of it.
Value Packer::carry(Value count, Value init, llvm::function_ref<Value(Value, Value)> step) {
  auto loop = scf::ForOp::create(b, loc, constant(0), count, constant(1), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b, loc, step(loop.getInductionVar(), loop.getRegionIterArg(0)));
  return loop.getResult(0);
}

/// The product of one element of the sum.
Value Packer::multiplyElement(Value row, Value column, Value acc) {
  SmallVector<Attribute> maps(mma.getMaps().getValue());
  maps[rows.number] = AffineMapAttr::get(rows.map);
  maps[columns.number] = AffineMapAttr::get(columns.map);
  Value operands[2];
  operands[rows.number] = row;
  operands[columns.number] = column;
  return MmaOp::create(b, loc, operands[0], operands[1], acc, b.getArrayAttr(maps),
                       ArrayAttr(), StringAttr());
}

/// The same of all of the chunk, whose rows are not packed.
Value Packer::multiplyInPlace(const IRMapping &mapping, const Chunk &chunk, Value column,
                              Value init, bool whole) {
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  int64_t elements = columns.getShape(mma)[columns.sumDim];
  auto apply = [&](AffineExpr expr, ValueRange operands) -> Value {
    return affine::AffineApplyOp::create(b, loc, expr, operands);
  };
  Value steps = apply((d1 - d0).floorDiv(elements), {chunk.begin, chunk.end});
  Value acc = carry(steps, init, [&](Value step, Value acc) {
    Value from = apply(d0 + d1 * elements, {chunk.begin, step});
    for (int64_t i = 0; i < elements; ++i)
      acc = multiplyElement(readRows(mapping, apply(d0 + i, from), whole),
                            readStep(columns, column, step, constant(i)), acc);
    return acc;
  });
  std::optional<int64_t> lower = getConstantIntValue(sum.getLowerBound()),
                         upper = getConstantIntValue(sum.getUpperBound());
  if (lower && upper && (*upper - *lower) % elements == 0)
    return acc;
  Value rest = apply((d1 - d0) % elements, {chunk.begin, chunk.end});
  Value behind = apply(d0 + d1 * elements, {chunk.begin, steps});
  return carry(rest, acc, [&](Value i, Value acc) {
    return multiplyElement(readRows(mapping, apply(d0 + d1, {behind, i}), whole),
                           readStep(columns, column, steps, i), acc);
  });
}

/// `steps` of packed operands, or all of the chunk.
Value Packer::multiply(const IRMapping &mapping, const Chunk &chunk, Value column, Value steps,
                       Value init) {
  if (rowsInPlace) {
    Value inside = areRowsInside(mapping, chunk.begin);
    if (!inside)
      return multiplyInPlace(mapping, chunk, column, init, /*whole=*/true);
    auto branch = scf::IfOp::create(b, loc, init.getType(), inside, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(b);
    for (bool whole : {true, false}) {
      b.setInsertionPointToStart(whole ? branch.thenBlock() : branch.elseBlock());
      scf::YieldOp::create(b, loc, multiplyInPlace(mapping, chunk, column, init, whole));
    }
    return branch.getResult(0);
  }
  if (turnsRows())
    init = subtractSurplus(init, column);
  return carry(steps, init, [&](Value step, Value acc) {
    if (instruction)
      return multiplyWords(readStepWords(rows, {}, step),
                           readStepWords(columns, column, step), acc);
    for (int64_t i = 0, e = columns.getShape(mma)[columns.sumDim]; i < e; ++i)
      acc = multiplyElement(readStep(rows, {}, step, constant(i)),
                            readStep(columns, column, step, constant(i)), acc);
    return acc;
  });
}
