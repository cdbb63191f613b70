// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changing tensor maps on the device.
//
//   tensormap.replace.tile.FIELD{.space}.b1024.type [map] {, ordinal}, value
//   tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [to], [from], 128
//
// The fields that count from one are numbers here as there; a rank is given less one. What the new map breaks of the rules
// of encoding is not checked.

#include "arithmetic/Families.h"
#include "async/TensorMap.h"
#include "decode/Decoder.h"
#include "machine/MemoryAccess.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace tilewright::ptxsim {
namespace {

enum Field : uint8_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElementKind,
  Interleave,
  SwizzleMode,
  FillMode
};
constexpr std::string_view fieldNames[] = {"global_address", "rank",     "box_dim",           "global_dim",   "global_stride",
                                           "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"};

/// Types by the ISA's numbers: the driver API's number and the size.
struct ElementType {
  uint8_t number, bytes;
};
constexpr ElementType elementTypes[] = {{0, 1}, {1, 2},  {2, 4}, {3, 4}, {4, 8},  {5, 8}, {6, 2},
                                        {7, 4}, {10, 4}, {8, 8}, {9, 2}, {11, 4}, {12, 4}};

/// False where the value is out of range.
bool replace(TensorMap &map, Field field, unsigned ordinal, uint64_t value) {
  switch (field) {
  case GlobalAddress:
    map.address = value;
    return value % 16 == 0;
  case Rank:
    map.rank = static_cast<uint8_t>(value + 1);
    return value < TensorMap::maxRank;
  case BoxDim:
    map.boxLess1[ordinal] = static_cast<uint8_t>(value - 1);
    return value >= 1 && value <= 256;
  case GlobalDim:
    map.dimsLess1[ordinal] = static_cast<uint32_t>(value - 1);
    return true;
  case GlobalStride:
    if (ordinal + 1 >= TensorMap::maxRank)
      return false;
    map.strides[ordinal] = value;
    return value % 16 == 0;
  case ElementStride:
    map.elementStrides[ordinal] = static_cast<uint8_t>(ordinal == 0 ? 1 : value);
    return value >= 1 && value <= 8;
  case ElementKind:
    if (value >= std::size(elementTypes))
      return false;
    map.dataType = elementTypes[value].number;
    map.elementBytes = elementTypes[value].bytes;
    return true;
  case Interleave:
    return value == 0;
  case SwizzleMode:
    map.swizzle = static_cast<Swizzle>(value);
    return value <= 3;
  case FillMode:
    map.fillsNaN = value != 0;
    return value <= 1;
  }
  return false;
}

bool locateMap(ExecContext &context, const Inst &inst, Space space, unsigned lane, uint64_t address, bool isWrite,
               Place &place) {
  constexpr unsigned bytes = sizeof(TensorMap);
  if (!locate(context, inst, space, lane, address, bytes, bytes, isWrite, place))
    return false;
  if (context.checks)
    recordAccess(context, inst, lane, address, bytes, place, isWrite ? AccessKind::Write : AccessKind::Read, false);
  return true;
}

/// inst.op: the field; inst.elements: the ordinal. Sources: the map, the value.
void replaceField(ExecContext &context, const Inst &inst) {
  if (context.checks)
    for (unsigned i = 0; i < inst.numSrc; ++i)
      checkAddressDefined(context, inst, inst.src[i], context.mask);
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t address = context.row(inst.src[0])[lane] + static_cast<uint64_t>(inst.offset);
    uint64_t value = context.row(inst.src[1])[lane] & lowBits(bitWidth(inst.type));
    Place place;
    TensorMap map;
    if (context.stopped || !locateMap(context, inst, inst.space, lane, address, true, place))
      return;
    std::memcpy(&map, place.bytes, sizeof(map));
    if (map.magic != TensorMap::magicNumber)
      return context.report(FindingKind::BadCall, inst, lane, address, "there is no tensor map at this address");
    if (!replace(map, static_cast<Field>(inst.op), inst.elements, value))
      return context.report(FindingKind::BadCall, inst, lane, address,
                            std::to_string(value) + " is no " + std::string(fieldNames[inst.op]) +
                                " of a tensor map" + (inst.op == Interleave ? " that is simulated" : ""));
    std::memcpy(place.bytes, &map, sizeof(map));
  });
}

/// By the whole warp; the first lane stands for it.
void copyAndFence(ExecContext &context, const Inst &inst) {
  unsigned lane = static_cast<unsigned>(__builtin_ctz(context.mask));
  Place to, from;
  if (!locateMap(context, inst, Space::Shared, lane, context.row(inst.src[1])[lane] + static_cast<uint64_t>(inst.offset2),
                 false, from) ||
      !locateMap(context, inst, Space::Global, lane, context.row(inst.src[0])[lane] + static_cast<uint64_t>(inst.offset),
                 true, to))
    return;
  std::memcpy(to.bytes, from.bytes, sizeof(TensorMap));
  if (context.checks && to.defined && from.defined)
    std::memcpy(to.defined, from.defined, sizeof(TensorMap));
  if (BlockRaces *races = context.block->races.get())
    forEachLane(context.mask, [&](unsigned each) { races->fence(context.warp->index * warpSize + each, inst.scope); });
}

bool decodeReplace(InstDecoder &d) {
  Inst &inst = d.inst;
  if (!d.take("tile"))
    return d.fail("needs .tile");
  inst.op = static_cast<uint8_t>(std::size(fieldNames));
  for (uint8_t i = 0; i < std::size(fieldNames); ++i)
    if (d.take(fieldNames[i]))
      inst.op = i;
  if (inst.op == std::size(fieldNames))
    return d.fail("the field is missing");
  takeMemorySpace(d);
  if (inst.space != Space::Generic && inst.space != Space::Global && inst.space != Space::Shared)
    return d.fail("the map must be in global or shared memory");
  if (!d.take("b1024"))
    return d.fail("needs .b1024");
  inst.type = d.takeType();
  bool isWide = inst.op == GlobalAddress || inst.op == GlobalStride;
  if (inst.type != (isWide ? ScalarType::B64 : ScalarType::B32))
    return d.fail(isWide ? "needs .b64" : "needs .b32");
  bool hasOrdinal = inst.op >= BoxDim && inst.op <= ElementStride;
  uint64_t ordinal = 0;
  if (!d.expectOperands(2 + hasOrdinal) || !d.address(0) || (hasOrdinal && !d.immediate(1, ordinal)))
    return false;
  if (ordinal >= TensorMap::maxRank)
    return d.fail("the ordinal must be 0 to 4");
  inst.elements = static_cast<uint8_t>(ordinal);
  inst.run = replaceField;
  return d.source(1 + hasOrdinal, inst.type);
}

bool decodeCopy(InstDecoder &d) {
  Inst &inst = d.inst;
  for (std::string_view fixed : {"global", "shared::cta", "tensormap::generic", "release", "sync", "aligned"})
    if (!d.take(fixed))
      return d.fail("needs ." + std::string(fixed));
  takeScope(d);
  uint64_t bytes;
  if (!d.expectOperands(3) || !d.address(0))
    return false;
  int64_t to = inst.offset;
  if (!d.address(1) || !d.immediate(2, bytes))
    return false;
  inst.offset2 = inst.offset;
  inst.offset = to;
  inst.run = copyAndFence;
  return bytes == sizeof(TensorMap) || d.fail("the size must be 128");
}

} // namespace

bool decodeTensormap(InstDecoder &d) {
  d.inst.undef = UndefRule::Own;
  if (d.decoder.module.targetSuffix != 'a' && d.hasModifier("replace"))
    return d.fail("needs .target sm_90a");
  if (d.take("replace"))
    return decodeReplace(d);
  return d.take("cp_fenceproxy") ? decodeCopy(d) : d.unsupported("this form");
}

} // namespace tilewright::ptxsim
