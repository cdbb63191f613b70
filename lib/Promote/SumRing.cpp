// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What those that multiply do of each tile: they wait for the stages of a ring, sum up the
// products, and release the stages; see WriteRing.cpp for the code that this is.

#include "RingFragments.h"
#include "RingWriter.h"

#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;

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
  if (!loop) {
    // What the product was computed from, those that use others first.
    SetVector<Operation *> reads;
    for (RingOperand &operand : MutableArrayRef(operands).take_front(2))
      reads.insert(operand.read);
    if (computedA)
      for (Operation *op : llvm::reverse(computedA->ops)) {
        reads.remove(op);
        if (op->use_empty())
          op->erase();
      }
    for (Operation *op : reads)
      op->erase();
  }
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
