// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of bulk copies of tiles. The map is read when the copy is issued.
//
//   cp.async.bulk.tensor.Nd.shared::cluster.global{.tile|.im2col}.mbarrier::complete_tx::bytes{.multicast::cluster}
//       {.L2::cache_hint} [to], [map, {c0, ...}], [mbarrier] {, {w, ...}} {, ctaMask} {, policy}
//   cp.async.bulk.tensor.Nd.global.shared::cta{.tile|.im2col_no_offs}.bulk_group{.L2::cache_hint}
//       [map, {c0, ...}], [from] {, policy}
//   cp.reduce.async.bulk.tensor.Nd...: the last, with .op
//   cp.async.bulk.prefetch.tensor.Nd.L2.global{.tile|.im2col}{.L2::cache_hint} [map, {c0, ...}] {, {w, ...}} {, policy}

#include "arithmetic/Families.h"
#include "async/Bulk.h"
#include "async/BulkOp.h"
#include "async/TensorMap.h"
#include "decode/Decoder.h"
#include "machine/Atomic.h"
#include "machine/MemoryAccess.h"

#include <algorithm>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

/// Kernels make maps too: what they say must be defined, and ordered before this.
void checkMapReady(ExecContext &context, const Inst &inst, unsigned lane, uint64_t where, const Place &place) {
  if (!context.checks)
    return;
  if (place.defined && std::any_of(place.defined, place.defined + sizeof(TensorMap), [](uint8_t bits) { return bits != 0xff; }))
    context.report(FindingKind::Undefined, inst, lane, where, "parts of the tensor map are undefined");
  checkRace(context, inst, context.warp->index * warpSize + lane, lane, where, sizeof(TensorMap), place, AccessKind::Read,
            Scope::None, false);
}

/// The map at this address; null after a finding.
std::shared_ptr<const TensorMap> readMap(ExecContext &context, const Inst &inst, unsigned lane, uint64_t where) {
  auto map = std::make_shared<TensorMap>();
  Place place;
  if (!locate(context, inst, Space::Generic, lane, where, sizeof(TensorMap), 64, false, place))
    return nullptr;
  std::memcpy(map.get(), place.bytes, sizeof(TensorMap));
  std::string why;
  if (map->magic != TensorMap::magicNumber)
    why = "there is no tensor map at this address";
  else if (map->rank != inst.elements)
    why = "the tensor map is of rank " + std::to_string(map->rank) + ", the instruction of " +
          std::to_string(inst.elements);
  else if (map->isIm2col != inst.isIm2col)
    why = map->isIm2col ? "the tensor map is for im2col, the instruction for tiles"
                        : "the tensor map is for tiles, the instruction for im2col";
  else if (inst.reduces && !isBulkReduction(BulkWay::SharedToGlobal, static_cast<AtomicOp>(inst.op),
                                            map->reductionType(isBitwise(inst.op))))
    why = "this reduction does not exist for the type of the tensor map";
  else if (!checkTensorMap(*map, why))
    why = "the tensor map breaks a rule: " + why;
  if (why.empty()) {
    checkMapReady(context, inst, lane, where, place);
    return map;
  }
  context.report(FindingKind::BadCall, inst, lane, where, std::move(why));
  context.stopped = true;
  context.grid->aborted = true;
  return nullptr;
}

/// Sources: the map; of a copy, shared memory and the mbarrier of a load; as a list, the coordinates, the offsets, and
/// the mask.
void tensorCopy(ExecContext &context, const Inst &inst) {
  const std::vector<Row> &list = context.grid->program->rowLists[inst.rows];
  if (context.checks) {
    for (unsigned i = 0; i < inst.numSrc; ++i)
      checkAddressDefined(context, inst, inst.src[i], context.mask);
    for (Row row : list)
      checkAddressDefined(context, inst, row, context.mask);
  }
  bool isPrefetch = inst.numSrc == 1;
  forEachLane(context.mask, [&](unsigned lane) {
    if (context.stopped)
      return;
    PendingBulk copy;
    copy.inst = &inst;
    copy.way = static_cast<BulkWay>(inst.mode);
    copy.map = readMap(context, inst, lane, context.row(inst.src[0])[lane] + static_cast<uint64_t>(inst.offset2));
    if (!copy.map || isPrefetch)
      return;
    uint64_t shared = (context.row(inst.src[1])[lane] + static_cast<uint64_t>(inst.offset)) & 0xffffffff;
    (copy.endsInGroup() ? copy.from : copy.to) = shared;
    if (!copy.endsInGroup())
      copy.barrier = (context.row(inst.src[2])[lane] + static_cast<uint64_t>(inst.offset3)) & 0xffffffff;
    size_t at = 0;
    for (; at < inst.elements; ++at)
      copy.coordinates[at] = static_cast<int32_t>(context.row(list[at])[lane]);
    for (unsigned i = 0; i < inst.im2colOffsets; ++i, ++at)
      copy.offsets[i] = static_cast<uint16_t>(context.row(list[at])[lane]);
    bool isMulticast = at < list.size();
    uint16_t mask = isMulticast ? static_cast<uint16_t>(context.row(list[at])[lane]) : 0;
    if (isMulticast && mask == 0)
      return context.report(FindingKind::ClusterMisuse, inst, lane, toldShared(context, copy.to), "a multicast to no block");
    if (shared % 128 != 0)
      return context.report(FindingKind::Misaligned, inst, lane, toldShared(context, shared),
                            "a tile in shared memory must be aligned to 128 bytes");
    copy.bytes = copy.map->tileBytes();
    issueBulk(context, lane, std::move(copy), mask);
  });
}

/// [map, {c0, c1, ...}]: the map as a source, its offset into inst.offset2; the coordinates into the list.
bool mapOperand(InstDecoder &d, size_t index, std::vector<Row> &list) {
  const Operand &where = d.operand(index);
  if (where.kind != Operand::Address || where.elements.size() != 2 || where.elements[1].kind != Operand::Vector ||
      where.elements[1].elements.size() != d.inst.elements)
    return d.fail("expected [map, {coordinates}] with " + std::to_string(d.inst.elements) + " coordinates");
  d.inst.offset2 = where.offset;
  for (const Operand &coordinate : where.elements[1].elements)
    if (!d.sourceRow(coordinate, ScalarType::B32, list))
      return false;
  return d.source(where.elements[0], ScalarType::U64);
}

/// {w, h, d} behind the other operands of im2col, as many as the tensor has spatial dims.
bool offsetsOperand(InstDecoder &d, size_t index, std::vector<Row> &list) {
  size_t count = d.inst.elements - 2u;
  if (d.operandCount() <= index || d.operand(index).kind != Operand::Vector ||
      d.operand(index).elements.size() != count)
    return d.fail("expected {offsets} with " + std::to_string(count) + " of them");
  d.inst.im2colOffsets = static_cast<uint8_t>(count);
  for (const Operand &offset : d.operand(index).elements)
    if (!d.sourceRow(offset, ScalarType::B16, list))
      return false;
  return true;
}

/// .tile or a kind of im2col; `hasOffsets` for the one that takes them.
bool takeMode(InstDecoder &d, bool isLoad, bool &hasOffsets) {
  for (std::string_view later :
       {"im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4", "cta_group::1", "cta_group::2"})
    if (d.hasModifier(later))
      return d.fail("." + std::string(later) + " needs sm_100");
  hasOffsets = d.take("im2col");
  bool withoutOffsets = !hasOffsets && d.take("im2col_no_offs");
  if (hasOffsets && !isLoad)
    return d.fail("a store takes .im2col_no_offs");
  if (withoutOffsets && isLoad)
    return d.fail("a load takes .im2col");
  d.inst.isIm2col = hasOffsets || withoutOffsets;
  if (!d.inst.isIm2col)
    d.take("tile");
  return !d.inst.isIm2col || d.inst.elements >= 3 || d.fail("im2col is for tensors of rank 3 to 5");
}

} // namespace

bool decodeBulkTensor(InstDecoder &d, bool reduces) {
  Inst &inst = d.inst;
  static constexpr std::string_view ranks[] = {"1d", "2d", "3d", "4d", "5d"};
  inst.elements = 0;
  for (uint8_t i = 0; i < std::size(ranks); ++i)
    if (d.take(ranks[i]))
      inst.elements = static_cast<uint8_t>(i + 1);
  if (inst.elements == 0)
    return d.fail("the number of dimensions is missing");
  inst.run = tensorCopy;
  inst.reduces = reduces;
  inst.rows = static_cast<uint32_t>(d.decoder.program.rowLists.size());
  d.decoder.program.rowLists.emplace_back();
  std::vector<Row> list;
  bool hasPolicy = d.take("L2::cache_hint"), isPrefetch = !reduces && d.take("prefetch");
  bool multicast = false, hasOffsets = false;
  bool isLoad = isPrefetch || (d.hasModifier("global") && d.remaining().front() != "global");
  if (reduces && !takeAtomicOp(d))
    return false;
  if (!takeMode(d, isLoad, hasOffsets))
    return false;
  size_t next;
  if (isPrefetch) {
    next = 1;
    if (!d.take("L2") || !d.take("global"))
      return d.fail("needs .L2.global");
    if (d.operandCount() < 1)
      return d.expectOperands(1);
    if (!mapOperand(d, 0, list))
      return false;
  } else {
    if (!takeBulkWay(d, multicast))
      return false;
    BulkWay way = static_cast<BulkWay>(inst.mode);
    isLoad = way == BulkWay::GlobalToShared;
    if (way == BulkWay::SharedToShared || (reduces && isLoad))
      return d.unsupported("this direction");
    next = isLoad ? 3 : 2;
    if (!d.expectOperands(next, next + 3) || !mapOperand(d, isLoad ? 1 : 0, list) || !d.address(isLoad ? 0 : 1))
      return false;
    int64_t ofShared = inst.offset;
    if (isLoad && !d.address(2))
      return false;
    inst.offset3 = inst.offset;
    inst.offset = ofShared;
  }
  if (hasOffsets && !offsetsOperand(d, next++, list))
    return false;
  d.decoder.program.rowLists[inst.rows] = std::move(list);
  return takeBulkTail(d, next, multicast, hasPolicy);
}

} // namespace tilewright::ptxsim
