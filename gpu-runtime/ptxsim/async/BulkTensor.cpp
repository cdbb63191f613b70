// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk.tensor: tiles of tensors that a tensor map describes. Elements outside the tensor read as zero (or NaN) and
// are not written; all bytes of the tile count for the mbarrier. The map is read when the copy is issued.

#include "arithmetic/Families.h"
#include "async/Bulk.h"
#include "async/TensorMap.h"
#include "decode/Decoder.h"
#include "machine/MemoryAccess.h"

#include <algorithm>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

constexpr unsigned piece = 16;

/// The elements of one piece of 16 bytes of the tile.
struct Piece {
  uint32_t shared = 0;
  unsigned count = 0;
  uint64_t global[piece] = {};
  bool inside[piece] = {};
};

Piece pieceAt(const PendingBulk &copy, const TensorMap &map, uint32_t offset) {
  Piece result;
  result.shared = swizzled(static_cast<uint32_t>(copy.toShared ? copy.to : copy.from) + offset, map.swizzle);
  result.count = piece / map.elementBytes;
  for (unsigned i = 0; i < result.count; ++i) {
    uint32_t number = offset / map.elementBytes + i;
    uint64_t address = map.address;
    bool inside = true;
    for (unsigned d = 0; d < map.rank; ++d) {
      int64_t at = int64_t(copy.coordinates[d]) + int64_t(number % map.tileDim(d)) * map.elementStrides[d];
      number /= map.tileDim(d);
      inside &= at >= 0 && static_cast<uint64_t>(at) < map.dim(d);
      address += static_cast<uint64_t>(at) * map.stride(d);
    }
    result.inside[i] = inside;
    result.global[i] = address;
  }
  return result;
}

/// The pattern of an element out of bounds.
uint64_t fillPattern(const TensorMap &map) {
  if (!map.fillsNaN)
    return 0;
  return map.elementBytes == 2 ? 0x7fff : map.elementBytes == 4 ? 0x7fffffff : 0x7fffffffffffffff;
}

} // namespace

bool performTensor(ExecContext &context, const PendingBulk &copy, uint32_t agent) {
  const TensorMap &map = *copy.map;
  unsigned lane = copy.thread % warpSize, size = map.elementBytes;
  uint64_t fill = fillPattern(map);
  for (uint32_t offset = 0; offset < copy.bytes; offset += piece) {
    Piece part = pieceAt(copy, map, offset);
    Place shared;
    if (!locate(context, *copy.inst, Space::Shared, lane, part.shared, piece, piece, copy.toShared, shared))
      return false;
    if (context.checks)
      recordAccess(context, *copy.inst, agent, lane, part.shared, piece, shared,
                   copy.toShared ? AccessKind::Write : AccessKind::Read, false);
    for (unsigned i = 0; i < part.count; ++i) {
      uint8_t *bytes = shared.bytes + i * size;
      uint8_t *defined = shared.defined ? shared.defined + i * size : nullptr;
      if (!part.inside[i]) {
        if (copy.toShared) {
          std::memcpy(bytes, &fill, size);
          if (defined)
            std::memset(defined, 0xff, size);
        }
        continue;
      }
      Place global;
      if (!locate(context, *copy.inst, Space::Global, lane, part.global[i], size, size, !copy.toShared, global))
        return false;
      const Place &from = copy.toShared ? global : shared;
      if (context.checks)
        recordAccess(context, *copy.inst, agent, lane, part.global[i], size, global,
                     copy.toShared ? AccessKind::Read : AccessKind::Write,
                     std::memcmp(global.bytes, bytes, size) == 0);
      uint8_t *to = copy.toShared ? bytes : global.bytes;
      std::memcpy(to, copy.toShared ? from.bytes : bytes, size);
      uint8_t *toDefined = copy.toShared ? defined : global.defined;
      const uint8_t *fromDefined = copy.toShared ? global.defined : defined;
      if (toDefined && fromDefined)
        std::memcpy(toDefined, fromDefined, size);
    }
  }
  return true;
}

namespace {

/// Sources: shared memory, the map, the mbarrier of a load, then the coordinates.
void tensorCopy(ExecContext &context, const Inst &inst) {
  if (context.checks)
    for (unsigned i = 0; i < inst.numSrc; ++i)
      checkAddressDefined(context, inst, inst.src[i], context.mask);
  unsigned rank = inst.elements, first = inst.mode ? 3 : 2;
  forEachLane(context.mask, [&](unsigned lane) {
    if (context.stopped)
      return;
    PendingBulk copy;
    copy.inst = &inst;
    copy.toShared = inst.mode;
    uint64_t shared = (context.row(inst.src[0])[lane] + static_cast<uint64_t>(inst.offset)) & 0xffffffff;
    (copy.toShared ? copy.to : copy.from) = shared;
    uint64_t where = context.row(inst.src[1])[lane] + static_cast<uint64_t>(inst.offset2);
    if (copy.toShared)
      copy.barrier = (context.row(inst.src[2])[lane] + static_cast<uint64_t>(inst.offset3)) & 0xffffffff;
    for (unsigned d = 0; d < rank; ++d)
      copy.coordinates[d] = static_cast<int32_t>(context.row(inst.src[first + d])[lane]);
    auto map = std::make_shared<TensorMap>();
    Place place;
    if (!locate(context, inst, Space::Generic, lane, where, sizeof(TensorMap), 64, false, place))
      return;
    std::memcpy(map.get(), place.bytes, sizeof(TensorMap));
    if (map->magic != TensorMap::magicNumber || map->rank != rank) {
      context.report(FindingKind::BadCall, inst, lane, where,
                     map->magic != TensorMap::magicNumber
                         ? "there is no tensor map at this address"
                         : "the tensor map is of rank " + std::to_string(map->rank) + ", the instruction of " +
                               std::to_string(rank));
      context.stopped = true;
      context.grid->aborted = true;
      return;
    }
    if (shared % 128 != 0) {
      context.report(FindingKind::Misaligned, inst, lane, shared, "a tile in shared memory must be aligned to 128 bytes");
      return;
    }
    copy.bytes = map->tileBytes();
    copy.map = std::move(map);
    issueBulk(context, lane, std::move(copy));
  });
}

void nothing(ExecContext &, const Inst &) {}

/// [map, {c0, c1, ...}] as sources: the map, its offset into `offset`; then the coordinates, by `coordinates`.
bool mapOperand(InstDecoder &d, size_t index, int64_t &offset) {
  const Operand &where = d.operand(index);
  if (where.kind != Operand::Address || where.elements.size() != 2 || where.elements[1].kind != Operand::Vector ||
      where.elements[1].elements.size() != d.inst.elements)
    return d.fail("expected [map, {coordinates}] with " + std::to_string(d.inst.elements) + " coordinates");
  offset = where.offset;
  return d.source(where.elements[0], ScalarType::U64);
}

bool coordinates(InstDecoder &d, size_t index) {
  for (const Operand &coordinate : d.operand(index).elements[1].elements)
    if (!d.source(coordinate, ScalarType::B32))
      return false;
  return true;
}

} // namespace

bool decodeBulkTensor(InstDecoder &d) {
  Inst &inst = d.inst;
  static constexpr std::string_view ranks[] = {"1d", "2d", "3d", "4d", "5d"};
  for (uint8_t i = 0; i < std::size(ranks); ++i)
    if (d.take(ranks[i]))
      inst.elements = static_cast<uint8_t>(i + 1);
  bool hasPolicy = d.take("L2::cache_hint");
  d.take("tile");
  for (std::string_view later : {"im2col", "im2col_no_offs", "multicast::cluster", "cta_group::1", "cta_group::2"})
    if (d.hasModifier(later))
      return d.unsupported("." + std::string(later));
  int64_t ofMap = 0;
  if (d.take("prefetch")) {
    d.take("L2");
    d.take("global");
    inst.run = nothing;
    return d.expectOperands(1 + hasPolicy) && mapOperand(d, 0, ofMap) && coordinates(d, 0);
  }
  const std::vector<std::string_view> left = d.remaining();
  bool toShared = left.size() > 1 && (left[0] == "shared::cluster" || left[0] == "shared::cta") && left[1] == "global";
  if (!toShared && !(left.size() > 1 && left[0] == "global" && left[1] == "shared::cta"))
    return d.unsupported("this direction");
  d.take(left[0]);
  d.take(left[1]);
  if (!d.take(toShared ? "mbarrier::complete_tx::bytes" : "bulk_group"))
    return d.fail("needs its way of completion");
  inst.mode = toShared;
  inst.run = tensorCopy;
  size_t map = toShared ? 1 : 0, shared = toShared ? 0 : 1;
  if (!d.expectOperands(2 + toShared + hasPolicy) || !d.address(shared))
    return false;
  int64_t ofShared = inst.offset;
  if (!mapOperand(d, map, ofMap) || (toShared && !d.address(2)))
    return false;
  inst.offset3 = inst.offset;
  inst.offset2 = ofMap;
  inst.offset = ofShared;
  // That of the mbarrier.
  inst.space = Space::Shared;
  return coordinates(d, map);
}

} // namespace tilewright::ptxsim
