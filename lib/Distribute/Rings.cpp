// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rings in thread form: every tile is one allocation of all stages, every stage
// two barriers in shared memory. Barrier p mod N says that stage p mod N is
// full, barrier N + p mod N that it is empty. Phases of a barrier alternate in
// parity: a producer at position p waits for the phase before the first where p
// < N, which is complete from the start.
//
//   %a = tilewright.wait %ring[%p]
//     -> mbarrier_wait %bars[%p mod 4] parity (%p / 4) mod 2
//
// Of a ring that nobody releases each stage has the first barrier alone. Who knows that a
// stage is empty (`known_empty`) waits for none.
//
// Where threads copy (`by_threads`), each of them arrives at the first barrier when its
// copies have; what reads a stage, an instruction of a warpgroup, sees that behind a fence.
// Barriers are made known to copy engines and other blocks by a fence, to the block's own
// threads by its barrier alone.
//
// A stage is empty when the consumers of all blocks have said so that what is multicast
// goes to, each of them to each block: those of the cluster along one loop. Where nothing
// is, a ring is its block's alone.

#include "tilewright/Dialect/Rings.h"
#include "tilewright/Dialect/SharedPlaces.h"
#include "ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

/// Goes on in code that one thread of the current warps runs.
void ThreadCode::enterOneThread(Location loc) {
  Value first;
  if (threads.warps > 1) {
    Value zero = constant(loc, 0);
    first = arith::AndIOp::create(
        b, loc,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, laneId, zero),
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, warp(), zero));
  } else {
    first = ElectOp::create(b, loc, b.getI1Type());
  }
  auto branch = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
}

/// The number of the barrier of `position`'s stage.
Value ThreadCode::stageOf(Location loc, const RingCode &ring, Value position,
                          bool empty) {
  Index at = mapped(OpFoldResult(position));
  Value stage = arith::RemUIOp::create(b, loc, materialize(loc, at),
                                       constant(loc, ring.stages));
  return empty ? materialize(loc, add(loc, Index(stage), Index(ring.stages)))
               : stage;
}

/// How many threads copy into a stage of `ring`; 0 where copy engines do. An error says
/// what fills it in different ways.
static FailureOr<int64_t> copyThreadsOf(RingOp ring, int64_t lanes) {
  std::optional<int64_t> threads;
  for (Operation *user : ring.getRing().getUsers()) {
    auto acquire = dyn_cast<AcquireOp>(user);
    if (!acquire)
      continue;
    for (TileCopyOp copy : copiesInto(acquire)) {
      auto warps = copy->getParentOfType<WarpsOp>();
      if (copy.getByThreads() && !warps)
        return copy.emitOpError() << "stands in the 'tilewright.warps' that copy";
      int64_t own = copy.getByThreads() ? warps.getCount() * lanes : 0;
      if (threads.value_or(own) != own)
        return copy.emitOpError() << "fills a ring that other copies fill by " << *threads
                                  << " threads, not by " << own;
      threads = own;
    }
  }
  return threads.value_or(0);
}

/// The tiled loop along which blocks copy to each other's stages of `ring`. An error says
/// what is copied along two.
static FailureOr<std::optional<unsigned>> multicastOf(RingOp ring) {
  std::optional<unsigned> found;
  for (Operation *user : ring.getRing().getUsers()) {
    auto acquire = dyn_cast<AcquireOp>(user);
    if (!acquire)
      continue;
    for (TileCopyOp copy : copiesInto(acquire)) {
      if (!copy.getMulticast())
        continue;
      if (found.value_or(*copy.getMulticast()) != *copy.getMulticast())
        return copy.emitOpError() << "multicasts along loop " << *copy.getMulticast()
                                  << ", and others of the ring along loop " << *found;
      found = *copy.getMulticast();
    }
  }
  return found;
}

int64_t ThreadCode::sharingBlocks(const RingCode &ring) {
  return ring.multicast && *ring.multicast < cluster().size() ? cluster()[*ring.multicast]
                                                              : 1;
}

/// A stage is empty when every warp that reads it has said so.
FailureOr<int64_t> ThreadCode::countReleases(RingOp op, const RingCode &ring) {
  llvm::SmallSetVector<WarpsOp, 2> consumers;
  int64_t arrivals = 0;
  for (Operation *user : op.getRing().getUsers())
    if (isa<ReleaseOp>(user)) {
      auto warps = user->getParentOfType<WarpsOp>();
      if (!warps)
        return user->emitOpError()
               << "stands in the 'tilewright.warps' of a consumer";
      if (consumers.insert(warps))
        arrivals += warps.getCount() * sharingBlocks(ring);
    }
  for (Operation *user : op.getRing().getUsers()) {
    auto acquire = dyn_cast<AcquireOp>(user);
    if (acquire && !arrivals && !acquire.getKnownEmpty())
      return acquire.emitOpError()
             << "waits for a stage of a ring that no consumer releases";
  }
  return arrivals;
}

LogicalResult ThreadCode::addTile(RingOp op, MemRefType tile, RingCode &ring) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(tile.getStridesAndOffset(strides, offset)))
    return op.emitOpError() << "needs strides of " << tile;
  MemView view;
  auto space = cast<SharedAttr>(tile.getMemorySpace());
  int64_t bytes = elementBytes(tile.getElementType());
  int64_t elements = tile.getNumElements();
  view.base =
      sharedMemory(op.getLoc(), tile.getElementType(), elements * ring.stages);
  // The hardware swizzles addresses: what is swizzled begins where a pattern
  // does.
  int64_t period = space.getElementSwizzle().isNone()
                       ? 128
                       : space.getElementSwizzle().period() * bytes;
  if (elements * bytes % period)
    return op.emitOpError()
           << "tile " << tile << " is no multiple of " << period << " bytes";
  auto buffer = view.base.getDefiningOp<memref::AllocOp>();
  buffer.setAlignment(std::max<int64_t>(period, 128));
  // What threads copy and read by plain accesses needs no barriers but the ring's.
  if (ring.copyThreads)
    buffer->setAttr(kStagesAttr, b.getI64IntegerAttr(ring.stages));
  for (auto [size, stride] : llvm::zip_equal(tile.getShape(), strides)) {
    view.sizes.push_back(Index(size));
    view.strides.push_back(Index(stride));
    view.sizeDivisors.push_back(size);
    view.strideDivisors.push_back(stride);
  }
  view.offsetDivisor = elements;
  view.shared = space;
  view.element = tile.getElementType();
  ring.tiles.push_back(view);
  ring.tileElements.push_back(elements);
  return success();
}

void ThreadCode::initBarriers(RingOp op, RingCode &ring, int64_t arrivals) {
  Location loc = op.getLoc();
  int64_t barriers = arrivals ? 2 * ring.stages : ring.stages;
  ring.barriers = sharedMemory(loc, b.getI64Type(), barriers);
  // Of rings that stand together, the last one makes all of their barriers known.
  bool isLast = !isa_and_nonnull<RingOp>(op->getNextNode());
  {
    OpBuilder::InsertionGuard guard(b);
    enterOneThread(loc);
    for (int64_t stage = 0; stage < barriers; ++stage)
      MbarrierInitOp::create(b, loc, ring.barriers, constant(loc, stage),
                             stage < ring.stages
                                 ? std::max<int64_t>(1, ring.copyThreads)
                                 : arrivals);
    bool byEngines = !ring.copyThreads || llvm::any_of(rings, [](const auto &other) {
      return !other.second.copyThreads;
    });
    if (isLast && (byEngines || clusterSize() > 1))
      MbarrierFenceOp::create(b, loc);
  }
  bool isShared = sharingBlocks(ring) > 1 || llvm::any_of(rings, [&](const auto &other) {
    return sharingBlocks(other.second) > 1;
  });
  if (isLast && isShared)
    ClusterBarrierOp::create(b, loc);
  else if (isLast)
    barrier(loc);
}

LogicalResult ThreadCode::ring(RingOp op) {
  auto type = cast<RingType>(op.getRing().getType());
  RingCode ring;
  ring.stages = type.getStages();
  ring.stageBytes = type.getStageBytes();
  FailureOr<std::optional<unsigned>> multicast = multicastOf(op);
  if (failed(multicast))
    return failure();
  ring.multicast = *multicast;
  FailureOr<int64_t> copyThreads = copyThreadsOf(op, threads.lanes);
  if (failed(copyThreads))
    return failure();
  ring.copyThreads = *copyThreads;
  FailureOr<int64_t> arrivals = countReleases(op, ring);
  if (failed(arrivals))
    return failure();
  for (MemRefType tile : type.getTiles())
    if (failed(addTile(op, tile, ring)))
      return failure();
  initBarriers(op, ring, *arrivals);
  rings.try_emplace(op.getRing(), std::move(ring));
  return success();
}

LogicalResult ThreadCode::enterStage(Operation *op, Value ringValue,
                                     Value position, bool empty) {
  auto found = rings.find(ringValue);
  if (found == rings.end())
    return op->emitOpError() << "has no ring";
  const RingCode &ring = found->second;
  Location loc = op->getLoc();
  if (auto acquire = dyn_cast<AcquireOp>(op); !acquire || !acquire.getKnownEmpty()) {
    Value at = materialize(loc, mapped(OpFoldResult(position)));
    Value round = arith::DivUIOp::create(b, loc, at, constant(loc, ring.stages));
    if (empty)
      round = arith::AddIOp::create(b, loc, round, constant(loc, 1));
    Value parity = arith::RemUIOp::create(b, loc, round, constant(loc, 2));
    MbarrierWaitOp::create(b, loc, ring.barriers,
                           stageOf(loc, ring, position, empty), parity);
    if (!empty && ring.copyThreads)
      ProxyFenceOp::create(b, loc);
  }
  Value stage = stageOf(loc, ring, position, /*empty=*/false);
  for (auto [result, tile, elements] :
       llvm::zip_equal(op->getResults(), ring.tiles, ring.tileElements)) {
    MemView view = tile;
    view.offset = multiply(loc, Index(stage), Index(elements));
    defineView(result, view);
  }
  return success();
}

LogicalResult ThreadCode::fill(FillOp op) {
  auto ring = rings.find(op.getRing());
  if (ring == rings.end())
    return op.emitOpError() << "has no ring";
  Location loc = op.getLoc();
  bool byThreads = ring->second.copyThreads;
  OpBuilder::InsertionGuard guard(b);
  if (!byThreads)
    enterOneThread(loc);
  MbarrierArriveOp::create(
      b, loc, ring->second.barriers,
      stageOf(loc, ring->second, op.getPosition(), /*empty=*/false),
      /*block=*/Value(),
      byThreads ? IntegerAttr() : b.getI64IntegerAttr(ring->second.stageBytes), byThreads);
  return success();
}

LogicalResult ThreadCode::release(ReleaseOp op) {
  auto ring = rings.find(op.getRing());
  if (ring == rings.end())
    return op.emitOpError() << "has no ring";
  Location loc = op.getLoc();
  // One lane for each warp and each block that copies to this one.
  int64_t blocks = sharingBlocks(ring->second);
  Value says = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, laneId,
                                     constant(loc, blocks));
  auto branch = scf::IfOp::create(b, loc, says, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  MbarrierArriveOp::create(
      b, loc, ring->second.barriers,
      stageOf(loc, ring->second, op.getPosition(), /*empty=*/true),
      blocks > 1 ? blockAlong(loc, *ring->second.multicast, laneId) : Value(),
      IntegerAttr());
  return success();
}
