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
#include "RingFragments.h"
#include "RingWriter.h"

#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Float8.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

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

/// What computes A, once more, as far as no stage is needed: what is read of memory comes
/// while the stage is waited for.
IRMapping RingWriter::beginA(OpBuilder &b, const TileBody &body, Value step) {
  IRMapping mapping(body.mapping);
  mapStep(b, mapping, step);
  llvm::SmallPtrSet<Operation *, 8> ofStage;
  for (Operation *op : computedA->ops) {
    bool needsStage =
        computedA->isInRing(op) || llvm::any_of(op->getOperands(), [&](Value operand) {
          return ofStage.contains(operand.getDefiningOp());
        });
    if (needsStage)
      ofStage.insert(op);
    else
      b.clone(*op, mapping);
  }
  return mapping;
}

/// The rest of it, of the tiles of a stage.
Value RingWriter::finishA(OpBuilder &b, IRMapping &mapping, ValueRange tiles) {
  for (Operation *op : computedA->ops) {
    if (llvm::all_of(op->getResults(),
                     [&](Value result) { return mapping.contains(result); }))
      continue;
    auto beside = llvm::find_if(computedA->beside, [&](RingOperand &operand) {
      return operand.read == op;
    });
    if (op == computedA->main.read)
      mapping.map(op->getResult(0), readTile(b, computedA->main, tiles[0]));
    else if (beside != computedA->beside.end())
      mapping.map(op->getResult(0),
                  readTile(b, *beside,
                           tiles[operands.size() + (beside - computedA->beside.begin())]));
    else
      b.clone(*op, mapping);
  }
  return mapping.lookup(product.getA());
}

/// Waits for `next`, whose stage is empty then. In two levels it is summed by itself, and
/// added to `acc`.
Value RingWriter::endStep(OpBuilder &b, Value ring, MmaOp next, Value acc, Value at) {
  if (config.getTwoLevelSums()) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(next);
    next->setOperand(2, arith::ConstantOp::create(b, loc, b.getZeroAttr(acc.getType())));
  }
  auto done = MmaWaitOp::create(b, loc, acc.getType(), 0, next.getResult());
  // One lane releases what all have read.
  if (computedA)
    WarpBarrierOp::create(b, loc);
  release(b, ring, at);
  return config.getTwoLevelSums()
             ? arith::AddFOp::create(b, loc, acc, done.getResult(0)).getResult()
             : done.getResult(0);
}

/// Whether a stage that is filled again needs no word that it is empty: who fills it reads
/// it, and has waited. A warpgroup's wait is for the products of its four warps.
bool RingWriter::knowsReads() const {
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  bool isAlone = llvm::product_of(launch.getCluster()) == 1 ||
                 (!second && llvm::all_of(multicasts, [](IntegerAttr loop) { return !loop; }));
  int64_t warps = llvm::product_of(config.getWarps());
  return isAlone && !config.getProducer() &&
         (config.isForWarpgroups() ? warps == 4 && !computedA : warps == 1);
}

void RingWriter::release(OpBuilder &b, Value ring, Value at) {
  if (!knowsReads())
    ReleaseOp::create(b, loc, ring, at);
}

/// Where `step` is none of the first: the stage of the step before it is empty.
void RingWriter::releaseBefore(OpBuilder &b, Value ring, const TileBody &body,
                               Value step) {
  if (knowsReads())
    return;
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, step,
                                        constant(b, 0));
  auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/true);
  OpBuilder inside = branch.getElseBodyBuilder();
  Value at = position(inside, body, step);
  release(inside, ring, arith::SubIOp::create(inside, loc, at, constant(inside, 1)));
}

Operation *RingWriter::writeSums(OpBuilder &b, Value ring, const TileBody &body,
                                 Value steps) {
  SmallVector<Value> inits, wholes;
  for (auto [position, one] : llvm::enumerate(products)) {
    inits.push_back(loop ? loop.getInitArgs()[position] : Value(MmaOp(one).getAcc()));
    wholes.push_back(loop ? loop.getResult(position) : Value(MmaOp(one).getResult()));
  }
  Builder builder(kernel.getContext());
  ArrayAttr maps = builder.getAffineMapArrayAttr(
      {!computedA ? operands[0].map
                         : cast<AffineMapAttr>(product.getMaps()[0]).getValue(),
       operands[1].map, cast<AffineMapAttr>(product.getMaps()[2]).getValue()});
  if (!config.isForWarpgroups()) {
    Value sum = writeFragmentSums(
        b, product,
        {ring, maps, inits.front(), steps,
         [&](OpBuilder &b, Value step) { return position(b, body, step); },
         [&](OpBuilder &b, Value step) { fillNext(b, ring, body, step, steps); },
         [&](OpBuilder &b, Value at) { release(b, ring, at); }});
    wholes.front().replaceAllUsesWith(sum);
    return sum.getDefiningOp();
  }
  bool waitsForStep = config.getTwoLevelSums() || computedA.has_value();
  auto sums =
      scf::ForOp::create(b, loc, constant(b, 0), steps, constant(b, 1), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(sums.getBody());
    Value step = sums.getInductionVar(), at = position(b, body, step);
    ValueRange accs = sums.getRegionIterArgs();
    if (waitsForStep)
      fillNext(b, ring, body, step, steps);
    std::optional<IRMapping> begun;
    if (computedA)
      begun = beginA(b, body, step);
    auto stage = WaitOp::create(b, loc, ring, at);
    Value a = begun ? finishA(b, *begun, stage.getTiles()) : Value();
    SmallVector<Value> next = multiplyStage(b, a, stage.getTiles(), accs);
    if (waitsForStep) {
      next = {endStep(b, ring, next.front().getDefiningOp<MmaOp>(), accs.front(), at)};
    } else {
      // Each product is a group of its own.
      MmaWaitOp::create(b, loc, TypeRange(), products.size(), ValueRange());
      releaseBefore(b, ring, body, step);
      fillNext(b, ring, body, step, steps);
    }
    scf::YieldOp::create(b, loc, next);
  }
  if (waitsForStep) {
    wholes.front().replaceAllUsesWith(sums.getResult(0));
    return sums;
  }
  auto done =
      MmaWaitOp::create(b, loc, sums.getResultTypes(), 0, sums.getResults());
  // The next tile's copies wait for the last stage.
  if (body.begin)
    releaseBefore(b, ring, body, steps);
  for (auto [whole, result] : llvm::zip_equal(wholes, done.getResults()))
    whole.replaceAllUsesWith(result);
  return done;
}

/// The last cluster may have blocks whose tile is outside of the tensors: they copy
/// for the others, and do nothing with their own sums. They take what comes for a second
/// product, too.
void RingWriter::skipWithoutTile(OpBuilder &b, TileBody &body,
                                 ArrayRef<Operation *> epilogue) {
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  Value inside;
  for (auto [loop, blocks] : llvm::enumerate(launch.getCluster())) {
    Value count = tileId.getCounts()[loop];
    if (std::optional<int64_t> known = getConstantIntValue(count);
        blocks == 1 || (known && *known % blocks == 0))
      continue;
    Value id = body.mapping.lookupOrDefault(tileId.getIds()[loop]);
    Value isTile =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, id, count);
    inside = inside ? arith::AndIOp::create(b, loc, inside, isTile).getResult()
                    : isTile;
  }
  if (!inside)
    return;
  body.isInside = inside;
  auto branch = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/bool(second));
  for (Operation *op : epilogue)
    op->moveBefore(branch.thenBlock()->getTerminator());
  if (!second)
    return;
  OpBuilder without = branch.getElseBodyBuilder();
  Value at = body.count ? body.count : constant(without, 0);
  WaitOp::create(without, loc, secondRing, at);
  if (!isSecondShared)
    ReleaseOp::create(without, loc, secondRing, at);
}

void RingWriter::writeConsumers(WarpsOp role, Value ring,
                                ArrayRef<Operation *> rest) {
  OpBuilder b = OpBuilder::atBlockEnd(&role.getBody().front());
  TileBody body;
  addTileLoop(b, body);
  Block *block = b.getInsertionBlock();
  Operation *whole = loop ? loop.getOperation() : product.getOperation();
  for (Operation *op : rest)
    op->moveBefore(block, block->end());
  b.setInsertionPoint(whole);
  Value steps = countSteps(b, body);
  fillFirst(b, ring, body, steps);
  SmallVector<Value> sums(writeSums(b, ring, body, steps)->getResults());
  if (second)
    sums = {writeSecond(body)};
  writeLoads(body);
  if (!loop) {
    for (MmaOp one : llvm::drop_begin(products))
      one->erase();
    for (RingOperand &operand : llvm::drop_begin(operands, 2))
      operand.read->erase();
  }
  SmallVector<Operation *> epilogue;
  for (Operation *op = whole->getNextNode(); op; op = op->getNextNode())
    epilogue.push_back(op);
  whole->erase();
  if (!loop)
    for (RingOperand &operand : MutableArrayRef(operands).take_front(2))
      operand.read->erase();
  b.setInsertionPointToEnd(block);
  skipWithoutTile(b, body, epilogue);
  for (auto [from, to] : body.mapping.getValueMap())
    replaceAllUsesInRegionWith(from, to, role.getBody());
  b.setInsertionPointToEnd(block);
  endTile(b, body, steps);
  if (config.getTmaStore()) {
    for (Value sum : sums)
      storeByEngine(role, sum);
    StoreWaitOp::create(b, loc, 0);
  }
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
