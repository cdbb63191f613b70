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
//   tilewright.tile_copy %A[%i, %k] to %a
//     -> tensor_copy %map[%i, %k] to %tiles[%stage * 8192], %bars[…]

#include "tilewright/Dialect/Rings.h"
#include "ThreadCode.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

//===----------------------------------------------------------------------===//
// Copies by tensor maps
//===----------------------------------------------------------------------===//

namespace {
/// What one tile_copy is made of: boxes of one tensor map.
struct Boxes {
  /// Extent of a box along each dim of the source, and its distance in elements
  /// of the source from box to box along the tile's dim that counts them.
  SmallVector<int64_t> box;
  /// Dims of the tile that count boxes: dim, and for each dim of the source the
  /// elements from one box to the next.
  SmallVector<std::pair<unsigned, SmallVector<int64_t>>> counters;
  int64_t swizzle = 0;
};
} // namespace

/// Coefficients of `expr` (a sum of dims times constants) for each dim.
static std::optional<SmallVector<int64_t>> coefficients(AffineExpr expr,
                                                        unsigned dims) {
  SmallVector<int64_t> flat;
  if (failed(getFlattenedAffineExpr(expr, dims, 0, &flat)) ||
      flat.size() != dims + 1 || flat.back())
    return std::nullopt;
  flat.pop_back();
  return flat;
}

static FailureOr<Boxes> boxesOf(TileCopyOp op) {
  auto dest = cast<MemRefType>(op.getDest().getType());
  auto source = cast<MemRefType>(op.getSource().getType());
  int64_t bytes = elementBytes(dest.getElementType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(dest.getStridesAndOffset(strides, offset)))
    return op.emitOpError() << "needs strides of " << dest;
  Boxes boxes;
  SmallVector<int64_t> dimOfBox(source.getRank(), -1);
  boxes.box.assign(source.getRank(), 1);
  for (unsigned dim = 0; dim < unsigned(dest.getRank()); ++dim) {
    SmallVector<int64_t> steps;
    int64_t along = -1;
    for (auto [position, expr] : llvm::enumerate(op.getMap().getResults())) {
      auto all = coefficients(expr, dest.getRank());
      if (!all)
        return op.emitOpError()
               << "map must be of sums of dims times constants";
      steps.push_back((*all)[dim]);
      if ((*all)[dim])
        along = along < 0 ? int64_t(position) : source.getRank();
    }
    if (along < 0 || along == source.getRank())
      return op.emitOpError() << "dim " << dim
                              << " of the tile must follow one dim "
                                 "of the source";
    if (steps[along] == 1 && dimOfBox[along] < 0) {
      dimOfBox[along] = dim;
      boxes.box[along] = dest.getDimSize(dim);
    } else {
      boxes.counters.push_back({dim, steps});
    }
  }
  // A box is dense, the source's last dim fastest.
  int64_t dense = 1;
  for (int64_t dim = source.getRank() - 1; dim >= 0; --dim) {
    if (dimOfBox[dim] >= 0 && boxes.box[dim] != 1 &&
        strides[dimOfBox[dim]] != dense)
      return op.emitOpError() << "boxes lie in shared memory as they do in "
                              << source << ", rows behind one another";
    dense *= boxes.box[dim];
    if (boxes.box[dim] > 256)
      return op.emitOpError()
             << "box has " << boxes.box[dim]
             << " elements along one dim; a tensor map takes 256";
  }
  // Rows are as wide as the swizzle.
  layout::Swizzle swizzle =
      cast<SharedAttr>(dest.getMemorySpace()).getElementSwizzle();
  int64_t row = boxes.box.back() * bytes;
  if (!swizzle.isNone()) {
    boxes.swizzle = 16 << swizzle.bits;
    layout::Swizzle known = swizzle;
    known.base += llvm::Log2_64(bytes);
    if ((known != layout::swizzle128B && known != layout::swizzle64B &&
         known != layout::swizzle32B) ||
        row != boxes.swizzle)
      return op.emitOpError()
             << "rows of " << row
             << " bytes are not swizzled as "
                "copy engines do: by 32, 64 or 128 bytes, which is "
                "how long rows then are";
  }
  return boxes;
}

static FailureOr<TensorMapAttr> tensorMapOf(TileCopyOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getSource());
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return op.emitOpError() << "copies from an argument of the kernel";
  FailureOr<Boxes> boxes = boxesOf(op);
  if (failed(boxes))
    return failure();
  int64_t operand = 0;
  for (BlockArgument other : argument.getOwner()->getArguments()) {
    if (other == argument)
      break;
    operand += isa<MemRefType>(other.getType());
  }
  return TensorMapAttr::get(op.getContext(), operand, boxes->box,
                            boxes->swizzle);
}

FailureOr<SmallVector<Attribute>>
tilewright::tensorMapArguments(func::FuncOp source) {
  SmallVector<Attribute> maps;
  WalkResult walk = source.walk([&](TileCopyOp op) {
    FailureOr<TensorMapAttr> map = tensorMapOf(op);
    if (failed(map))
      return WalkResult::interrupt();
    if (!llvm::is_contained(maps, *map))
      maps.push_back(*map);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return maps;
}

LogicalResult ThreadCode::tileCopy(TileCopyOp op) {
  Location loc = op.getLoc();
  FailureOr<Boxes> boxes = boxesOf(op);
  FailureOr<TensorMapAttr> map = tensorMapOf(op);
  FailureOr<MemView> dest = view(op.getDest());
  if (failed(boxes) || failed(map) || failed(dest))
    return failure();
  auto acquire = op.getDest().getDefiningOp<AcquireOp>();
  auto ring = rings.find(acquire.getRing());
  if (ring == rings.end())
    return op.emitOpError() << "has no ring";
  OpBuilder::InsertionGuard guard(b);
  enterOneThread(loc);
  // Odometer over the boxes.
  SmallVector<int64_t> at(boxes->counters.size(), 0);
  auto tile = cast<MemRefType>(op.getDest().getType());
  while (true) {
    SmallVector<Value> coordinates;
    Index offset = dest->offset;
    for (auto [position, counter] : llvm::zip_equal(at, boxes->counters))
      offset =
          add(loc, offset,
              multiply(loc, Index(position), dest->strides[counter.first]));
    for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
      Index coordinate = mapped(OpFoldResult(index));
      for (auto [position, counter] : llvm::zip_equal(at, boxes->counters))
        coordinate =
            add(loc, coordinate, Index(position * counter.second[dim]));
      coordinates.push_back(materialize(loc, coordinate));
    }
    TensorCopyOp::create(
        b, loc, tensorMaps.lookup(*map), coordinates, dest->base,
        materialize(loc, offset), ring->second.barriers,
        stageOf(loc, ring->second, acquire.getPosition(), /*empty=*/false));
    size_t digit = 0;
    for (; digit < at.size(); ++digit) {
      if (++at[digit] < tile.getDimSize(boxes->counters[digit].first))
        break;
      at[digit] = 0;
    }
    if (digit == at.size())
      return success();
  }
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

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

LogicalResult ThreadCode::ring(RingOp op) {
  Location loc = op.getLoc();
  auto type = cast<RingType>(op.getRing().getType());
  RingCode ring;
  ring.stages = type.getStages();
  // A stage is empty when every warp that reads it has said so.
  llvm::SmallSetVector<WarpsOp, 2> consumers;
  int64_t arrivals = 0;
  for (Operation *user : op.getRing().getUsers())
    if (isa<ReleaseOp>(user)) {
      auto warps = user->getParentOfType<WarpsOp>();
      if (!warps)
        return user->emitOpError()
               << "stands in the 'tilewright.warps' of a consumer";
      if (consumers.insert(warps))
        arrivals += warps.getCount();
    }
  if (!arrivals)
    return op.emitOpError() << "has no consumer that releases its stages";
  for (MemRefType tile : type.getTiles()) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(tile.getStridesAndOffset(strides, offset)))
      return op.emitOpError() << "needs strides of " << tile;
    MemView view;
    auto space = cast<SharedAttr>(tile.getMemorySpace());
    int64_t bytes = elementBytes(tile.getElementType());
    int64_t elements = tile.getNumElements();
    view.base =
        sharedMemory(loc, tile.getElementType(), elements * ring.stages);
    // The hardware swizzles addresses: what is swizzled begins where a pattern
    // does.
    int64_t period = space.getElementSwizzle().isNone()
                         ? 128
                         : space.getElementSwizzle().period() * bytes;
    if (elements * bytes % period)
      return op.emitOpError()
             << "tile " << tile << " is no multiple of " << period << " bytes";
    view.base.getDefiningOp<memref::AllocOp>().setAlignment(
        std::max<int64_t>(period, 128));
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
  }
  ring.stageBytes = type.getStageBytes();
  ring.barriers = sharedMemory(loc, b.getI64Type(), 2 * ring.stages);
  {
    OpBuilder::InsertionGuard guard(b);
    enterOneThread(loc);
    for (int64_t stage = 0; stage < 2 * ring.stages; ++stage)
      MbarrierInitOp::create(b, loc, ring.barriers, constant(loc, stage),
                             stage < ring.stages ? 1 : arrivals);
    MbarrierFenceOp::create(b, loc);
  }
  barrier(loc);
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
  Value at = materialize(loc, mapped(OpFoldResult(position)));
  Value round = arith::DivUIOp::create(b, loc, at, constant(loc, ring.stages));
  if (empty)
    round = arith::AddIOp::create(b, loc, round, constant(loc, 1));
  Value parity = arith::RemUIOp::create(b, loc, round, constant(loc, 2));
  MbarrierWaitOp::create(b, loc, ring.barriers,
                         stageOf(loc, ring, position, empty), parity);
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
  OpBuilder::InsertionGuard guard(b);
  enterOneThread(loc);
  MbarrierArriveOp::create(
      b, loc, ring->second.barriers,
      stageOf(loc, ring->second, op.getPosition(), /*empty=*/false),
      b.getI64IntegerAttr(ring->second.stageBytes));
  return success();
}

LogicalResult ThreadCode::release(ReleaseOp op) {
  auto ring = rings.find(op.getRing());
  if (ring == rings.end())
    return op.emitOpError() << "has no ring";
  Location loc = op.getLoc();
  // One lane for each warp.
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, laneId,
                                      constant(loc, 0));
  auto branch = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  MbarrierArriveOp::create(
      b, loc, ring->second.barriers,
      stageOf(loc, ring->second, op.getPosition(), /*empty=*/true),
      IntegerAttr());
  return success();
}
