// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %q = vector.transfer_read %Q …
//   %r:3 = scf.for %key = %first to %end step %c128 iter_args(%max, %sum, %out) {
//     %s = tilewright.mma %q, (read of K), %zero {instruction = "wgmma.…"}
//     … softmax …
//     %o = tilewright.mma %p, (read of V), %shrunk {instruction = "wgmma.…"}
//     scf.yield …
//   }
//   … epilogue …
// becomes
//   %queries = tilewright.ring : !tilewright.ring<1, tile of Q>
//   %keys = tilewright.ring : !tilewright.ring<2, tile of K>
//   %values = tilewright.ring : !tilewright.ring<2, tile of V>
//   tilewright.warps [8, 4] {                   // a producer warpgroup
//     acquire, copy and fill %queries[0]
//     scf.for %key … iter_args(%p) { the same of %keys[%p], then of %values[%p] }
//   }
//   tilewright.warps [0, 8] {                   // consumer warpgroups
//     %q = wait %queries[0]
//     scf.for %key … iter_args(…, %p) {
//       %k = wait %keys[%p]
//       %s = mma_wait 0 (mma %q, %k, %zero); release %keys[%p]
//       … softmax …
//       %v = wait %values[%p]
//       %o = mma_wait 0 (mma %p, %v, %shrunk); release %values[%p]
//     }
//     release %queries[0]
//     … epilogue …
//   }
//
// With `persistent` each role walks over tiles, and positions count on from tile to tile: the
// producer copies the next tile's queries, to a stage of their own, and its first keys and
// values while the consumers are in a tile's epilogue. Tiles may differ in how many keys they
// see, those that follow each other least; blocks take them there and back, so that each has
// its share of long ones:
//
//   tile     0 1 2 | 3 4 5 | 6 7
//   block    0 1 2 | 2 1 0 | 0 1
//
// Of pages that are shorter than a step each is copied to its rows of the stage. Keys and values
// have rings of their own, so that each stage is free as soon as its product is done. `pipeline`
// lets the products of neighbouring steps overlap.

#include "WriteAttentionRings.h"
#include "RingOperand.h"
#include "Roles.h"
#include "VectorParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// An operand of one of the products, and the ring that it goes through.
struct Stream {
  RingOperand operand;
  Value ring;
  /// What reads it: all of it, or its rows from these on, page by page.
  SmallVector<std::pair<vector::TransferReadOp, int64_t>> reads;
};

/// What a role does for each tile, where a block computes several.
struct Walk {
  /// From values of the kernel to those of this tile.
  IRMapping mapping;
  /// Null where a block computes one tile.
  scf::ForOp loop;
  /// The tiles before this one, and the steps that they took.
  Value count, begin;
};

class AttentionRings {
public:
  AttentionRings(func::FuncOp kernel, LoweringConfigAttr config)
      : kernel(kernel), config(config), loc(kernel.getLoc()) {}
  LogicalResult find(ArrayRef<MmaOp> products);
  void write();

private:
  void findTileOps(ArrayRef<Operation *> rest);
  Walk beginWalk(OpBuilder &b);
  void endWalk(OpBuilder &b, const Walk &walk, Value end);
  void writeProducer(OpBuilder &b);
  void writeConsumers(WarpsOp role, ArrayRef<Operation *> rest);
  void copy(OpBuilder &b, Stream &stream, Value position, IRMapping &mapping);
  void countSteps(IRRewriter &rewriter, Value first);
  void computeInRoles(ArrayRef<WarpsOp> roles);
  Value multiply(IRRewriter &rewriter, MmaOp product, Stream &stream,
                 Value position);
  Value addRing(OpBuilder &b, int64_t stages, const RingOperand &operand);
  Value constant(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  func::FuncOp kernel;
  LoweringConfigAttr config;
  Location loc;
  MmaOp scores, result;
  /// Null where one step is all.
  scf::ForOp loop;
  Stream queries, keys, values;
  /// The scalars in front of the roles that differ from tile to tile.
  SetVector<Operation *> ofTile;
};

} // namespace

/// The dim of an operand's tile that its rows lie along, if they do along one.
static std::optional<unsigned> rowsOf(const RingOperand &operand) {
  vector::TransferReadOp read = operand.read;
  auto rows = dyn_cast<AffineDimExpr>(
      operand.copy.getResult(read.getPermutationMap().getDimPosition(0)));
  return rows ? std::optional(rows.getPosition()) : std::nullopt;
}

LogicalResult AttentionRings::find(ArrayRef<MmaOp> products) {
  if (products.size() != 2)
    return kernel.emitError() << "has " << products.size()
                              << " products; attention by warpgroups has two";
  scores = products[0], result = products[1];
  loop = dyn_cast<scf::ForOp>(scores->getParentOp());
  Operation *whole = loop ? loop.getOperation() : scores.getOperation();
  if (result->getParentOp() != scores->getParentOp() ||
      whole->getParentOp() != kernel.getOperation())
    return scores.emitOpError()
           << "by a warpgroup stands with another in one loop along the keys";
  if (!isa_and_nonnull<vector::TransferReadOp>(scores.getA().getDefiningOp()) ||
      (loop && !loop.isDefinedOutsideOfLoop(scores.getA())) ||
      isa_and_nonnull<vector::TransferReadOp>(result.getA().getDefiningOp()))
    return scores.emitOpError() << "multiplies queries, which the loop does not change, and "
                                   "the other one what is made of its scores";
  for (auto [stream, product, number] :
       {std::tuple(&queries, scores, 0), std::tuple(&keys, scores, 1),
        std::tuple(&values, result, 1)}) {
    Value whole = product->getOperand(number);
    for (const VectorPart &part : partsOf(whole))
      stream->reads.push_back(
          {part.value.getDefiningOp<vector::TransferReadOp>(), part.offsets.front()});
    FailureOr<RingOperand> operand = ringOperandOf(
        product, number, stream->reads.front().first, cast<VectorType>(whole.getType()));
    if (failed(operand))
      return failure();
    stream->operand = *operand;
    if (stream->reads.size() > 1 && !rowsOf(*operand))
      return product.emitOpError() << "by a warpgroup takes rows of pages as they lie in memory";
  }
  return success();
}

Value AttentionRings::addRing(OpBuilder &b, int64_t stages, const RingOperand &operand) {
  return RingOp::create(b, loc,
                        RingType::get(kernel.getContext(), stages, {operand.tile}));
}

/// Fills the stage of `position` with the stream's tile. What its address comes from in
/// the loop is computed once more.
void AttentionRings::copy(OpBuilder &b, Stream &stream, Value position,
                          IRMapping &mapping) {
  SetVector<Operation *> addresses;
  SmallVector<Value> work;
  for (auto [read, first] : stream.reads)
    llvm::append_range(work, read.getIndices());
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && loop && op->getParentOp() == loop && addresses.insert(op))
      llvm::append_range(work, op->getOperands());
  }
  for (Operation &op : *scores->getBlock())
    if (addresses.contains(&op) && !mapping.contains(&op))
      b.clone(op, mapping);
  auto stage = AcquireOp::create(b, loc, stream.ring, position);
  for (auto [read, first] : stream.reads) {
    SmallVector<Value> indices;
    for (Value index : read.getIndices())
      indices.push_back(mapping.lookupOrDefault(index));
    Value part = stage.getTiles()[0];
    if (stream.reads.size() > 1) {
      ArrayRef<int64_t> shape = stream.operand.tile.getShape();
      SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)),
          strides(shape.size(), b.getIndexAttr(1)),
          sizes = getAsIndexOpFoldResult(b.getContext(), shape);
      offsets[*rowsOf(stream.operand)] = b.getIndexAttr(first);
      sizes[*rowsOf(stream.operand)] = b.getIndexAttr(read.getVectorType().getDimSize(0));
      part = memref::SubViewOp::create(b, loc, part, offsets, sizes, strides);
    }
    TileCopyOp::create(b, loc, read.getBase(), indices, part, stream.operand.copy,
                       IntegerAttr());
  }
  FillOp::create(b, loc, stream.ring, position);
}

/// Finds what depends on the tile's number, of what is not in `rest`.
void AttentionRings::findTileOps(ArrayRef<Operation *> rest) {
  if (!config.getPersistent())
    return;
  for (Operation &op : kernel.front())
    if (!llvm::is_contained(rest, &op) &&
        (isa<TileIdOp>(op) || llvm::any_of(op.getOperands(), [&](Value operand) {
           return ofTile.contains(operand.getDefiningOp());
         })))
      ofTile.insert(&op);
}

/// Opens a loop over the block's tiles; `b` goes on in it.
Walk AttentionRings::beginWalk(OpBuilder &b) {
  Walk walk;
  Value zero = constant(b, 0), one = constant(b, 1);
  walk.count = walk.begin = zero;
  if (!config.getPersistent())
    return walk;
  auto add = [&](Value left, Value right) -> Value {
    return arith::AddIOp::create(b, loc, left, right);
  };
  auto subtract = [&](Value left, Value right) -> Value {
    return arith::SubIOp::create(b, loc, left, right);
  };
  auto times = [&](Value left, Value right) -> Value {
    return arith::MulIOp::create(b, loc, left, right);
  };
  auto tileId = cast<TileIdOp>(*llvm::find_if(ofTile, llvm::IsaPred<TileIdOp>));
  auto tiles = TileWalkOp::create(b, loc, tileId.getCounts());
  Value first = tiles.getFirst(), blocks = tiles.getStep();
  // Where the block is in a round: of odd ones as far from the end as from the begin else.
  Value apart = subtract(subtract(subtract(blocks, one), first), first);
  auto placeIn = [&](Value round) {
    return add(first, times(arith::AndIOp::create(b, loc, round, one), apart));
  };
  Value rounds = arith::DivUIOp::create(b, loc, tiles.getEnd(), blocks);
  Value left = arith::RemUIOp::create(b, loc, tiles.getEnd(), blocks);
  Value takesLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          placeIn(rounds), left);
  rounds = add(rounds, arith::SelectOp::create(b, loc, takesLast, one, zero));
  walk.loop = scf::ForOp::create(b, loc, zero, rounds, one, zero);
  b.setInsertionPointToStart(walk.loop.getBody());
  walk.count = walk.loop.getInductionVar();
  walk.begin = walk.loop.getRegionIterArgs().front();
  Value number = add(times(walk.count, blocks), placeIn(walk.count));
  for (Operation *op : ofTile)
    if (auto tile = dyn_cast<TileIdOp>(b.clone(*op, walk.mapping)))
      tile.getNumberMutable().assign(number);
  return walk;
}

/// Closes it behind a tile whose last step was in front of position `end`.
void AttentionRings::endWalk(OpBuilder &b, const Walk &walk, Value end) {
  if (!walk.loop)
    return;
  scf::YieldOp::create(b, loc, end);
  b.setInsertionPointAfter(walk.loop);
}

void AttentionRings::writeProducer(OpBuilder &b) {
  Walk walk = beginWalk(b);
  copy(b, queries, walk.count, walk.mapping);
  if (!loop) {
    copy(b, keys, walk.count, walk.mapping);
    copy(b, values, walk.count, walk.mapping);
    return endWalk(b, walk, walk.begin);
  }
  auto bound = [&](Value value) { return walk.mapping.lookupOrDefault(value); };
  auto copies = scf::ForOp::create(b, loc, bound(loop.getLowerBound()),
                                   bound(loop.getUpperBound()), bound(loop.getStep()),
                                   walk.begin);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(copies.getBody());
    walk.mapping.map(loop.getInductionVar(), copies.getInductionVar());
    Value position = copies.getRegionIterArgs().front();
    copy(b, keys, position, walk.mapping);
    copy(b, values, position, walk.mapping);
    Value next = arith::AddIOp::create(b, loc, position, constant(b, 1));
    scf::YieldOp::create(b, loc, next);
  }
  endWalk(b, walk, copies.getResult(0));
}

/// `product` multiplies out of the stage of `position`; returns its sums, waited for.
Value AttentionRings::multiply(IRRewriter &rewriter, MmaOp product, Stream &stream,
                               Value position) {
  rewriter.setInsertionPoint(product);
  auto stage = WaitOp::create(rewriter, loc, stream.ring, position);
  SmallVector<Attribute> maps(product.getMaps().getValue());
  maps[1] = AffineMapAttr::get(stream.operand.map);
  Value whole = product.getB();
  product->setOperand(1, stage.getTiles()[0]);
  product.setMapsAttr(rewriter.getArrayAttr(maps));
  rewriter.setInsertionPointAfter(product);
  auto done = MmaWaitOp::create(rewriter, loc, product->getResultTypes(), 0,
                                product.getResult());
  rewriter.replaceAllUsesExcept(product.getResult(), done.getResult(0), done);
  ReleaseOp::create(rewriter, loc, stream.ring, position);
  eraseParts(whole);
  for (auto [read, first] : stream.reads)
    read->erase();
  return done.getResult(0);
}

/// The loop carries the position of its step, from `first` on.
void AttentionRings::countSteps(IRRewriter &rewriter, Value first) {
  auto next = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> more) {
    return SmallVector<Value>{
        arith::AddIOp::create(b, loc, more.front(), constant(b, 1))};
  };
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false, next));
}

void AttentionRings::writeConsumers(WarpsOp role, ArrayRef<Operation *> rest) {
  IRRewriter rewriter(kernel.getContext());
  rewriter.setInsertionPointToEnd(&role.getBody().front());
  Walk walk = beginWalk(rewriter);
  Block *block = rewriter.getInsertionBlock();
  for (Operation *op : rest)
    op->moveBefore(block, block->end());
  for (auto [from, to] : walk.mapping.getValueMap())
    replaceAllUsesInRegionWith(from, to, role.getBody());
  rewriter.setInsertionPoint(loop ? loop.getOperation() : scores.getOperation());
  auto stage = WaitOp::create(rewriter, loc, queries.ring, walk.count);
  SmallVector<Attribute> maps(scores.getMaps().getValue());
  maps[0] = AffineMapAttr::get(queries.operand.map);
  scores.setMapsAttr(rewriter.getArrayAttr(maps));
  scores->setOperand(0, stage.getTiles()[0]);
  queries.operand.read->erase();
  Value position = walk.count, end = walk.begin, sums;
  if (loop) {
    unsigned number = loop.getNumResults() - 1;
    countSteps(rewriter, walk.begin);
    position = loop.getRegionIterArgs().back();
    end = loop.getResults().back();
    sums = loop.getResult(number);
  }
  multiply(rewriter, scores, keys, position);
  Value done = multiply(rewriter, result, values, position);
  if (loop)
    rewriter.setInsertionPointAfter(loop);
  ReleaseOp::create(rewriter, loc, queries.ring, walk.count);
  rewriter.setInsertionPointToEnd(block);
  endWalk(rewriter, walk, end);
  if (!config.getTmaStore())
    return;
  storeByEngine(role, loop ? sums : done);
  StoreWaitOp::create(rewriter, loc, 0);
}

/// Where keys end at a number in memory, each role reads it, and computes its scalars: what lives
/// across `set_registers` would be spilled.
void AttentionRings::computeInRoles(ArrayRef<WarpsOp> roles) {
  SmallVector<Operation *> scalars;
  for (Operation &op : kernel.front().without_terminator())
    if (!isa<RingOp, WarpsOp>(op))
      scalars.push_back(&op);
  if (llvm::none_of(scalars, llvm::IsaPred<memref::LoadOp>))
    return;
  for (WarpsOp role : roles) {
    Block &body = role.getBody().front();
    OpBuilder b(&body, body.begin());
    if (isa<SetRegistersOp>(body.front()))
      b.setInsertionPointAfter(&body.front());
    IRMapping mapping;
    for (Operation *op : scalars) {
      Operation *own = b.clone(*op, mapping);
      op->replaceUsesWithIf(
          own, [&](OpOperand &use) { return role->isProperAncestor(use.getOwner()); });
    }
  }
  for (Operation *op : llvm::reverse(scalars))
    op->erase();
}

void AttentionRings::write() {
  Block &entry = kernel.front();
  // Scalars stay in front of the roles.
  SmallVector<Operation *> rest;
  for (Operation &op : entry.without_terminator())
    if (op.getNumRegions() || (!isMemoryEffectFree(&op) && !isa<memref::LoadOp>(op)) ||
        llvm::any_of(op.getOperandTypes(), llvm::IsaPred<VectorType>) ||
        llvm::any_of(op.getResultTypes(), llvm::IsaPred<VectorType>))
      rest.push_back(&op);
  OpBuilder b(entry.getTerminator());
  findTileOps(rest);
  queries.ring = addRing(b, config.getPersistent() ? 2 : 1, queries.operand);
  keys.ring = addRing(b, config.getStages(), keys.operand);
  values.ring = addRing(b, config.getStages(), values.operand);
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  int64_t consumers = launch.getThreads() / launch.getSubgroup() - 4;
  addExplanation(kernel, Twine(config.getPersistent() ? "queries through a ring of 2 stages"
                                                      : "queries once") +
                             ", keys and values through rings of " +
                             Twine(config.getStages()) +
                             (config.getStages() == 1 ? " stage" : " stages") +
                             ", filled by a warp through tensor maps, multiplied by " +
                             Twine(consumers / 4) +
                             (consumers == 4 ? " warpgroup" : " warpgroups"));
  OpBuilder inside = addProducer(b, loc, consumers, /*count=*/4, config);
  auto producer = cast<WarpsOp>(b.getInsertionBlock()->getTerminator()->getPrevNode());
  writeProducer(inside);
  WarpsOp consumer = addConsumers(b, loc, consumers, config);
  writeConsumers(consumer, rest);
  // Each tile has its own.
  for (Operation *op : llvm::reverse(ofTile))
    op->erase();
  computeInRoles({producer, consumer});
}

LogicalResult tilewright::writeAttentionRings(func::FuncOp kernel,
                                              ArrayRef<MmaOp> products,
                                              LoweringConfigAttr config) {
  AttentionRings rings(kernel, config);
  if (failed(rings.find(products)))
    return failure();
  rings.write();
  return success();
}
