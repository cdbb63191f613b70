// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %sum = scf.for %k = 0 to %K step 64 iter_args(%acc = %init) {
//     %va = vector.transfer_read %A[%i, %k] …
//     %vb = vector.transfer_read %B[%k, %j] …
//     %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.…"}
//     scf.yield %n
//   }
//   … epilogue …
// becomes
//   %ring = tilewright.ring : !tilewright.ring<4, tile of A, tile of B>
//   tilewright.warps [8, 4] {                   // a producer warpgroup
//     tilewright.set_registers 40
//     tilewright.warps [8, 1] {
//       scf.for %p … { acquire; tile_copy of A, of B; fill }
//     }
//   }
//   tilewright.warps [0, 8] {                   // consumer warpgroups
//     tilewright.set_registers 232
//     %sum = scf.for %p … { wait; mma on the stage; mma_wait 1; release %p - 1 }
//     %done = tilewright.mma_wait 0 (%sum)
//     … epilogue …
//   }
//
// A step's products are under way while the next step's are waited for, so a
// stage is released one step late.
//
// Without `producer` the consumers are all warps, and one of them starts the copies:
// FillRing.cpp. One warpgroup then knows when a stage is empty, and releases none.
//
// With `persistent` each role walks over tiles, and positions count on from tile to
// tile, so that the producer fills stages for the next tile while the consumers are in
// a tile's epilogue:
//
//   %first, %end, %step = tilewright.tile_walk(…)
//   scf.for %number = %first to %end step %step iter_args(%begin = %c0) {
//     %i, %j = tilewright.tile_id(…) number %number
//     … positions from %begin on …
//     scf.yield %begin + %steps
//
// With `stream_k` a role walks over items, parts of tiles, that `tilewright.work_walk` gives,
// and what `tilewright.work_item` says of the tile and the steps is of each of them.
//
// With `two_level_sums` each step's products are summed from zero, waited for, and added
// to the sums by `arith.addf`, so that a tensor core that keeps few bits of a sum (8-bit
// floats) does so for one step along the reduction:
//
//   %partial = tilewright.mma %a, %b, %zero …
//   %done = tilewright.mma_wait 0 (%partial); release %p
//   %next = arith.addf %acc, %done
//
// An operand that `promote` leaves out, A, is multiplied out of registers: what it is
// computed from is in the ring as it lies in memory, and the consumers compute it of the
// stage. Its registers are free when the products are waited for, so each step is:
//
//   %raw = vector.transfer_read %stage … ; %a = arith.sitofp … ; %next = tilewright.mma %a, %b, %acc
//   %done = tilewright.mma_wait 0 (%next); warp_barrier; release %p
//
// The instruction may be a warp's, which reads fragments out of the stages:
// RingFragments.cpp.
//
// Both products of a dual product are multiplied out of one stage: DualProduct.cpp.
//
// With `tma_store` results of the tile's shape leave by `tilewright.tile_store`, with
// `cluster` an operand's tile that several blocks read is multicast to them.

#include "WriteRing.h"
#include "RingWriter.h"

#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Float8.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;

Value RingWriter::constant(OpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

void RingWriter::addTileLoop(OpBuilder &b, TileBody &body) {
  if (!config.getPersistent() || (!tileId && !workItem))
    return;
  Value first, end, step;
  if (workItem) {
    auto walk = WorkWalkOp::create(b, loc, workItem.getShares());
    first = walk.getFirst(), end = walk.getEnd(), step = constant(b, 1);
  } else {
    auto walk = TileWalkOp::create(b, loc, tileId.getCounts());
    first = walk.getFirst(), end = walk.getEnd(), step = walk.getStep();
  }
  bool counts = second && !isSecondShared;
  SmallVector<Value> starts(1 + counts + !loads.empty(), constant(b, 0));
  auto tiles = scf::ForOp::create(b, loc, first, end, step, starts);
  b.setInsertionPointToStart(tiles.getBody());
  body.loop = tiles;
  body.begin = tiles.getRegionIterArgs().front();
  if (counts)
    body.count = tiles.getRegionIterArgs()[1];
  if (!loads.empty())
    body.inside = tiles.getRegionIterArgs().back();
  for (Operation *op : ofTile) {
    Operation *copy = b.clone(*op, body.mapping);
    if (auto item = dyn_cast<WorkItemOp>(copy))
      item.getNumberMutable().assign(tiles.getInductionVar());
    else if (auto tile = dyn_cast<TileIdOp>(copy); tile && !workItem)
      tile.getNumberMutable().assign(tiles.getInductionVar());
  }
}

void RingWriter::endTile(OpBuilder &b, const TileBody &body, Value steps) {
  scf::ForOp tiles = body.loop;
  if (!tiles)
    return;
  b.setInsertionPointToEnd(tiles.getBody());
  SmallVector<Value> next{arith::AddIOp::create(b, loc, body.begin, steps)};
  if (body.count)
    next.push_back(arith::AddIOp::create(b, loc, body.count, constant(b, 1)));
  if (body.inside) {
    Value one = constant(b, 1);
    if (body.isInside)
      one = arith::SelectOp::create(b, loc, body.isInside, one, constant(b, 0));
    next.push_back(arith::AddIOp::create(b, loc, body.inside, one));
  }
  scf::YieldOp::create(b, loc, next);
  b.setInsertionPointAfter(tiles);
}

Value RingWriter::countSteps(OpBuilder &b, const TileBody &body) {
  if (!loop)
    return constant(b, 1);
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1),
             s2 = b.getAffineSymbolExpr(2);
  SmallVector<Value> bounds;
  for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    bounds.push_back(body.mapping.lookupOrDefault(bound));
  Value steps = getValueOrCreateConstantIndexOp(
      b, loc,
      affine::makeComposedFoldedAffineApply(
          b, loc, AffineMap::get(0, 3, (s1 - s0).ceilDiv(s2)),
          getAsOpFoldResult(bounds)));
  // No part of a cluster's sum is empty. On a way around the loop zeros would be moved into
  // the registers that asynchronous instructions have.
  return sumsOverCluster && !getConstantIntValue(steps)
             ? arith::MaxSIOp::create(b, loc, steps, constant(b, 1)).getResult()
             : steps;
}

Value RingWriter::position(OpBuilder &b, const TileBody &body, Value step) {
  return body.begin ? arith::AddIOp::create(b, loc, body.begin, step).getResult()
                    : step;
}

/// Where consumers add up what the blocks of a cluster have, they meet in barriers of all
/// threads of the cluster: those that copy come to them when they have started their copies,
/// and wait for the second one at the kernel's end.
void RingWriter::meetCluster(OpBuilder &copiers) {
  if (!sumsOverCluster)
    return;
  Operation *role = copiers.getInsertionBlock()->getParentOp();
  while (role->getParentOp() != kernel)
    role = role->getParentOp();
  OpBuilder b = OpBuilder::atBlockEnd(&role->getRegion(0).front());
  ClusterBarrierOp::create(b, loc);
  ClusterArriveOp::create(b, loc);
}

void RingWriter::explainRing(RingType ring) {
  int64_t consumers = llvm::product_of(config.getWarps());
  int64_t units = config.isForWarpgroups() ? consumers / 4 : consumers;
  StringRef by = config.getProducer()
                     ? config.getTmaCopy() ? "a warp through tensor maps"
                                           : "a warpgroup's threads, 16 bytes at a time"
                 : config.getTmaCopy()
                     ? "one of the warps that multiply, through tensor maps"
                     : "all threads that multiply, 16 bytes at a time";
  addExplanation(kernel, "ring of " + Twine(config.getStages()) + " stages of " +
                             Twine(ring.getStageBytes()) + " bytes, filled by " + by +
                             ", multiplied by " + Twine(units) +
                             (config.isForWarpgroups() ? " warpgroup" : " warp") +
                             (units == 1 ? "" : "s"));
  if (products.size() > 1)
    addExplanation(kernel, Twine(products.size()) + " products of a step; the operand that they "
                                                    "share is in the ring once");
  if (second)
    addExplanation(kernel, "what the first product becomes is an operand of the second in "
                           "registers; the other one is copied once" +
                               Twine(isSecondShared ? "" : " for each tile") + ", " +
                               Twine(cast<RingType>(secondRing.getType()).getStageBytes()) +
                               " bytes");
}

void RingWriter::explainSums() {
  Type element = getElementTypeOrSelf(product.getA().getType());
  TargetAttr target = getTarget(kernel);
  int64_t bits = target ? target.getFact("float8_sum_bits") : 0;
  if (config.getTwoLevelSums()) {
    auto read = cast<VectorType>(product.getA().getType());
    AffineMap map = cast<AffineMapAttr>(product.getMaps()[0]).getValue(),
              acc = cast<AffineMapAttr>(product.getMaps()[2]).getValue();
    unsigned k = acc.isFunctionOfDim(map.getDimPosition(0)) ? 1 : 0;
    addExplanation(kernel, "partial sums of " + Twine(read.getDimSize(k)) +
                               " terms are added in f32 registers (two_level_sums)");
  } else if (isFloat8(element) && bits) {
    addExplanation(kernel, "sums of 8-bit floats stay in the tensor cores, which keep " +
                               Twine(bits) + " bits of them (--fp=fast-f8-sums)");
  }
}

LogicalResult RingWriter::check() {
  Operation *whole = loop ? loop.getOperation() : product.getOperation();
  auto isSum = [&](unsigned position) {
    return loop.getYieldedValues()[position] == products[position].getResult() &&
           products[position].getAcc() == loop.getRegionIterArgs()[position];
  };
  if (whole->getParentOp() != kernel.getOperation() ||
      (loop && (loop.getNumResults() != products.size() ||
                !llvm::all_of(llvm::seq<unsigned>(0, products.size()), isSum))))
    return product.emitOpError()
           << "by a warpgroup stands in one loop, whose sums it alone carries";
  if (second && failed(checkSecond()))
    return failure();
  // Of two products, A of the second is in registers.
  if (config.getPromote().size() < 2 && !second) {
    FailureOr<ComputedOperand> found = findComputedOperand(kernel, product, loop, config);
    if (failed(found))
      return failure();
    computedA = *found;
    operands.push_back(computedA->main);
  }
  for (unsigned number : {0, 1}) {
    if (operands.size() > number)
      continue;
    FailureOr<RingOperand> operand = ringOperandOf(product, number);
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
  }
  operandsOf.push_back({0, 1});
  if (failed(checkDual()))
    return failure();
  if (loop)
    for (Operation &op : loop.getBody()->without_terminator())
      if (!llvm::is_contained(products, &op) && !isMemoryEffectFree(&op) && !(computedA && computedA->ops.contains(&op)) &&
          llvm::none_of(operands,
                        [&](RingOperand &operand) { return operand.read == &op; }))
        return op.emitOpError()
               << "stands in the loop of a warpgroup's product, which does no "
                  "more than multiply";
  return success();
}

LogicalResult RingWriter::write() {
  loop = dyn_cast<scf::ForOp>(product->getParentOp());
  sumsOverCluster = !kernel.getOps<ClusterScatterOp>().empty();
  if (failed(check()) || failed(findShared()))
    return failure();
  for (RingOperand &operand : operands)
    multicasts.push_back(multicastOf(operand));
  SmallVector<Value> sums;
  if (second)
    sums.push_back(second.getResult());
  else if (loop)
    llvm::append_range(sums, loop.getResults());
  else
    for (MmaOp one : products)
      sums.push_back(one.getResult());
  FailureOr<SmallVector<vector::TransferReadOp>> found = findLoadedTiles(kernel, sums);
  if (failed(found))
    return failure();
  loads = *found;
  Block &entry = kernel.front();
  SmallVector<Operation *> rest;
  for (Operation &op : entry.without_terminator())
    if (!shared.contains(&op))
      rest.push_back(&op);
  OpBuilder b(entry.getTerminator());
  SmallVector<MemRefType> tiles = llvm::map_to_vector(
      operands, [](const RingOperand &operand) { return operand.tile; });
  if (computedA)
    for (RingOperand &operand : computedA->beside)
      tiles.push_back(operand.tile);
  auto type = RingType::get(kernel.getContext(), config.getStages(), tiles);
  Value ring = RingOp::create(b, loc, type);
  if (second)
    secondRing = RingOp::create(
        b, loc, RingType::get(kernel.getContext(), 1, {secondOperand.tile}));
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  int64_t all = launch.getThreads() / launch.getSubgroup();
  int64_t consumers = llvm::product_of(config.getWarps());
  for (vector::TransferReadOp read : loads)
    if (Value &ring = loadRings[read.getVectorType().getElementType()]; !ring)
      ring = addLoadRing(b, loc, read.getVectorType(), consumers);
  explainRing(type);
  explainSums();
  if (config.getProducer()) {
    OpBuilder inside = addProducer(b, loc, consumers, all - consumers, config);
    writeProducer(inside, ring);
    meetCluster(inside);
  }
  writeConsumers(addConsumers(b, loc, consumers, config), ring, rest);
  // Each tile has its own.
  if (config.getPersistent())
    for (Operation *op : llvm::reverse(ofTile))
      op->erase();
  return success();
}

LogicalResult tilewright::writeRing(func::FuncOp kernel, ArrayRef<MmaOp> products,
                                    LoweringConfigAttr config) {
  if (products.empty() || products.size() > 2)
    return kernel.emitError() << "has " << products.size()
                              << " products; roles of warps are for one or two";
  if (products.size() > 1 && areDual(products.front(), products.back()))
    return RingWriter(kernel, products, MmaOp(), config).write();
  MmaOp second = products.size() > 1 ? products.back() : MmaOp();
  return RingWriter(kernel, products.front(), second, config).write();
}
