// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Double buffering of loops that multiply from shared memory.
//
//   for %k iter_args(%c)              if (lb < ub) { store slot 0 <- load(lb) }
//     store shared <- load(%k)        barrier
//     barrier                    ->   for %k iter_args(%c, %slot)
//     %n = mma shared, %c               %next = %k + step < ub ? %k + step : %k
//     barrier                           %v = load(%next)             (registers)
//     yield %n                          %n = mma slot %slot, %c      (hides the load)
//                                       store slot 1 - %slot <- %v
//                                       barrier
//                                       yield %n, 1 - %slot
//
// The last step loads its own tile once more instead of branching around the
// load; nobody reads it.

#include "tilewright/Pipeline/Pipeline.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {
#define GEN_PASS_DEF_PIPELINEPASS
#define GEN_PASS_REGISTRATION
#include "tilewright/Pipeline/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {

/// The parts of a loop body, each in program order.
struct LoopParts {
  SmallVector<Operation *> loads;                // what computes the tiles
  SmallVector<vector::TransferWriteOp> stores;   // into shared memory
  SmallVector<Operation *> work;                 // everything else
  SmallVector<memref::AllocOp> tiles;            // shared, to be doubled
};

} // namespace

/// Sorts the body's ops; null if the loop has not the form above.
static std::optional<LoopParts> analyze(scf::ForOp loop) {
  LoopParts parts;
  Block *body = loop.getBody();
  bool multiplies = false;
  llvm::SetVector<Operation *> loads;
  for (Operation &op : *body) {
    multiplies |= isa<MmaOp>(op);
    auto store = dyn_cast<vector::TransferWriteOp>(op);
    if (!store)
      continue;
    auto alloc = store.getBase().getDefiningOp<memref::AllocOp>();
    if (!alloc || !isa_and_nonnull<SharedAttr>(alloc.getType().getMemorySpace()) ||
        body->findAncestorOpInBlock(*alloc))
      return std::nullopt;
    parts.stores.push_back(store);
    if (!llvm::is_contained(parts.tiles, alloc))
      parts.tiles.push_back(alloc);
    BackwardSliceOptions options;
    options.filter = [&](Operation *op) { return op->getBlock() == body; };
    options.inclusive = false;
    options.omitBlockArguments = true;
    if (failed(getBackwardSlice(store.getOperation(), &loads, options)))
      return std::nullopt;
  }
  if (!multiplies || parts.stores.empty())
    return std::nullopt;
  for (Operation &op : body->without_terminator()) {
    if (loads.contains(&op)) {
      // Loads must not depend on what earlier steps computed.
      if (isa<MmaOp>(op) ||
          llvm::any_of(op.getOperands(), [&](Value operand) {
            auto argument = dyn_cast<BlockArgument>(operand);
            return argument && argument.getOwner() == body &&
                   argument != loop.getInductionVar();
          }))
        return std::nullopt;
      parts.loads.push_back(&op);
      // Index arithmetic may serve both sides; it is cheap to have twice.
      if (llvm::any_of(op.getUsers(), [&](Operation *user) {
            return !loads.contains(user) && !isa<vector::TransferWriteOp>(user);
          }))
        parts.work.push_back(&op);
    } else if (!isa<vector::TransferWriteOp, gpu::BarrierOp>(op)) {
      parts.work.push_back(&op);
    }
  }
  // Tiles may only be used by this loop's stores and products.
  for (memref::AllocOp tile : parts.tiles)
    for (Operation *user : tile->getUsers())
      if (!isa<MmaOp, vector::TransferWriteOp>(user) || user->getBlock() != body)
        return std::nullopt;
  return parts;
}

/// The tile with a leading dim of slots.
static memref::AllocOp addSlots(memref::AllocOp tile, int64_t slots) {
  MemRefType type = tile.getType();
  SmallVector<int64_t> strides, shape(type.getShape());
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return {};
  int64_t size = 1;
  for (auto [extent, stride] : llvm::zip_equal(shape, strides))
    size = std::max(size, extent * stride);
  shape.insert(shape.begin(), slots);
  strides.insert(strides.begin(), size);
  OpBuilder b(tile);
  auto slotted = MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(b.getContext(), 0, strides), type.getMemorySpace());
  return memref::AllocOp::create(b, tile.getLoc(), slotted);
}

static Value slotOf(OpBuilder &b, Location loc, Value tile, Value slot) {
  auto type = cast<MemRefType>(tile.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), sizes,
      strides(type.getRank(), b.getIndexAttr(1));
  offsets[0] = slot;
  for (int64_t extent : type.getShape())
    sizes.push_back(b.getIndexAttr(extent));
  sizes[0] = b.getIndexAttr(1);
  auto result = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, loc, result, tile, offsets, sizes, strides);
}

static void pipelineLoop(scf::ForOp loop, const LoopParts &parts) {
  Location loc = loop.getLoc();
  OpBuilder b(loop);
  DenseMap<Value, Value> slotted;
  for (memref::AllocOp tile : parts.tiles)
    slotted[tile] = addSlots(tile, 2);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);

  auto cloneLoads = [&](OpBuilder &b, IRMapping &mapping, Value k) {
    mapping.map(loop.getInductionVar(), k);
    for (Operation *op : parts.loads)
      b.clone(*op, mapping);
  };
  auto cloneStores = [&](OpBuilder &b, IRMapping &mapping, Value slot) {
    for (vector::TransferWriteOp store : parts.stores) {
      IRMapping local(mapping);
      local.map(store.getBase(),
                slotOf(b, loc, slotted.lookup(store.getBase()), slot));
      b.clone(*store, local);
    }
  };

  // The first tile.
  Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                    loop.getLowerBound(), loop.getUpperBound());
  auto first = scf::IfOp::create(b, loc, any, /*withElseRegion=*/false);
  {
    OpBuilder inner(first.thenBlock()->getTerminator());
    IRMapping mapping;
    cloneLoads(inner, mapping, loop.getLowerBound());
    cloneStores(inner, mapping, zero);
  }
  gpu::BarrierOp::create(b, loc);

  SmallVector<Value> inits(loop.getInitArgs());
  inits.push_back(zero);
  auto piped = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                  loop.getUpperBound(), loop.getStep(), inits);
  piped->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder inner = OpBuilder::atBlockBegin(piped.getBody());
  Value k = piped.getInductionVar(), slot = piped.getRegionIterArgs().back();
  Value ahead = arith::AddIOp::create(inner, loc, k, loop.getStep());
  Value isLast = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt,
                                       ahead, loop.getUpperBound());
  // Written as k + (0 or step): what is known to divide k still divides it.
  Value advance = arith::SelectOp::create(inner, loc, isLast, loop.getStep(), zero);
  Value next = arith::AddIOp::create(inner, loc, k, advance);
  IRMapping loads;
  cloneLoads(inner, loads, next);

  IRMapping work;
  work.map(loop.getInductionVar(), k);
  for (auto [from, to] : llvm::zip(loop.getRegionIterArgs(), piped.getRegionIterArgs()))
    work.map(from, to);
  for (memref::AllocOp tile : parts.tiles)
    work.map(tile.getResult(), slotOf(inner, loc, slotted.lookup(tile), slot));
  for (Operation *op : parts.work)
    inner.clone(*op, work);
  Value other = arith::SubIOp::create(inner, loc, one, slot);
  cloneStores(inner, loads, other);
  gpu::BarrierOp::create(inner, loc);
  SmallVector<Value> yields;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    yields.push_back(work.lookupOrDefault(value));
  yields.push_back(other);
  scf::YieldOp::create(inner, loc, yields);

  loop.replaceAllUsesWith(piped.getResults().drop_back());
  loop.erase();
  for (memref::AllocOp tile : parts.tiles)
    tile.erase();
}

LogicalResult tilewright::pipelineLoops(func::FuncOp kernel) {
  auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (!config || config.getStages() < 2)
    return success();
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    if (std::optional<LoopParts> parts = analyze(loop))
      pipelineLoop(loop, *parts);
  return success();
}

namespace {
struct PipelinePass : tilewright::impl::PipelinePassBase<PipelinePass> {
  void runOnOperation() override {
    if (isKernel(getOperation()) && failed(pipelineLoops(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void tilewright::registerPipelinePasses() { registerTilewrightPipelinePasses(); }

void tilewright::populatePipelinePipeline(OpPassManager &pm,
                                          const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(createPipelinePass());
}
