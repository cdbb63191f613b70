// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and stores of tiles by copy engines, in thread form: boxes of tensor maps,
// each started by one thread.
//
//   tilewright.tile_copy %A[%i, %k] to %a
//     -> tensor_copy %map[%i, %k] to %tiles[%stage * 8192], %bars[…]
//   tilewright.tile_copy %pixels[%m, %r, %s, %c] to %a          // pixels of images
//     -> %oh, %ow = … of %m; tensor_copy %map[%n, %oh, %ow, %c] offsets[%r, %s] to …
//
//   tilewright.tile_store %sums to %C[%i, %j]
//     -> for each piece of 64 rows as wide as a swizzle: the warpgroup's threads write
//        it to shared memory; tensor_store %map[…] from %pieces[…]

#include "Matrices.h"
#include "Swizzle.h"
#include "ThreadCode.h"
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

/// The number among the kernel's buffers of what a copy engine reads or writes.
static FailureOr<int64_t> bufferOf(Operation *op, Value memory) {
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

/// The place of `indices`: a pixel, taps, and a channel.
static PixelPlace placeOf(ThreadCode &code, Location loc, ImageAttr image,
                          ArrayRef<Index> indices) {
  // Digits of the pixel's number, the last dim of space first.
  Value rest = code.materialize(loc, indices.front());
  SmallVector<Value> at;
  for (size_t dim = image.getPlaces().size(); dim-- > 0;) {
    Value places = code.constant(loc, image.getPlaces()[dim]);
    Value number = arith::RemUIOp::create(code.b, loc, rest, places);
    Index first = code.multiply(loc, Index(number), Index(image.getSteps()[dim]));
    at.push_back(code.materialize(loc, code.add(loc, first, Index(image.getLower()[dim]))));
    rest = arith::DivUIOp::create(code.b, loc, rest, places);
  }
  PixelPlace place;
  place.coordinates.push_back(rest);
  llvm::append_range(place.coordinates, llvm::reverse(at));
  place.coordinates.push_back(code.materialize(loc, indices.back()));
  for (auto [tap, dilation] : llvm::zip_equal(image.getTaps(), image.getDilations()))
    place.offsets.push_back(code.materialize(
        loc, tap ? code.multiply(loc, indices[tap], Index(dilation)) : Index(0)));
  return place;
}

static StorePiece pieceOf(VectorType tile) {
  return storePieceOf(tile.getDimSize(1), elementBytes(tile.getElementType()));
}

static FailureOr<TensorMapAttr> tensorMapOf(TileStoreOp op) {
  FailureOr<int64_t> operand = bufferOf(op, op.getDest());
  if (failed(operand))
    return failure();
  StorePiece piece = pieceOf(cast<VectorType>(op.getValue().getType()));
  SmallVector<int64_t> box(cast<MemRefType>(op.getDest().getType()).getRank(), 1);
  box[box.size() - 2] = piece.rows;
  box.back() = piece.columns;
  return TensorMapAttr::get(
      op.getContext(), *operand, box, piece.rowBytes,
      getMergedDims(op->getParentOfType<func::FuncOp>(), *operand), ImageAttr());
}

FailureOr<SmallVector<Attribute>>
tilewright::tensorMapArguments(func::FuncOp source) {
  SmallVector<Attribute> maps;
  WalkResult walk = source.walk([&](Operation *op) {
    FailureOr<TensorMapAttr> map;
    if (auto copy = dyn_cast<TileCopyOp>(op); copy && !copy.getByThreads())
      map = tensorMapOf(copy);
    else if (auto store = dyn_cast<TileStoreOp>(op))
      map = tensorMapOf(store);
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
  auto acquire = op.getDest().getDefiningOp<AcquireOp>();
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
      place = placeOf(*this, loc, map->getImage(), indices);
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

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Whether each warp of a warpgroup holds 16 of its 64 rows, in 8x8 matrices.
static bool isSumsOfWarpgroups(const DistributedLayout &layout) {
  if (layout.isOpaque() || layout.rank() != 2)
    return false;
  std::optional<MatrixDims> dims = matchMatrices(layout, 2);
  std::vector<layout::DigitTerm> warps = layout.forwardTerms(layout::Level::Warp);
  return dims && dims->row == 0 && dims->pair == 1 && !warps.empty() &&
         warps[0].div == 1 && warps[0].mod == 4 && warps[0].multiplier == 16 &&
         warps[0].dim == 0;
}

namespace {
/// The way of a tile of sums through shared memory. Two pieces take turns, in each of
/// which every warpgroup has 64 rows, every warp 16.
struct Staging {
  StorePiece piece;
  MemView memory;
  /// Elements of the pieces of all warpgroups.
  int64_t elements;
  Type element;
};
} // namespace

/// Writes registers (pairs of neighbours, in order) into turn `turn`: `offsets` has
/// the first element of each pair's matrix in the warp's rows of the piece.
static void writePiece(ThreadCode &code, Location loc, const Staging &staging,
                       ArrayRef<SmallVector<Value>> pairs, ArrayRef<int64_t> offsets,
                       int64_t turn) {
  OpBuilder &b = code.b;
  int64_t columns = staging.piece.columns, size = matricesAtOnce(offsets);
  bool asMatrices = staging.element.getIntOrFloatBitWidth() == 16;
  Index base(0);
  int64_t bits = 0;
  auto addDigit = [&](Value of, int64_t div, int64_t mod, int64_t multiplier) {
    Value digit = arith::DivUIOp::create(b, loc, of, code.constant(loc, div));
    digit = arith::RemUIOp::create(b, loc, digit, code.constant(loc, mod));
    base = code.add(loc, base, code.multiply(loc, Index(digit), Index(multiplier)));
    bits |= (mod - 1) * multiplier;
  };
  addDigit(code.warp(), 1, llvm::PowerOf2Ceil(code.threads.warps), 16 * columns);
  if (asMatrices) {
    addDigit(code.lane(), 1, 8, columns);
    if (size >= 2)
      addDigit(code.lane(), 8, 2, offsets[1] - offsets[0]);
    if (size == 4)
      addDigit(code.lane(), 16, 2, offsets[2] - offsets[0]);
  } else {
    addDigit(code.lane(), 4, 8, columns);
    addDigit(code.lane(), 1, 4, 2);
    size = 1;
  }
  SharedOffsets shared(code, loc, staging.memory, base, bits);
  for (size_t first = 0; first < offsets.size(); first += size) {
    Value at = shared.at(turn * staging.elements + offsets[first]);
    SmallVector<Value> values;
    for (const SmallVector<Value> &pair : pairs.slice(first, size))
      llvm::append_range(values, pair);
    if (asMatrices)
      StoreMatricesOp::create(b, loc, values, staging.memory.base, at);
    else
      code.store(loc, staging.memory, at, values);
  }
}

LogicalResult ThreadCode::tileStore(TileStoreOp op) {
  Location loc = op.getLoc();
  FailureOr<DistributedLayout> layout = getLayout(op.getValue());
  FailureOr<Registers> values = registers(op.getValue());
  FailureOr<TensorMapAttr> map = tensorMapOf(op);
  if (failed(layout) || failed(values) || failed(map))
    return failure();
  auto type = cast<VectorType>(op.getValue().getType());
  constexpr int64_t kTurns = StorePiece::kTurns;
  Staging staging;
  StorePiece &piece = staging.piece = pieceOf(type);
  int64_t groups = threads.warps / 4;
  if (threads.warps % 4 || type.getDimSize(0) % (groups * piece.rows) ||
      !isSumsOfWarpgroups(*layout))
    return op.emitOpError() << "is for the sums of whole warpgroups, in layouts of "
                               "their instructions";
  int64_t rows = type.getDimSize(0) / groups; // of a warpgroup
  staging.element = type.getElementType();
  staging.elements = groups * piece.rows * piece.columns;
  Value &memory = pieces[staging.element];
  // Nothing was stored from the memory before.
  bool isUnused = !memory && !op->getParentOfType<LoopLikeOpInterface>();
  if (!memory) {
    memory = sharedMemory(loc, staging.element, kTurns * staging.elements);
    memory.getDefiningOp<memref::AllocOp>().setAlignment(8 * piece.rowBytes);
  }
  staging.memory.base = memory;
  staging.memory.shared = swizzledRows(b.getContext(), piece.rowBytes,
                                       elementBytes(staging.element));
  staging.memory.element = staging.element;
  staging.memory.offsetDivisor = staging.elements;

  // The pairs of each piece, by row and column of the piece in the warpgroup's tile.
  struct Content {
    SmallVector<SmallVector<Value>> pairs;
    SmallVector<int64_t> offsets;
  };
  std::map<std::pair<int64_t, int64_t>, Content> contents;
  for (int64_t reg = 0; reg < layout->numRegisters(); reg += 2) {
    std::vector<int64_t> at = layout->registerOffset(reg);
    Content &content = contents[{at[0] / piece.rows, at[1] / piece.columns}];
    content.pairs.push_back({(*values)[reg], (*values)[reg + 1]});
    content.offsets.push_back(at[0] % piece.rows * piece.columns +
                              at[1] % piece.columns);
  }
  Value group = groups == 1 ? constant(loc, 0)
                            : arith::DivUIOp::create(b, loc, warp(), constant(loc, 4))
                                  .getResult();
  int64_t turn = 0;
  for (auto &[number, content] : contents) {
    // What was stored from this memory before has been read. Of an odd number of pieces
    // the first follows upon one in the same memory.
    if (!isUnused || turn >= kTurns) {
      {
        OpBuilder::InsertionGuard guard(b);
        enterOneOfGroup(loc);
        bool followsItself = turn == 0 && contents.size() % kTurns;
        StoreWaitOp::create(b, loc, followsItself ? 0 : kTurns - 1);
      }
      if (failed(groupBarrier(op, group)))
        return failure();
    }
    writePiece(*this, loc, staging, content.pairs, content.offsets, turn % kTurns);
    ProxyFenceOp::create(b, loc);
    if (failed(groupBarrier(op, group)))
      return failure();
    OpBuilder::InsertionGuard guard(b);
    enterOneOfGroup(loc);
    SmallVector<Value> coordinates;
    for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
      Index coordinate = mapped(OpFoldResult(index));
      if (dim + 2 == op.getIndices().size())
        coordinate = add(loc, add(loc, coordinate, Index(number.first * piece.rows)),
                         multiply(loc, Index(group), Index(rows)));
      if (dim + 1 == op.getIndices().size())
        coordinate = add(loc, coordinate, Index(number.second * piece.columns));
      coordinates.push_back(materialize(loc, coordinate));
    }
    Index source = add(loc, Index(turn % kTurns * staging.elements),
                       multiply(loc, Index(group), Index(piece.rows * piece.columns)));
    TensorStoreOp::create(b, loc, tensorMaps.lookup(*map), coordinates, memory,
                          materialize(loc, source));
    StoreCommitOp::create(b, loc);
    ++turn;
  }
  return success();
}
