// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ring's stages are filled by warps of their own (`producer`), one of which starts copy
// engines,
//
//   tilewright.warps [8, 1] {
//     scf.for %p … { acquire %ring[%p]; tile_copy of A, of B; fill %ring[%p] }
//   }
//
// or else by those that multiply: the first stages in front of their loop, and in each step
// the stage that the step before has emptied, when all warps have said so:
//
//   tilewright.warps [0, 8] {
//     tilewright.warps [0, 1] { scf.for %p to stages - 1 … { acquire; tile_copy …; fill } }
//     scf.for %p … {
//       wait %ring[%p]; mma on the stage; mma_wait 1; release %ring[%p - 1]
//       tilewright.warps [0, 1] { scf.if %p + (stages - 1) < %steps { acquire; tile_copy …; fill } }
//     }
//   }
//
// Where a second product multiplies what becomes of the first, the producer copies its B
// to a ring of one stage as soon as the other ring is full for the first time.
//
// Without `tma_copy` all warps of either copy, `by_threads`.

#include "RingWriter.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright;

LogicalResult RingWriter::findShared() {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == &kernel.front();
  };
  SmallVector<Value> values;
  if (loop)
    values = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  // What addresses come from: outside, or in the loop, whose values lead
  // outside.
  SmallVector<RingOperand> copied(operands);
  if (computedA)
    llvm::append_range(copied, computedA->beside);
  if (second)
    copied.push_back(secondOperand);
  for (RingOperand &operand : copied)
    for (Value index : operand.read.getIndices()) {
      SmallVector<Value> work{index};
      while (!work.empty()) {
        Value value = work.pop_back_val();
        Operation *op = value.getDefiningOp();
        if (!op || op->getBlock() == &kernel.front())
          values.push_back(value);
        else if (inside.insert(op))
          llvm::append_range(work, op->getOperands());
      }
    }
  for (Value value : values)
    if (value.getDefiningOp() &&
        failed(getBackwardSlice(value, &shared, options)))
      return product.emitOpError() << "has addresses that lead through regions";
  for (Operation &op : kernel.front())
    if (auto tile = dyn_cast<TileIdOp>(op)) {
      tileId = tile;
      shared.insert(tile);
      SetVector<Operation *> counts;
      for (Value count : tile.getCounts())
        if (count.getDefiningOp())
          (void)getBackwardSlice(count, &counts, options);
      shared.insert(counts.begin(), counts.end());
    } else if (auto item = dyn_cast<WorkItemOp>(op)) {
      workItem = item;
      shared.insert(item);
    }
  SetVector<Operation *> arithmetic(shared);
  arithmetic.insert(inside.begin(), inside.end());
  for (Operation *op : arithmetic)
    if (op->getNumRegions() ||
        llvm::any_of(op->getResultTypes(),
                     [](Type type) { return isa<VectorType>(type); }))
      return op->emitOpError()
             << "decides where a warpgroup's tiles begin; only "
                "index arithmetic may";
  for (Operation &op : kernel.front())
    if (&op == tileId || &op == workItem || (shared.contains(&op) &&
                          llvm::any_of(op.getOperands(), [&](Value operand) {
                            return ofTile.contains(operand.getDefiningOp());
                          })))
      ofTile.insert(&op);
  isSecondShared = second && llvm::none_of(secondOperand.read.getIndices(), [&](Value index) {
                     return config.getPersistent() && ofTile.contains(index.getDefiningOp());
                   });
  return success();
}

/// An operand whose address does not depend on a loop along which a cluster has several
/// blocks is the same to all of them: the number of that loop.
IntegerAttr RingWriter::multicastOf(RingOperand &operand) {
  SetVector<Value> sources;
  SmallVector<Value> work(operand.read.getIndices());
  // Steps begin where the block's part of the sum does.
  if (loop)
    work.push_back(loop.getLowerBound());
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (sources.insert(value) && value.getDefiningOp() &&
        value.getDefiningOp() != tileId)
      llvm::append_range(work, value.getDefiningOp()->getOperands());
  }
  IntegerAttr multicast;
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  for (auto [number, blocks] : llvm::enumerate(launch.getCluster()))
    if (blocks > 1 && !sources.contains(tileId.getIds()[number]))
      multicast = Builder(kernel.getContext()).getI64IntegerAttr(number);
  return multicast;
}

/// The loop's induction variable at step `step`.
void RingWriter::mapStep(OpBuilder &b, IRMapping &mapping, Value step) {
  if (!loop)
    return;
  AffineExpr d0 = b.getAffineDimExpr(0), s0 = b.getAffineSymbolExpr(0),
             s1 = b.getAffineSymbolExpr(1);
  SmallVector<OpFoldResult> operands{step,
                                     mapping.lookupOrDefault(loop.getLowerBound()),
                                     mapping.lookupOrDefault(loop.getStep())};
  for (OpFoldResult &operand : operands)
    if (std::optional<int64_t> known = getConstantIntValue(operand))
      operand = b.getIndexAttr(*known);
  OpFoldResult k = affine::makeComposedFoldedAffineApply(
      b, loc, AffineMap::get(1, 2, s0 + d0 * s1), operands);
  mapping.map(loop.getInductionVar(), getValueOrCreateConstantIndexOp(b, loc, k));
}

/// Starts the copies of step `step` when its stage is empty, which `isEmpty` knows.
void RingWriter::fillStage(OpBuilder &b, Value ring, const TileBody &body, Value step,
                           bool isEmpty) {
  IRMapping mapping(body.mapping);
  mapStep(b, mapping, step);
  Value at = position(b, body, step);
  auto stage = AcquireOp::create(b, loc, ring, at, isEmpty);
  if (loop)
    for (Operation &op : *loop.getBody())
      if (inside.contains(&op))
        b.clone(op, mapping);
  auto copy = [&](RingOperand &operand, Value tile, IntegerAttr multicast) {
    SmallVector<Value> indices;
    for (Value index : operand.read.getIndices())
      indices.push_back(mapping.lookupOrDefault(index));
    TileCopyOp::create(b, loc, operand.read.getBase(), indices, tile, operand.copy,
                       multicast, /*by_threads=*/!config.getTmaCopy());
  };
  ValueRange tiles = stage.getTiles();
  for (auto [operand, tile, multicast] : llvm::zip(operands, tiles, multicasts))
    copy(operand, tile, multicast);
  for (auto [number, tile] : llvm::enumerate(tiles.drop_front(operands.size())))
    copy(computedA->beside[number], tile, IntegerAttr());
  FillOp::create(b, loc, ring, at);
}

void RingWriter::writeProducer(OpBuilder &b, Value ring) {
  TileBody body;
  addTileLoop(b, body);
  Value steps = countSteps(b, body), next = constant(b, 0);
  auto copyTo = [&](Value end) {
    auto copies = scf::ForOp::create(b, loc, next, end, constant(b, 1));
    b.setInsertionPointToStart(copies.getBody());
    fillStage(b, ring, body, copies.getInductionVar(), /*isEmpty=*/false);
    b.setInsertionPointAfter(copies);
    next = end;
  };
  // What the second product takes comes when the ring is full.
  if (second) {
    copyTo(arith::MinSIOp::create(b, loc, steps, constant(b, config.getStages())));
    fillSecond(b, body);
  }
  copyTo(steps);
  endTile(b, body, steps);
}

/// Without a producer: all stages but one, or as many as there are steps.
void RingWriter::fillFirst(OpBuilder &b, Value ring, const TileBody &body, Value steps) {
  if (config.getProducer())
    return;
  OpBuilder inside = addCopiers(b, loc, 0, config);
  Value first = arith::MinSIOp::create(inside, loc, steps,
                                       constant(inside, config.getStages() - 1));
  auto copies =
      scf::ForOp::create(inside, loc, constant(inside, 0), first, constant(inside, 1));
  inside.setInsertionPointToStart(copies.getBody());
  // Only a tile before this one can have filled it.
  fillStage(inside, ring, body, copies.getInductionVar(), !body.begin || knowsReads());
}

/// In step `step`, when that before it has given its stage back: that stage is filled.
void RingWriter::fillNext(OpBuilder &b, Value ring, const TileBody &body, Value step,
                          Value steps) {
  if (config.getProducer())
    return;
  OpBuilder inside = addCopiers(b, loc, 0, config);
  Value next = arith::AddIOp::create(inside, loc, step,
                                     constant(inside, config.getStages() - 1));
  Value isStep =
      arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt, next, steps);
  auto branch = scf::IfOp::create(inside, loc, isStep, /*withElseRegion=*/false);
  inside.setInsertionPointToStart(branch.thenBlock());
  fillStage(inside, ring, body, next, knowsReads());
}
