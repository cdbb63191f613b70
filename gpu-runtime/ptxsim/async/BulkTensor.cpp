// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of tiles that a tensor map describes. Elements outside the tensor read as zero (or NaN) and are not written;
// all bytes of the tile count for the mbarrier.
//
// A tile is rows along dim 0. Tiled: the rows of a box, dim 1 first. im2col: a row per pixel; the pixels follow each other
// along W within the bounding box, then H, D and N, from where the instruction says, by the strides of the elements; the
// instruction's offsets move each of them.

#include "async/Bulk.h"
#include "async/BulkMove.h"
#include "async/BulkOp.h"
#include "async/TensorMap.h"
#include "machine/GlobalTraffic.h"

#include <algorithm>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

constexpr unsigned pieceBytes = 16;

/// The rows of a tile: where their first element is, and whether they are inside in dims 1 and up.
class TileRows {
public:
  TileRows(const PendingBulk &copy) : map(*copy.map) {
    uint32_t count = copy.bytes / map.rowBytes();
    int64_t at[TensorMap::maxRank];
    std::copy(copy.coordinates, copy.coordinates + TensorMap::maxRank, at);
    for (uint32_t row = 0; row < count; ++row) {
      if (map.isIm2col)
        addRow(at, copy.offsets);
      else
        addTiledRow(copy.coordinates, row);
      if (map.isIm2col)
        nextPixel(at);
    }
  }

  struct TileRow {
    uint64_t address;
    bool inside;
  };
  std::vector<TileRow> rows;

private:
  void addTiledRow(const int32_t *corner, uint32_t number) {
    int64_t at[TensorMap::maxRank];
    for (unsigned d = 1; d < map.rank; ++d) {
      at[d] = corner[d] + int64_t(number % map.tileDim(d)) * map.elementStrides[d];
      number /= map.tileDim(d);
    }
    static constexpr uint16_t none[3] = {};
    addRow(at, none);
  }

  void addRow(const int64_t *at, const uint16_t *offsets) {
    TileRow row = {map.address, true};
    for (unsigned d = 1; d < map.rank; ++d) {
      int64_t place = at[d] + (map.isIm2col && d + 1 < map.rank ? offsets[d - 1] : 0);
      row.inside &= place >= 0 && static_cast<uint64_t>(place) < map.dim(d);
      row.address += static_cast<uint64_t>(place) * map.stride(d);
    }
    rows.push_back(row);
  }

  void nextPixel(int64_t *at) const {
    for (unsigned d = 1; d + 1 < map.rank; ++d) {
      at[d] += map.elementStrides[d];
      if (at[d] < static_cast<int64_t>(map.dim(d)) + map.upper[d - 1])
        return;
      at[d] = map.lower[d - 1];
    }
    ++at[map.rank - 1];
  }

  const TensorMap &map;
};

/// The rows of a tile as far as they are inside the tensor: one request of global memory.
void countGlobal(ExecContext &context, const PendingBulk &copy, TrafficWay way) {
  if (!context.grid->globalTraffic || !copy.isCounted)
    return;
  const TensorMap &map = *copy.map;
  constexpr int64_t none = 0;
  int64_t width = map.rowBytes() / map.elementBytes, column = copy.coordinates[0];
  int64_t begin = std::clamp(-column, none, width);
  int64_t end = std::clamp(static_cast<int64_t>(map.dim(0)) - column, none, width);
  std::vector<GlobalTraffic::Range> ranges;
  for (const TileRows::TileRow &row : TileRows(copy).rows) {
    auto at = [&](int64_t element) { return row.address + static_cast<uint64_t>((column + element) * map.elementBytes); };
    if (row.inside && begin < end)
      ranges.push_back({at(begin), at(end)});
  }
  context.grid->globalTraffic->count(context, *copy.inst, way, ranges.data(), static_cast<unsigned>(ranges.size()));
}

/// Sixteen bytes of a tile: consecutive elements of a row, those from `begin` to `end` inside the tensor.
struct Piece {
  uint32_t shared = 0;
  uint64_t global = 0;
  unsigned begin = 0, end = 0;
};

template <typename Callable> bool forEachPiece(const PendingBulk &copy, Callable callable) {
  const TensorMap &map = *copy.map;
  TileRows tile(copy);
  uint32_t rowBytes = map.rowBytes();
  int64_t dim = static_cast<int64_t>(map.dim(0));
  constexpr int64_t none = 0;
  for (uint32_t offset = 0; offset < copy.bytes; offset += pieceBytes) {
    const TileRows::TileRow &row = tile.rows[offset / rowBytes];
    int64_t column = copy.coordinates[0] + int64_t(offset % rowBytes / map.elementBytes);
    int64_t count = pieceBytes / map.elementBytes;
    Piece piece;
    uint64_t base = copy.way == BulkWay::GlobalToShared ? copy.to : copy.from;
    piece.shared = swizzled(static_cast<uint32_t>(base) + offset, map.swizzle);
    piece.global = row.address + static_cast<uint64_t>(column) * map.elementBytes;
    piece.begin = static_cast<unsigned>(std::clamp(-column, none, count));
    piece.end = row.inside ? static_cast<unsigned>(std::clamp(dim - column, none, count)) : 0;
    if (!callable(piece, offset))
      return false;
  }
  return true;
}

/// The pattern of an element out of bounds.
uint64_t fillPattern(const TensorMap &map) {
  if (!map.fillsNaN)
    return 0;
  return map.elementBytes == 2 ? 0x7fff : map.elementBytes == 4 ? 0x7fffffff : 0x7fffffffffffffff;
}

bool readGlobal(ExecContext &context, PendingBulk &copy) {
  const TensorMap &map = *copy.map;
  unsigned lane = copy.thread % warpSize, size = map.elementBytes;
  uint64_t fill = fillPattern(map);
  countGlobal(context, copy, TrafficWay::Read);
  return forEachPiece(copy, [&](const Piece &piece, uint32_t offset) {
    for (unsigned i = 0; i < pieceBytes; i += size)
      std::memcpy(copy.data.data() + offset + i, &fill, size);
    if (piece.begin >= piece.end)
      return true;
    Place from;
    uint64_t address = piece.global + piece.begin * size;
    unsigned bytes = (piece.end - piece.begin) * size;
    if (!locate(context, *copy.inst, Space::Global, lane, address, bytes, size, false, from))
      return false;
    if (context.checks)
      recordAccess(context, *copy.inst, copy.reader, lane, address, bytes, from, AccessKind::Read, false);
    std::memcpy(copy.data.data() + offset + piece.begin * size, from.bytes, bytes);
    if (context.checks && from.defined)
      std::memcpy(copy.defined.data() + offset + piece.begin * size, from.defined, bytes);
    return true;
  });
}

bool writeGlobal(ExecContext &context, const PendingBulk &copy) {
  const TensorMap &map = *copy.map;
  unsigned lane = copy.thread % warpSize, size = map.elementBytes;
  countGlobal(context, copy, copy.inst->reduces ? TrafficWay::Update : TrafficWay::Write);
  return forEachPiece(copy, [&](const Piece &piece, uint32_t offset) {
    if (piece.begin >= piece.end)
      return true;
    Place to;
    uint64_t address = piece.global + piece.begin * size;
    unsigned bytes = (piece.end - piece.begin) * size;
    if (!locate(context, *copy.inst, Space::Global, lane, address, bytes, size, true, to))
      return false;
    uint32_t at = offset + piece.begin * size;
    if (copy.inst->reduces)
      reduceBytes(context, copy, map.reductionType(isBitwise(copy.inst->op)), to, address, at, bytes);
    else
      putBytes(context, copy, to, address, at, bytes);
    return true;
  });
}

} // namespace

bool readTile(ExecContext &context, PendingBulk &copy) {
  if (copy.way == BulkWay::GlobalToShared)
    return readGlobal(context, copy);
  unsigned lane = copy.thread % warpSize;
  return forEachPiece(copy, [&](const Piece &piece, uint32_t offset) {
    Place from;
    if (!locate(context, *copy.inst, Space::Shared, lane, piece.shared, pieceBytes, pieceBytes, false, from))
      return false;
    if (context.checks) {
      recordAccess(context, *copy.inst, copy.reader, lane, piece.shared, pieceBytes, from, AccessKind::Read, false);
      std::memcpy(copy.defined.data() + offset, from.defined, pieceBytes);
    }
    std::memcpy(copy.data.data() + offset, from.bytes, pieceBytes);
    return true;
  });
}

bool writeTile(ExecContext &context, const PendingBulk &copy) {
  if (copy.way == BulkWay::SharedToGlobal)
    return writeGlobal(context, copy);
  unsigned lane = copy.thread % warpSize;
  return forEachPiece(copy, [&](const Piece &piece, uint32_t offset) {
    Place to;
    if (!locate(context, *copy.inst, Space::SharedCluster, lane, piece.shared, pieceBytes, pieceBytes, true, to))
      return false;
    putBytes(context, copy, to, piece.shared, offset, pieceBytes);
    return true;
  });
}

} // namespace tilewright::ptxsim
