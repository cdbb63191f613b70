// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-pack-panels: the operands of a contraction on a CPU, copied into
// panels in the order in which the inner loop reads them, a chunk of the sum at
// a time (the five loops of Goto and van de Geijn).
//
//   for %i step 12, for %j step 32 {                   register tiles
//     %r = for %k = 0 to %K step 8 iter_args(%c = %init) {
//       mma (read %A[%i, %k] : 12x8), (read %B[%k, %j] : 8x32), %c }
//     write epilogue(%r), %C[%i, %j] }
// becomes, with block = [_, _, 256],
//   for %p = 0 to %K step 256 {
//     for %k, for %j: write (read %B[%k, %j]), %bp[%j / 32, %k / 8]
//     for %i {                                         // second-level cache
//       for %k: write (read %A[%i, %k]), %ap[%k / 8]
//       for %j {                                       // first-level cache
//         %c = if first chunk: %init
//              else: read %sums[%i / 12, %j / 32]
//         %r = for %t: 8 x mma %ap[%t] (12x1), %bp[%j / 32, %t] (1x32), %c
//         if last chunk: write epilogue(%r), %C[%i, %j]
//         else: write %r, %sums[%i / 12, %j / 32]
//       } } }
//
// Whatever an operand is computed from (casts, dequantization, padding) is
// computed while packing, once. Elements outside of the operand are zeros in
// the panels, so that the inner loop has no edges; tiles that hang over the result's
// edge are read and written under masks in a branch of their own. Narrow elements are
// widened in the panels, unless the config names an instruction that multiplies them as
// they are (`mma = "dot.…"`, `"amx.…"`). For those, the neighbours along the sum that a
// lane multiplies lie side by side, and a step is one product of what is in memory:
//
//   %ap: steps x k / 2 x m x 2 (of tile registers steps x m x k)
//   %bp: tiles x steps x k / 2 x n x 2
//   %r = for %t: mma %ap[%t], %bp[%j / 32, %t], %c {instruction = "dot.…"}
//
// (TurnRows.cpp has what dot products of two signed or two unsigned operands start from.)
//
// A sum over two loops (groups of rows with a scale each, and their rows) is packed and cut
// into chunks along the outer one; to what multiplies, the steps of both are one loop's:
//
//   for %g { for %k step 8: write (read %B[%g, %k, %j]), %bp[%j / 32, %g * steps + %k / 8] }
//
// Where the config promotes the operand of the columns alone, the numbers of A come from
// where they lie (MultiplyPanels.cpp).

#include "PackWords.h"
#include "Packer.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Promote/Promote.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"

namespace tilewright {
#define GEN_PASS_DEF_PACKPANELSPASS
#include "tilewright/Promote/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

void Packer::allocate(int64_t rowTiles, int64_t columnTiles, int64_t steps) {
  OpBuilder top = OpBuilder::atBlockBegin(&kernel.getBody().front());
  auto acc = cast<VectorType>(mma.getAcc().getType());
  Type element = acc.getElementType();
  auto alloc = [&](ArrayRef<int64_t> outer, ArrayRef<int64_t> tile) -> Value {
    SmallVector<int64_t> shape(outer);
    llvm::append_range(shape, tile);
    return memref::AllocOp::create(top, loc, MemRefType::get(shape, element),
                                   top.getI64IntegerAttr(64));
  };
  auto tileOf = [&](Panel &panel) {
    return instruction ? panel.getWordShape(mma, instruction->perWord())
                       : panel.getShape(mma);
  };
  if (instruction)
    element = instruction->operands[0];
  if (!rowsInPlace)
    rows.memory = alloc({steps}, tileOf(rows));
  columns.memory = alloc({columnTiles, steps}, tileOf(columns));
  element = acc.getElementType();
  if (turnsRows())
    allocateSurplus(columnTiles);
  std::optional<int64_t> lower = getConstantIntValue(outerSum.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(outerSum.getUpperBound());
  int64_t step = *getConstantIntValue(outerSum.getStep());
  if (!lower || !upper || *upper - *lower > steps / innerSteps * step)
    sums = alloc({rowTiles, columnTiles}, acc.getShape());
}

Value Packer::tileNumber(Value iv, Value lower, Value step) {
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  return affine::AffineApplyOp::create(
      b, loc, (d0 - d1).floorDiv(*getConstantIntValue(step)),
      ValueRange{iv, lower});
}

/// Writes the tiles of `panel` for the steps of the sum from `begin` to `end`:
/// of all columns, or of the row of tiles that `mapping` has.
void Packer::pack(Panel &panel, IRMapping mapping, Value begin, Value end) {
  OpBuilder::InsertionGuard guard(b);
  bool all = &panel == &columns;
  // The inner one of the two loops runs along contiguous memory.
  bool sumInside = true;
  for (Operation *op : panel.chain)
    if (auto read = dyn_cast<vector::TransferReadOp>(op))
      sumInside = dependsOn(read.getIndices().back(), sum.getInductionVar());
  Value tile, step;
  auto enterTiles = [&] {
    if (!all || !panel.tiles)
      return;
    scf::ForOp loop = enter(panel.tiles.getLowerBound(),
                            panel.tiles.getUpperBound(), panel.tiles.getStep());
    mapping.map(panel.tiles.getInductionVar(), loop.getInductionVar());
    tile = tileNumber(loop.getInductionVar(), loop.getLowerBound(),
                      loop.getStep());
  };
  if (sumInside)
    enterTiles();
  scf::ForOp steps = enter(begin, end, outerSum.getStep());
  mapping.map(outerSum.getInductionVar(), steps.getInductionVar());
  step = tileNumber(steps.getInductionVar(), begin, outerSum.getStep());
  if (outerSum != sum) {
    auto bound = [&](Value value) { return constant(*getConstantIntValue(value)); };
    Value lower = bound(sum.getLowerBound());
    scf::ForOp inner = enter(lower, bound(sum.getUpperBound()), bound(sum.getStep()));
    mapping.map(sum.getInductionVar(), inner.getInductionVar());
    step = affine::AffineApplyOp::create(
        b, loc, b.getAffineDimExpr(0) * innerSteps + b.getAffineDimExpr(1),
        ValueRange{step, tileNumber(inner.getInductionVar(), lower, inner.getStep())});
  }
  if (!sumInside)
    enterTiles();
  // Tiles inside of the operand are read without masks.
  Value inside = cloneIndices(panel, mapping);
  if (inside) {
    auto branch = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    writeTile(panel, mapping, tile, step, /*inside=*/true);
    b.setInsertionPointToStart(branch.elseBlock());
  }
  writeTile(panel, mapping, tile, step, /*inside=*/false);
}

/// Whether all that `transfer` accesses at `indices` lies inside of memory, and what `inside`
/// says; null where that is known.
Value Packer::isInside(VectorTransferOpInterface transfer, ValueRange indices, Value inside) {
  for (auto [d, expr] : llvm::enumerate(transfer.getPermutationMap().getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (transfer.isDimInBounds(d) || !dim)
      continue;
    Value last = arith::AddIOp::create(
        b, loc, indices[dim.getPosition()],
        constant(transfer.getVectorType().getDimSize(d)));
    Value size =
        memref::DimOp::create(b, loc, transfer.getBase(), dim.getPosition());
    Value fits =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, last, size);
    inside = inside ? arith::AndIOp::create(b, loc, inside, fits) : fits;
  }
  return inside;
}

static void setInBounds(Operation *transfer) {
  SmallVector<bool> all(cast<VectorTransferOpInterface>(transfer).getVectorType().getRank(),
                        true);
  transfer->setAttr("in_bounds", Builder(transfer).getBoolArrayAttr(all));
}

/// Clones what the indices of the chain's reads are computed from. Returns
/// whether all they read lies inside of memory, or null where that is known.
Value Packer::cloneIndices(Panel &panel, IRMapping &mapping) {
  for (Operation *op : panel.chain)
    if (llvm::all_of(op->getResultTypes(), llvm::IsaPred<IndexType>))
      b.clone(*op, mapping);
  Value inside;
  for (Operation *op : panel.chain)
    if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
      auto indices = llvm::map_to_vector(read.getIndices(), [&](Value index) {
        return mapping.lookupOrDefault(index);
      });
      inside = isInside(read, indices, inside);
    }
  return inside;
}

/// Clones an op beside the sum. What hangs over the edge of memory in some tiles is accessed
/// under a mask in those alone.
void Packer::cloneBeside(Operation &op, IRMapping &mapping) {
  Operation *copy = b.clone(op, mapping);
  auto transfer = dyn_cast<VectorTransferOpInterface>(copy);
  Value inside;
  if (transfer && !transfer.getMask())
    inside = isInside(transfer, transfer.getIndices(), {});
  if (!inside)
    return;
  auto branch = scf::IfOp::create(b, loc, op.getResultTypes(), inside,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Operation *whole = b.clone(*copy);
  setInBounds(whole);
  scf::YieldOp::create(b, loc, whole->getResults());
  copy->moveBefore(branch.elseBlock(), branch.elseBlock()->begin());
  b.setInsertionPointAfter(copy);
  scf::YieldOp::create(b, loc, copy->getResults());
  mapping.map(op.getResults(), branch.getResults());
}

/// Computes one tile of the panel's operand and writes it to the panel.
void Packer::writeTile(Panel &panel, IRMapping mapping, Value tile, Value step,
                       bool inside) {
  for (Operation *op : panel.chain) {
    if (llvm::all_of(op->getResultTypes(), llvm::IsaPred<IndexType>))
      continue;
    Operation *copy = b.clone(*op, mapping);
    if (isa<vector::TransferReadOp>(copy) && inside)
      setInBounds(copy);
  }
  Value value = mapping.lookupOrDefault(mma->getOperand(panel.number));
  auto type = cast<VectorType>(value.getType());
  Value zero = constant(0);
  SmallVector<Value> indices;
  if (&panel == &columns)
    indices.push_back(tile ? tile : zero);
  indices.push_back(step);
  if (&panel == &rows && turnsRows())
    value = arith::XOrIOp::create(b, loc, value, signBits(type));
  if (instruction)
    return packWords(b, loc, value, panel.order[panel.sumDim], panel.memory, indices,
                     panel.alongSum);
  Type element = cast<VectorType>(mma.getAcc().getType()).getElementType();
  auto wide = VectorType::get(type.getShape(), element);
  auto signedness = mma.getSignednessAttr();
  if (type.getElementType() == element)
    ;
  else if (isa<FloatType>(element))
    value = arith::ExtFOp::create(b, loc, wide, value);
  else if (signedness &&
           cast<StringAttr>(signedness[panel.number]).getValue() == "unsigned")
    value = arith::ExtUIOp::create(b, loc, wide, value);
  else
    value = arith::ExtSIOp::create(b, loc, wide, value);

  indices.append(type.getRank(), zero);
  unsigned outer = indices.size() - type.getRank();
  SmallVector<AffineExpr> exprs(type.getRank());
  for (auto [position, dim] : llvm::enumerate(panel.order))
    exprs[dim] = b.getAffineDimExpr(outer + position);
  SmallVector<bool> inBounds(type.getRank(), true);
  vector::TransferWriteOp::create(
      b, loc, value, panel.memory, indices,
      AffineMap::get(indices.size(), 0, exprs, b.getContext()),
      ArrayRef<bool>(inBounds));
}

/// The nest over register tiles for one chunk of the sum.
void Packer::writeNest(const Chunk &chunk) {
  pack(columns, IRMapping(), chunk.begin, chunk.end);
  IRMapping mapping;
  Value row = constant(0), column = row;
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  Value steps = affine::AffineApplyOp::create(
      b, loc, (d1 - d0).ceilDiv(*getConstantIntValue(outerSum.getStep())) * innerSteps,
      ValueRange{chunk.begin, chunk.end});
  if (turnsRows())
    sumColumns(steps);
  auto enterTiles = [&](Panel &panel, Value &number) {
    if (!panel.tiles)
      return;
    scf::ForOp loop = enter(panel.tiles.getLowerBound(),
                            panel.tiles.getUpperBound(), panel.tiles.getStep());
    mapping.map(panel.tiles.getInductionVar(), loop.getInductionVar());
    number = tileNumber(loop.getInductionVar(), loop.getLowerBound(),
                        loop.getStep());
  };
  enterTiles(rows, row);
  if (!rowsInPlace)
    pack(rows, mapping, chunk.begin, chunk.end);
  enterTiles(columns, column);

  // What the tile starts from and ends in, at this place.
  for (scf::ForOp loop : nest)
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isa<scf::ForOp>(op) && op.getBlock() != outerSum->getBlock())
        cloneBeside(op, mapping);
  auto cloneUntil = [&](Block::iterator from, Block::iterator to) {
    for (Operation &op : llvm::make_range(from, to))
      cloneBeside(op, mapping);
  };
  if (!nest.empty())
    cloneUntil(outerSum->getBlock()->begin(), outerSum->getIterator());
  Value init = mapping.lookupOrDefault(outerSum.getInitArgs()[0]);
  SmallVector<Value> place{row, column};
  if (sums)
    init = startChunk(b, loc, chunk, init, sums, place);
  Value result = multiply(mapping, chunk, column, steps, init);
  mapping.map(outerSum.getResult(0), result);
  if (sums)
    finishChunk(b, loc, chunk, result, sums, place);
  cloneUntil(std::next(outerSum->getIterator()),
             outerSum->getBlock()->getTerminator()->getIterator());
}

LogicalResult Packer::run() {
  auto panels = kernel->getAttrOfType<DenseI64ArrayAttr>(kPanelsAttr);
  if (!panels || panels.size() != 3)
    return mma.emitOpError() << "of a kernel without '" << kPanelsAttr
                             << "'; run tilewright-tile";
  if (failed(match()) || failed(matchInstruction()) || failed(matchRowsInPlace()))
    return failure();
  int64_t tiles[2] = {panels[0], panels[1]}, steps = panels[2];
  allocate(tiles[0], tiles[1], steps);

  Operation *outermost = nest.empty() ? outerSum : nest.front();
  b.setInsertionPoint(outermost);
  Chunk chunk{outerSum.getLowerBound(), outerSum.getUpperBound(), {}, {}};
  if (sums)
    chunk = enterChunks(b, loc, chunk.begin, chunk.end,
                        steps / innerSteps * *getConstantIntValue(outerSum.getStep()));
  writeNest(chunk);
  if (nest.empty()) {
    SmallVector<Operation *> moved;
    for (Operation *op = outerSum->getNextNode(); op->getNextNode();
         op = op->getNextNode())
      moved.push_back(op);
    for (Operation *op : llvm::reverse(moved))
      op->erase();
  }
  outermost->erase();
  return success();
}

LogicalResult tilewright::packPanels(func::FuncOp kernel) {
  auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (!config || config.getPromote().empty() || kernel.isExternal())
    return success();
  SmallVector<MmaOp> products;
  kernel.walk([&](MmaOp op) { products.push_back(op); });
  if (products.size() != 1)
    return kernel.emitOpError() << "has " << products.size()
                                << " products; panels are packed for one";
  return Packer(kernel, products.front()).run();
}

namespace {
struct PackPanelsPass : tilewright::impl::PackPanelsPassBase<PackPanelsPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()) && failed(packPanels(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void tilewright::populatePackPipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createPackPanelsPass());
  pm.addNestedPass<func::FuncOp>(createChunkSumsPass());
}
