// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of sums on their way to memory, and tiles that lie beside them on their way from
// it, by copy engines: in pieces of 64 rows as wide as a swizzle, of which each warpgroup
// has two in shared memory.
//
//   tilewright.tile_store %sums to %C[%i, %j]
//     -> for each piece: the warpgroup's threads write it to shared memory;
//        tensor_store %map[…] from %pieces[…]
//   %r = tilewright.tile_load %R[%i, %j] through %ring[%count]
//     -> for each piece: tensor_copy %map[…] to %pieces[…]; the warpgroup's threads read it
//        as ldmatrix gives it, or two elements at a time, two pieces behind the copy

#include "Matrices.h"
#include "Swizzle.h"
#include "ThreadCode.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

static StorePiece pieceOf(VectorType tile) {
  return storePieceOf(tile.getDimSize(1), elementBytes(tile.getElementType()));
}

FailureOr<TensorMapAttr> tilewright::pieceMapOf(Operation *op, Value memory, Type tile) {
  FailureOr<int64_t> operand = bufferOf(op, memory);
  if (failed(operand))
    return failure();
  StorePiece piece = pieceOf(cast<VectorType>(tile));
  SmallVector<int64_t> box(cast<MemRefType>(memory.getType()).getRank(), 1);
  box[box.size() - 2] = piece.rows;
  box.back() = piece.columns;
  return TensorMapAttr::get(
      op->getContext(), *operand, box, piece.rowBytes,
      getMergedDims(op->getParentOfType<func::FuncOp>(), *operand), ImageAttr());
}

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
/// The pairs of registers of a piece: the first one's number, and where the pair's matrix
/// begins in the warp's rows of the piece.
struct Content {
  SmallVector<int64_t> pairs, offsets;
};

/// The way of a tile through shared memory. Two pieces take turns, in each of which every
/// warpgroup has 64 rows, every warp 16.
struct Staging {
  StorePiece piece;
  MemView memory;
  Type element;
  /// Elements of the pieces of all warpgroups.
  int64_t elements = 0;
  /// Warpgroups, and rows of the tile of each.
  int64_t groups = 1, rows = 0;
  /// By row and column of the piece in a warpgroup's tile.
  std::map<std::pair<int64_t, int64_t>, Content> contents;

  /// Whether ldmatrix and stmatrix move them.
  bool asMatrices() const { return element.getIntOrFloatBitWidth() == 16; }
};
} // namespace

/// Where the first element of each pair's matrix lies that this thread moves: `offsets` has
/// it in the warp's rows of a piece.
static SharedOffsets offsetsOf(ThreadCode &code, Location loc, const Staging &staging,
                               ArrayRef<int64_t> offsets) {
  OpBuilder &b = code.b;
  int64_t columns = staging.piece.columns, size = matricesAtOnce(offsets);
  Index base(0);
  int64_t bits = 0;
  auto addDigit = [&](Value of, int64_t div, int64_t mod, int64_t multiplier) {
    Value digit = arith::DivUIOp::create(b, loc, of, code.constant(loc, div));
    digit = arith::RemUIOp::create(b, loc, digit, code.constant(loc, mod));
    base = code.add(loc, base, code.multiply(loc, Index(digit), Index(multiplier)));
    bits |= (mod - 1) * multiplier;
  };
  addDigit(code.warp(), 1, llvm::PowerOf2Ceil(code.threads.warps), 16 * columns);
  if (staging.asMatrices()) {
    addDigit(code.lane(), 1, 8, columns);
    if (size >= 2)
      addDigit(code.lane(), 8, 2, offsets[1] - offsets[0]);
    if (size == 4)
      addDigit(code.lane(), 16, 2, offsets[2] - offsets[0]);
  } else {
    addDigit(code.lane(), 4, 8, columns);
    addDigit(code.lane(), 1, 4, 2);
  }
  return SharedOffsets(code, loc, staging.memory, base, bits);
}

/// Writes registers (pairs of neighbours, in order) into turn `turn`.
static void writePiece(ThreadCode &code, Location loc, const Staging &staging,
                       const Content &content, ArrayRef<Value> registers, int64_t turn) {
  OpBuilder &b = code.b;
  ArrayRef<int64_t> offsets = content.offsets;
  SharedOffsets shared = offsetsOf(code, loc, staging, offsets);
  size_t size = staging.asMatrices() ? matricesAtOnce(offsets) : 1;
  for (size_t first = 0; first < offsets.size(); first += size) {
    Value at = shared.at(turn * staging.elements + offsets[first]);
    SmallVector<Value> values;
    for (int64_t pair : ArrayRef(content.pairs).slice(first, size))
      llvm::append_range(values, registers.slice(pair, 2));
    if (staging.asMatrices())
      StoreMatricesOp::create(b, loc, values, staging.memory.base, at);
    else
      code.store(loc, staging.memory, at, values);
  }
}

/// Reads them from there.
static void readPiece(ThreadCode &code, Location loc, const Staging &staging,
                      const Content &content, MutableArrayRef<Value> registers,
                      int64_t turn) {
  ArrayRef<int64_t> offsets = content.offsets;
  SharedOffsets shared = offsetsOf(code, loc, staging, offsets);
  size_t size = staging.asMatrices() ? matricesAtOnce(offsets) : 1;
  SmallVector<Type> types(2 * size, staging.element);
  for (size_t first = 0; first < offsets.size(); first += size) {
    Value at = shared.at(turn * staging.elements + offsets[first]);
    SmallVector<Value> values =
        staging.asMatrices()
            ? llvm::to_vector_of<Value>(
                  LoadMatricesOp::create(code.b, loc, types, staging.memory.base, at,
                                         /*transposed=*/false)
                      .getResults())
            : code.load(loc, staging.memory, at, 2);
    for (auto [number, value] : llvm::enumerate(values))
      registers[content.pairs[first + number / 2] + number % 2] = value;
  }
}

/// How tiles of `type` go through shared memory.
static FailureOr<Staging> stagingOf(ThreadCode &code, Operation *op, VectorType type,
                                    const DistributedLayout &layout) {
  Staging staging;
  StorePiece &piece = staging.piece = pieceOf(type);
  int64_t groups = code.threads.warps / 4;
  if (code.threads.warps % 4 || type.getDimSize(0) % (groups * piece.rows) ||
      !isSumsOfWarpgroups(layout))
    return op->emitOpError() << "is for the sums of whole warpgroups, in layouts of "
                                "their instructions";
  staging.groups = groups;
  staging.rows = type.getDimSize(0) / groups;
  staging.element = type.getElementType();
  staging.elements = groups * piece.rows * piece.columns;
  staging.memory.shared = swizzledRows(code.b.getContext(), piece.rowBytes,
                                       elementBytes(staging.element));
  staging.memory.element = staging.element;
  staging.memory.offsetDivisor = staging.elements;
  for (int64_t reg = 0; reg < layout.numRegisters(); reg += 2) {
    std::vector<int64_t> at = layout.registerOffset(reg);
    Content &content = staging.contents[{at[0] / piece.rows, at[1] / piece.columns}];
    content.pairs.push_back(reg);
    content.offsets.push_back(at[0] % piece.rows * piece.columns +
                              at[1] % piece.columns);
  }
  return staging;
}

/// The number of the current warpgroup.
static Value groupOf(ThreadCode &code, Location loc, const Staging &staging) {
  if (staging.groups == 1)
    return code.constant(loc, 0);
  return arith::DivUIOp::create(code.b, loc, code.warp(), code.constant(loc, 4));
}

/// Where a piece of `group` begins in global memory, of a tile at `indices`.
static SmallVector<Value> coordinatesOf(ThreadCode &code, Location loc,
                                        const Staging &staging, OperandRange indices,
                                        std::pair<int64_t, int64_t> number, Value group) {
  SmallVector<Value> coordinates;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Index coordinate = code.mapped(OpFoldResult(index));
    if (dim + 2 == indices.size())
      coordinate = code.add(
          loc, code.add(loc, coordinate, Index(number.first * staging.piece.rows)),
          code.multiply(loc, Index(group), Index(staging.rows)));
    if (dim + 1 == indices.size())
      coordinate =
          code.add(loc, coordinate, Index(number.second * staging.piece.columns));
    coordinates.push_back(code.materialize(loc, coordinate));
  }
  return coordinates;
}

/// Where it lies in shared memory, in elements.
static Value placeOf(ThreadCode &code, Location loc, const Staging &staging, int64_t turn,
                     Value group) {
  Index place = code.add(
      loc, Index(turn * staging.elements),
      code.multiply(loc, Index(group), Index(staging.piece.rows * staging.piece.columns)));
  return code.materialize(loc, place);
}

LogicalResult ThreadCode::tileStore(TileStoreOp op) {
  Location loc = op.getLoc();
  FailureOr<DistributedLayout> layout = getLayout(op.getValue());
  FailureOr<Registers> values = registers(op.getValue());
  FailureOr<TensorMapAttr> map = pieceMapOf(op, op.getDest(), op.getValue().getType());
  if (failed(layout) || failed(values) || failed(map))
    return failure();
  FailureOr<Staging> staging =
      stagingOf(*this, op, cast<VectorType>(op.getValue().getType()), *layout);
  if (failed(staging))
    return failure();
  constexpr int64_t kTurns = StorePiece::kTurns;
  Value &memory = pieces[staging->element];
  // Nothing was stored from the memory before; or what was loaded into it since then each
  // warp has read, of the rows that it writes.
  bool isUnused = (!memory && !op->getParentOfType<LoopLikeOpInterface>()) ||
                  loadedPieces.erase(staging->element);
  if (!memory) {
    memory = sharedMemory(loc, staging->element, kTurns * staging->elements);
    memory.getDefiningOp<memref::AllocOp>().setAlignment(8 * staging->piece.rowBytes);
  }
  staging->memory.base = memory;
  Value group = groupOf(*this, loc, *staging);
  int64_t turn = 0;
  for (auto &[number, content] : staging->contents) {
    // What was stored from this memory before has been read. Of an odd number of pieces
    // the first follows upon one in the same memory.
    if (!isUnused || turn >= kTurns) {
      {
        OpBuilder::InsertionGuard guard(b);
        enterOneOfGroup(loc);
        bool followsItself = turn == 0 && staging->contents.size() % kTurns;
        StoreWaitOp::create(b, loc, followsItself ? 0 : kTurns - 1);
      }
      if (failed(groupBarrier(op, group)))
        return failure();
    }
    writePiece(*this, loc, *staging, content, *values, turn % kTurns);
    ProxyFenceOp::create(b, loc);
    if (failed(groupBarrier(op, group)))
      return failure();
    OpBuilder::InsertionGuard guard(b);
    enterOneOfGroup(loc);
    SmallVector<Value> coordinates =
        coordinatesOf(*this, loc, *staging, op.getIndices(), number, group);
    TensorStoreOp::create(b, loc, tensorMaps.lookup(*map), coordinates, memory,
                          placeOf(*this, loc, *staging, turn % kTurns, group));
    StoreCommitOp::create(b, loc);
    ++turn;
  }
  return success();
}

/// Whether tiles are stored from the memory that `load` brings its tile to, before it.
static bool mayBeStored(TileLoadOp load) {
  Type element = getElementTypeOrSelf(load.getValue().getType());
  auto loop = load->getParentOfType<LoopLikeOpInterface>();
  WalkResult walk = load->getParentOfType<func::FuncOp>().walk([&](TileStoreOp store) {
    bool isBefore = loop || (store->getBlock() == load->getBlock() &&
                             store->isBeforeInBlock(load));
    return isBefore && getElementTypeOrSelf(store.getValue().getType()) == element
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

LogicalResult ThreadCode::tileLoad(TileLoadOp op) {
  Location loc = op.getLoc();
  auto type = cast<VectorType>(op.getValue().getType());
  FailureOr<DistributedLayout> layout = getLayout(op.getValue());
  FailureOr<TensorMapAttr> map = pieceMapOf(op, op.getSource(), type);
  auto ring = rings.find(op.getRing());
  if (failed(layout) || failed(map))
    return failure();
  if (ring == rings.end())
    return op.emitOpError() << "has no ring";
  FailureOr<Staging> staging = stagingOf(*this, op, type, *layout);
  if (failed(staging))
    return failure();
  constexpr int64_t kTurns = StorePiece::kTurns;
  Value barriers = ring->second.barriers;
  staging->memory.base = ring->second.tiles.front().base;
  pieces[staging->element] = staging->memory.base;
  int64_t count = staging->contents.size();
  SmallVector<std::pair<int64_t, int64_t>> numbers;
  for (auto &[number, content] : staging->contents)
    numbers.push_back(number);
  Value group = groupOf(*this, loc, *staging);
  auto barrierOf = [&](int64_t piece) {
    return materialize(
        loc, add(loc, Index(piece % kTurns * staging->groups), Index(group)));
  };
  // By one thread of the warpgroup.
  auto copy = [&](int64_t piece) {
    Value barrier = barrierOf(piece);
    MbarrierArriveOp::create(
        b, loc, barriers, barrier, /*block=*/Value(),
        b.getI64IntegerAttr(staging->piece.rows * staging->piece.rowBytes),
        /*after_copies=*/false);
    TensorCopyOp::create(
        b, loc, tensorMaps.lookup(*map),
        coordinatesOf(*this, loc, *staging, op.getIndices(), numbers[piece], group),
        /*offsets=*/ValueRange(), staging->memory.base,
        placeOf(*this, loc, *staging, piece % kTurns, group), barriers, barrier,
        /*blocks=*/Value());
  };
  // What a load before has brought all warps have read. Stores stand between the loads of
  // two tiles, with barriers; what was stored from the memory has been read.
  bool follows = !loadedPieces.insert(staging->element).second;
  if (follows && failed(groupBarrier(op, group)))
    return failure();
  {
    OpBuilder::InsertionGuard guard(b);
    enterOneOfGroup(loc);
    if (!follows && mayBeStored(op))
      StoreWaitOp::create(b, loc, 0);
    for (int64_t piece = 0; piece < std::min(kTurns, count); ++piece)
      copy(piece);
  }
  Registers values(layout->numRegisters());
  for (int64_t piece = 0; piece < count; ++piece) {
    // Each turn has a phase of its barrier for each of its pieces.
    int64_t turn = piece % kTurns, each = llvm::divideCeil(count - turn, kTurns);
    Index phase = add(loc, multiply(loc, mapped(OpFoldResult(op.getPosition())), Index(each)),
                      Index(piece / kTurns));
    Value parity = arith::RemUIOp::create(b, loc, materialize(loc, phase), constant(loc, 2));
    MbarrierWaitOp::create(b, loc, barriers, barrierOf(piece), parity);
    readPiece(*this, loc, *staging, staging->contents[numbers[piece]], values, turn);
    if (piece + kTurns >= count)
      continue;
    if (failed(groupBarrier(op, group)))
      return failure();
    OpBuilder::InsertionGuard guard(b);
    enterOneOfGroup(loc);
    copy(piece + kTurns);
  }
  define(op.getValue(), values);
  return success();
}
