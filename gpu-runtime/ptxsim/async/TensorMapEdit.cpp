// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps that kernels make or change themselves.
//
//   tensormap.replace.tile.FIELD{.global|.shared::cta}.b1024.b32|.b64 [map], {ordinal,} value
//   tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned [to], [from], 128
//
// A map begins as a copy of another one, or as zeros of which every field is replaced. Whether it breaks a rule shows when
// it is used, as on a GPU.

#include "arithmetic/Families.h"
#include "async/TensorMap.h"
#include "async/TensorMapEdit.h"
#include "decode/Decoder.h"
#include "machine/LaneLoops.h"
#include "machine/MemoryAccess.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tilewright::ptxsim {
namespace {

enum class Field : uint8_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElementType,
  Interleave,
  Swizzle,
  Fill
};
struct FieldInfo {
  std::string_view name;
  /// Ordinals below this; 0 for fields that have none.
  unsigned ordinals;
  /// The value is an immediate below this; 0 for fields that take registers.
  unsigned values;
};
constexpr FieldInfo fields[] = {
    {"global_address", 0, 0}, {"rank", 0, 0},          {"box_dim", 5, 0},          {"global_dim", 5, 0},
    {"global_stride", 4, 0},  {"element_stride", 5, 0}, {"elemtype", 0, 13},        {"interleave_layout", 0, 3},
    {"swizzle_mode", 0, 4},   {"fill_mode", 0, 2},
};

/// Bytes of an element and the driver API's number of its type, by the number that tensormap.replace knows it by.
constexpr uint8_t elementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
constexpr uint8_t dataTypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};

/// False for a value that the field cannot hold.
bool setField(TensorMap &map, Field field, unsigned ordinal, uint64_t value) {
  switch (field) {
  case Field::GlobalAddress:
    map.address = value;
    return true;
  case Field::Rank:
    map.rank = static_cast<uint8_t>(value + 1);
    return value < TensorMap::maxRank;
  case Field::BoxDim:
    map.boxLess1[ordinal] = static_cast<uint8_t>(value - 1);
    return value >= 1 && value <= 256;
  case Field::GlobalDim:
    map.dimsLess1[ordinal] = static_cast<uint32_t>(value - 1);
    return true;
  case Field::GlobalStride:
    map.strides[ordinal] = value;
    return value % 16 == 0 && value < 1ull << 40;
  case Field::ElementStride:
    map.elementStrides[ordinal] = static_cast<uint8_t>(value);
    return value >= 1 && value <= 8;
  case Field::ElementType:
    map.elementBytes = elementBytes[value];
    map.dataType = dataTypes[value];
    return true;
  case Field::Interleave:
    return value == 0;
  case Field::Swizzle:
    map.swizzle = static_cast<Swizzle>(value);
    return true;
  case Field::Fill:
    map.fillsNaN = value != 0;
    return true;
  }
  return false;
}

bool isZero(const uint8_t *bytes, size_t count) {
  return std::all_of(bytes, bytes + count, [](uint8_t byte) { return byte == 0; });
}

/// A new map from zeros, with what the fields of a GPU's map would say then.
TensorMap blank() {
  TensorMap map;
  map.magic = TensorMap::magicNumber;
  return map;
}

/// Source 0: the map, source 1: the value; inst.op: the field, inst.offset2: the ordinal.
void replaceField(ExecContext &context, const Inst &inst) {
  if (context.checks)
    for (unsigned i = 0; i < inst.numSrc; ++i)
      checkAddressDefined(context, inst, inst.src[i], context.mask);
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t where = context.row(inst.src[0])[lane] + static_cast<uint64_t>(inst.offset);
    Place place;
    if (context.stopped || !locate(context, inst, inst.space, lane, where, sizeof(TensorMap), 64, true, place))
      return;
    TensorMap map;
    std::memcpy(&map, place.bytes, sizeof(map));
    if (map.magic != TensorMap::magicNumber) {
      if (!isZero(place.bytes, sizeof(map)))
        return context.report(FindingKind::BadCall, inst, lane, where,
                              "there is no tensor map at this address, nor zeros to make one of");
      map = blank();
    }
    uint64_t value = context.row(inst.src[1])[lane];
    if (inst.type == ScalarType::B32)
      value &= 0xffffffff;
    if (!setField(map, static_cast<Field>(inst.op), static_cast<unsigned>(inst.offset2), value))
      return context.report(FindingKind::BadCall, inst, lane, where,
                            "a tensor map cannot have " + std::to_string(value) + " as its " +
                                std::string(fields[inst.op].name));
    if (context.checks)
      recordAccess(context, inst, lane, where, sizeof(map), place, AccessKind::Write, false);
    std::memcpy(place.bytes, &map, sizeof(map));
    if (place.defined)
      std::memset(place.defined, 0xff, sizeof(map));
  });
}

bool decodeReplace(InstDecoder &d) {
  Inst &inst = d.inst;
  if (d.decoder.module.targetSuffix != 'a' || d.decoder.module.target != 90)
    return d.fail("needs .target sm_90a");
  if (!d.take("tile"))
    return d.fail("needs .tile");
  auto field = std::find_if(std::begin(fields), std::end(fields), [&](const FieldInfo &f) { return d.take(f.name); });
  if (field == std::end(fields))
    return d.unsupported("this field");
  inst.op = static_cast<uint8_t>(field - std::begin(fields));
  if (d.take("global"))
    inst.space = Space::Global;
  else if (d.take("shared::cta"))
    inst.space = Space::Shared;
  if (!d.take("b1024"))
    return d.fail("needs .b1024");
  bool isWide = static_cast<Field>(inst.op) == Field::GlobalAddress || static_cast<Field>(inst.op) == Field::GlobalStride;
  inst.type = d.takeType();
  if (inst.type != (isWide ? ScalarType::B64 : ScalarType::B32))
    return d.fail(isWide ? "needs .b64" : "needs .b32");
  size_t value = field->ordinals ? 2 : 1;
  uint64_t ordinal = 0, immediate = 0;
  if (!d.expectOperands(value + 1) || !d.address(0))
    return false;
  if (field->ordinals && (!d.immediate(1, ordinal) || ordinal >= field->ordinals))
    return d.fail("the ordinal must be an integer below " + std::to_string(field->ordinals));
  if (field->values && (!d.immediate(value, immediate) || immediate >= field->values))
    return d.fail("the value must be an integer below " + std::to_string(field->values));
  inst.offset2 = static_cast<int64_t>(ordinal);
  inst.run = replaceField;
  return d.source(value, inst.type);
}

bool decodeCopy(InstDecoder &d) {
  Inst &inst = d.inst;
  if (!d.take("global") || !d.take("shared::cta") || !d.take("tensormap::generic") || !d.take("release"))
    return d.fail("needs .global.shared::cta.tensormap::generic.release");
  takeScope(d);
  if (inst.scope == Scope::None)
    return d.fail("needs a scope");
  if (!d.take("sync") || !d.take("aligned"))
    return d.fail("needs .sync.aligned");
  uint64_t bytes = 0;
  if (!d.expectOperands(3))
    return false;
  inst.flow = Flow::Collective;
  inst.op = static_cast<uint8_t>(CollectiveOp::MapCopy);
  // Its members: all lanes. Then the addresses.
  d.constant(0xffffffff);
  if (!d.address(0))
    return false;
  inst.offset2 = inst.offset;
  return d.address(1) && d.immediate(2, bytes) && (bytes == sizeof(TensorMap) || d.fail("the size must be 128"));
}

} // namespace

void copyTensorMap(ExecContext &context, const Inst &inst, unsigned lane, uint64_t to, uint64_t from) {
  uint64_t target = to + static_cast<uint64_t>(inst.offset2), source = from + static_cast<uint64_t>(inst.offset);
  constexpr unsigned bytes = sizeof(TensorMap);
  Place read, write;
  if (!locate(context, inst, Space::Shared, lane, source, bytes, 16, false, read) ||
      !locate(context, inst, Space::Global, lane, target, bytes, 64, true, write))
    return;
  if (context.checks) {
    recordAccess(context, inst, lane, source, bytes, read, AccessKind::Read, false);
    bool same = std::memcmp(write.bytes, read.bytes, bytes) == 0;
    recordAccess(context, inst, lane, target, bytes, write, AccessKind::Write, same);
    if (write.defined && read.defined)
      std::memcpy(write.defined, read.defined, bytes);
  }
  std::memcpy(write.bytes, read.bytes, bytes);
}

bool decodeTensormap(InstDecoder &d) {
  d.inst.undef = UndefRule::Own;
  if (d.take("replace"))
    return decodeReplace(d);
  return d.take("cp_fenceproxy") ? decodeCopy(d) : d.unsupported("this form");
}

} // namespace tilewright::ptxsim
