// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of tiles by copy engines, in thread form: boxes of tensor maps, each started by
// one thread. Those beside sums are in TilePieces.cpp.
//
//   tilewright.tile_copy %A[%i, %k] to %a
//     -> tensor_copy %map[%i, %k] to %tiles[%stage * 8192], %bars[…]
//   tilewright.tile_copy %pixels[%m, %r, %s, %c] to %a          // pixels of images
//     -> %oh, %ow = … of %m; tensor_copy %map[%n, %oh, %ow, %c] offsets[%r, %s] to …

#include "ThreadCode.h"
#include "core/tensor_map_limits.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

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
  /// Where several blocks of a cluster copy a part each: how many parts, which of
  /// `counters` or else which dim of the source is cut into them.
  int64_t parts = 1;
  std::optional<unsigned> cutCounter, cutDim;
  /// Elements of shared memory, and of the source, from part to part of a dim.
  int64_t partElements = 0, partExtent = 0;
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

/// Cuts what `boxes` are into one part for each of `parts` blocks: whole boxes, or
/// rows of a box in multiples of the eight that a swizzle goes over.
static LogicalResult cut(TileCopyOp op, int64_t parts, ArrayRef<int64_t> dimOfBox,
                         ArrayRef<int64_t> strides, Boxes &boxes) {
  constexpr int64_t kSwizzleRows = 8;
  auto dest = cast<MemRefType>(op.getDest().getType());
  boxes.parts = parts;
  for (auto [number, counter] : llvm::enumerate(boxes.counters))
    if (dest.getDimSize(counter.first) % parts == 0) {
      boxes.cutCounter = number;
      return success();
    }
  for (int64_t dim = 0; dim + 1 < int64_t(boxes.box.size()); ++dim)
    if (boxes.box[dim] % (kSwizzleRows * parts) == 0) {
      boxes.box[dim] /= parts;
      boxes.cutDim = dim;
      boxes.partExtent = boxes.box[dim];
      boxes.partElements = boxes.box[dim] * strides[dimOfBox[dim]];
      return success();
    }
  return op.emitOpError() << "of " << dest << " has no part of whole boxes for each of "
                          << parts << " blocks";
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
    if (boxes.box[dim] > tensor_map::kMaxBox)
      return op.emitOpError() << "box has " << boxes.box[dim]
                              << " elements along one dim; a tensor map takes "
                              << tensor_map::kMaxBox;
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
  auto launch =
      op->getParentOfType<func::FuncOp>()->getAttrOfType<LaunchAttr>(kLaunchAttr);
  if (std::optional<int64_t> loop = op.getMulticast()) {
    if (!launch || *loop < 0 || *loop >= int64_t(launch.getCluster().size()))
      return op.emitOpError() << "is multicast along loop " << *loop
                              << ", along which there are no clusters";
    if (failed(cut(op, launch.getCluster()[*loop], dimOfBox, strides, boxes)))
      return failure();
  }
  return boxes;
}

FailureOr<int64_t> tilewright::bufferOf(Operation *op, Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return op->emitOpError() << "copies from and to arguments of the kernel";
  return llvm::count_if(
      argument.getOwner()->getArguments().take_front(argument.getArgNumber()),
      [](BlockArgument other) { return isa<MemRefType>(other.getType()); });
}

static FailureOr<TensorMapAttr> tensorMapOf(TileCopyOp op) {
  FailureOr<int64_t> operand = bufferOf(op, op.getSource());
  FailureOr<Boxes> boxes = boxesOf(op);
  if (failed(operand) || failed(boxes))
    return failure();
  auto kernel = op->getParentOfType<func::FuncOp>();
  int64_t merged = getMergedDims(kernel, *operand);
  ImageAttr image = getImage(kernel, *operand);
  if (!image)
    return TensorMapAttr::get(op.getContext(), *operand, boxes->box, boxes->swizzle,
                              merged, image);
  if (!llvm::all_of(ArrayRef(boxes->box).drop_front().drop_back(),
                    [](int64_t extent) { return extent == 1; }))
    return op.emitOpError() << "of pixels of images has one tap of their windows";
  return TensorMapAttr::get(op.getContext(), *operand,
                            {boxes->box.front(), boxes->box.back()}, boxes->swizzle,
                            merged, image);
}

namespace {
/// Where a copy of pixels begins: as a map of images takes it.
struct PixelPlace {
  SmallVector<Value> coordinates, offsets;
};
} // namespace

/// Takes `value`, and what it is computed from, out of the loops of steps that it is the same
/// in. No compiler does that with a division by what may be zero, as far as it knows.
static void leaveLoops(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || !isMemoryEffectFree(op))
    return;
  for (Value operand : op->getOperands())
    leaveLoops(operand);
  Operation *outermost = nullptr;
  for (Operation *at = op->getParentOp(); !isa<func::FuncOp>(at); at = at->getParentOp()) {
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          return at->isAncestor(operand.getParentBlock()->getParentOp());
        }))
      break;
    if (isa<scf::ForOp>(at))
      outermost = at;
  }
  if (outermost)
    op->moveBefore(outermost);
}

/// The place of `indices`: a pixel, taps, and a channel. There are so many `places`.
static PixelPlace placeOf(ThreadCode &code, Location loc, ImageAttr image,
                          ArrayRef<Index> places, ArrayRef<Index> indices) {
  // Digits of the pixel's number, the last dim of space first.
  Value rest = code.materialize(loc, indices.front());
  SmallVector<Value> at;
  for (size_t dim = places.size(); dim-- > 0;) {
    Value count = code.materialize(loc, places[dim]);
    Value number = arith::RemUIOp::create(code.b, loc, rest, count);
    Index first = code.multiply(loc, Index(number), Index(image.getSteps()[dim]));
    at.push_back(code.materialize(loc, code.add(loc, first, Index(image.getLower()[dim]))));
    rest = arith::DivUIOp::create(code.b, loc, rest, count);
  }
  PixelPlace place;
  place.coordinates.push_back(rest);
  llvm::append_range(place.coordinates, llvm::reverse(at));
  if (ShapedType::isDynamicShape(image.getPlaces()))
    for (Value coordinate : place.coordinates)
      leaveLoops(coordinate);
  place.coordinates.push_back(code.materialize(loc, indices.back()));
  for (auto [tap, dilation] : llvm::zip_equal(image.getTaps(), image.getDilations()))
    place.offsets.push_back(code.materialize(
        loc, tap ? code.multiply(loc, indices[tap], Index(dilation)) : Index(0)));
  return place;
}

FailureOr<SmallVector<Attribute>>
tilewright::tensorMapArguments(func::FuncOp source) {
  SmallVector<Attribute> maps;
  WalkResult walk = source.walk([&](Operation *op) {
    FailureOr<TensorMapAttr> map;
    if (auto copy = dyn_cast<TileCopyOp>(op); copy && !copy.getByThreads())
      map = tensorMapOf(copy);
    else if (auto store = dyn_cast<TileStoreOp>(op))
      map = pieceMapOf(op, store.getDest(), store.getValue().getType());
    else if (auto load = dyn_cast<TileLoadOp>(op))
      map = pieceMapOf(op, load.getSource(), load.getValue().getType());
    else
      return WalkResult::advance();
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
  if (op.getByThreads())
    return copyByThreads(op);
  Location loc = op.getLoc();
  FailureOr<Boxes> boxes = boxesOf(op);
  FailureOr<TensorMapAttr> map = tensorMapOf(op);
  FailureOr<MemView> dest = view(op.getDest());
  if (failed(boxes) || failed(map) || failed(dest))
    return failure();
  AcquireOp acquire = tilewright::stageOf(op);
  auto ring = rings.find(acquire.getRing());
  if (ring == rings.end())
    return op.emitOpError() << "has no ring";
  OpBuilder::InsertionGuard guard(b);
  enterOneThread(loc);
  // The part of this block, and who gets it.
  Index part(0);
  Value blocks;
  if (boxes->parts > 1) {
    part = clusterDigit(loc, *op.getMulticast());
    blocks = clusterBlocks(loc, *op.getMulticast());
  }
  // Odometer over the boxes.
  auto tile = cast<MemRefType>(op.getDest().getType());
  SmallVector<int64_t> at(boxes->counters.size(), 0), counts;
  for (auto [number, counter] : llvm::enumerate(boxes->counters))
    counts.push_back(tile.getDimSize(counter.first) /
                     (boxes->cutCounter == number ? boxes->parts : 1));
  while (true) {
    SmallVector<Index> indices, positions;
    for (auto [number, position] : llvm::enumerate(at))
      positions.push_back(boxes->cutCounter == number
                              ? add(loc, multiply(loc, part, Index(counts[number])),
                                    Index(position))
                              : Index(position));
    Index offset = dest->offset;
    for (auto [position, counter] : llvm::zip_equal(positions, boxes->counters))
      offset = add(loc, offset,
                   multiply(loc, position, dest->strides[counter.first]));
    if (boxes->cutDim)
      offset = add(loc, offset, multiply(loc, part, Index(boxes->partElements)));
    for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
      Index coordinate = mapped(OpFoldResult(index));
      for (auto [position, counter] : llvm::zip_equal(positions, boxes->counters))
        coordinate = add(loc, coordinate,
                         multiply(loc, position, Index(counter.second[dim])));
      if (boxes->cutDim == dim)
        coordinate = add(loc, coordinate,
                         multiply(loc, part, Index(boxes->partExtent)));
      indices.push_back(coordinate);
    }
    PixelPlace place;
    if (map->getImage())
      place = placeOf(*this, loc, map->getImage(), places.lookup(map->getOperand()), indices);
    else
      for (Index index : indices)
        place.coordinates.push_back(materialize(loc, index));
    TensorCopyOp::create(
        b, loc, tensorMaps.lookup(*map), place.coordinates, place.offsets, dest->base,
        materialize(loc, offset), ring->second.barriers,
        stageOf(loc, ring->second, acquire.getPosition(), /*empty=*/false), blocks);
    size_t digit = 0;
    for (; digit < at.size(); ++digit) {
      if (++at[digit] < counts[digit])
        break;
      at[digit] = 0;
    }
    if (digit == at.size())
      return success();
  }
}
