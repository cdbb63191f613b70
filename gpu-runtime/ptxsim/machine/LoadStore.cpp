// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs ld and st: the quick way where nothing is checked but bounds, else lane by lane.

#include "machine/LoadStore.h"
#include "arithmetic/Families.h"
#include "machine/LaneLoops.h"
#include "machine/MemoryAccess.h"

#include <cstring>
#include <mutex>
#include <utility>

namespace tilewright::ptxsim {
namespace {

constexpr unsigned maxElements = 4;

uint64_t readBytes(const uint8_t *from, unsigned bytes) {
  uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

uint64_t extended(uint64_t value, ScalarType type, unsigned registerBits) {
  unsigned bits = bitWidth(type);
  if (isSigned(type) && bits < registerBits && (value >> (bits - 1) & 1))
    value |= ~lowBits(bits);
  return value & lowBits(registerBits);
}

uint64_t baseOf(const ExecContext &context, const Inst &inst) {
  return static_cast<uint64_t>(inst.offset) + (inst.frameLocal ? context.frame->localBase : 0);
}

/// Where the bytes of a plain access are when there is nothing to check but bounds; null sends the lane the slow way.
inline uint8_t *quickPlace(ExecContext &context, Space space, uint64_t address, unsigned bytes) {
  if (address % bytes != 0)
    return nullptr;
  if (space == Space::Shared) {
    uint32_t offset;
    return offsetInOwn(context, address, bytes, offset) ? context.block->shared.data() + offset : nullptr;
  }
  // Pages are aligned, and so is the access: one look is enough.
  return context.grid->memory->pageMapped(address) ? context.grid->memory->backing(address) : nullptr;
}

bool isQuickSpace(Space space) { return space == Space::Shared || space == Space::Global || space == Space::Const; }

/// Whether a load puts copies of the sign above the value.
bool extendsSign(const Inst &inst) { return isSigned(inst.type) && inst.dstBits > bitWidth(inst.type); }

void runGeneral(ExecContext &context, const Inst &inst, uint32_t lanes) {
  if (lanes == 0)
    return;
  context.mask = lanes;
  inst.inner(context, inst);
}

/// `Single`: one element, known when this is compiled.
template <typename T, bool Single> void loadQuick(ExecContext &context, const Inst &inst) {
  const uint64_t *addresses = context.row(inst.src[0]);
  const uint64_t base = static_cast<uint64_t>(inst.offset);
  const unsigned elements = Single ? 1 : inst.elements;
  uint64_t *results[maxElements];
  for (unsigned i = 0; i < elements; ++i)
    results[i] = context.row(inst.dst[i]);
  uint32_t slow = 0;
  overLanes(context.mask, [&](unsigned lane) {
    const uint8_t *from = quickPlace(context, inst.space, addresses[lane] + base, sizeof(T) * elements);
    if (!from) {
      slow |= 1u << lane;
      return;
    }
    T values[maxElements];
    std::memcpy(values, from, sizeof(T));
    for (unsigned i = 1; i < elements; ++i)
      std::memcpy(&values[i], from + i * sizeof(T), sizeof(T));
    for (unsigned i = 0; i < elements; ++i)
      results[i][lane] = values[i];
  });
  runGeneral(context, inst, slow);
}

template <typename T, bool Single> void storeQuick(ExecContext &context, const Inst &inst) {
  const uint64_t *addresses = context.row(inst.src[0]);
  const uint64_t base = static_cast<uint64_t>(inst.offset);
  const unsigned elements = Single ? 1 : inst.elements;
  const uint64_t *values[maxElements];
  for (unsigned i = 0; i < elements; ++i)
    values[i] = context.row(inst.src[1 + i]);
  uint32_t slow = 0;
  overLanes(context.mask, [&](unsigned lane) {
    uint8_t *to = quickPlace(context, inst.space, addresses[lane] + base, sizeof(T) * elements);
    if (!to)
      slow |= 1u << lane;
    for (unsigned i = 0; to && i < elements; ++i) {
      T value = static_cast<T>(values[i][lane]);
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
  });
  runGeneral(context, inst, slow);
}

/// With checks. Neighbouring lanes that read the same place are one access of theirs.
template <typename T> void loadChecked(ExecContext &context, const Inst &inst) {
  checkAddressDefined(context, inst, inst.src[0], context.mask);
  const uint64_t *addresses = context.row(inst.src[0]);
  uint64_t base = static_cast<uint64_t>(inst.offset), current = 0;
  unsigned bytes = sizeof(T) * inst.elements;
  uint32_t slow = 0, group = 0, unknown[maxElements] = {};
  Place place;
  bool extends = extendsSign(inst);
  auto finishGroup = [&] {
    if (group != 0)
      recordReads(context, inst, group, current, bytes, place);
    group = 0;
  };
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t address = addresses[lane] + base;
    if (group == 0 || address != current) {
      finishGroup();
      if (!locateQuick(context, inst, address, bytes, false, place)) {
        slow |= 1u << lane;
        return;
      }
      current = address;
    }
    group |= 1u << lane;
    for (unsigned i = 0; i < inst.elements; ++i) {
      T value, defined;
      std::memcpy(&value, place.bytes + i * sizeof(T), sizeof(T));
      std::memcpy(&defined, place.defined + i * sizeof(T), sizeof(T));
      context.row(inst.dst[i])[lane] = extends ? extended(value, inst.type, inst.dstBits) : value;
      T undefined = static_cast<T>(~defined);
      if (undefined == 0)
        continue;
      unknown[i] |= 1u << lane;
      context.setUndefinedBits(inst.dst[i], lane, extended(undefined, inst.type, inst.dstBits));
    }
  });
  finishGroup();
  for (unsigned i = 0; i < inst.elements; ++i)
    context.setDefined(inst.dst[i], context.mask & ~slow & ~unknown[i]);
  runGeneral(context, inst, slow);
}

template <typename T> void storeChecked(ExecContext &context, const Inst &inst) {
  checkAddressDefined(context, inst, inst.src[0], context.mask);
  const uint64_t *addresses = context.row(inst.src[0]);
  uint64_t base = static_cast<uint64_t>(inst.offset);
  unsigned bytes = sizeof(T) * inst.elements;
  uint32_t slow = 0;
  forEachLane(context.mask, [&](unsigned lane) {
    Place place;
    uint64_t address = addresses[lane] + base;
    if (!locateQuick(context, inst, address, bytes, true, place)) {
      slow |= 1u << lane;
      return;
    }
    T values[maxElements];
    bool same = true;
    for (unsigned i = 0; i < inst.elements; ++i) {
      T old;
      std::memcpy(&old, place.bytes + i * sizeof(T), sizeof(T));
      values[i] = static_cast<T>(context.row(inst.src[1 + i])[lane]);
      same &= values[i] == old;
    }
    recordAccess(context, inst, lane, address, bytes, place, AccessKind::Write, same);
    for (unsigned i = 0; i < inst.elements; ++i) {
      T defined = static_cast<T>(~context.undefinedBits(inst.src[1 + i], lane));
      std::memcpy(place.bytes + i * sizeof(T), &values[i], sizeof(T));
      std::memcpy(place.defined + i * sizeof(T), &defined, sizeof(T));
    }
  });
  runGeneral(context, inst, slow);
}

/// Chooses the way when the launch is known.
template <typename T> void chooseLoad(ExecContext &context, const Inst &inst) {
  if (context.checks ? inst.order != Order::Weak : extendsSign(inst))
    return inst.inner(context, inst);
  if (context.checks)
    return loadChecked<T>(context, inst);
  inst.elements == 1 ? loadQuick<T, true>(context, inst) : loadQuick<T, false>(context, inst);
}

template <typename T> void chooseStore(ExecContext &context, const Inst &inst) {
  if (context.checks && inst.order != Order::Weak)
    return inst.inner(context, inst);
  if (context.checks)
    return storeChecked<T>(context, inst);
  inst.elements == 1 ? storeQuick<T, true>(context, inst) : storeQuick<T, false>(context, inst);
}

/// Memory that is found by its address alone.
template <bool IsLoad> void preferQuick(Inst &inst) {
  if (!isQuickSpace(inst.space) || inst.frameLocal)
    return;
  inst.inner = inst.run;
  switch (byteWidth(inst.type)) {
  case 1:
    inst.run = IsLoad ? chooseLoad<uint8_t> : chooseStore<uint8_t>;
    break;
  case 2:
    inst.run = IsLoad ? chooseLoad<uint16_t> : chooseStore<uint16_t>;
    break;
  case 4:
    inst.run = IsLoad ? chooseLoad<uint32_t> : chooseStore<uint32_t>;
    break;
  case 8:
    inst.run = IsLoad ? chooseLoad<uint64_t> : chooseStore<uint64_t>;
    break;
  }
}

/// A parameter of the kernel at a known place: the same in all lanes, and always defined.
void loadKernelParam(ExecContext &context, const Inst &inst) {
  const std::vector<uint8_t> &params = context.grid->params;
  unsigned size = byteWidth(inst.type);
  uint64_t at = context.row(inst.src[0])[0] + static_cast<uint64_t>(inst.offset);
  if (at > params.size() || size * inst.elements > params.size() - at || at % (size * inst.elements) != 0)
    return inst.inner(context, inst);
  for (unsigned i = 0; i < inst.elements; ++i) {
    uint64_t value = extended(readBytes(params.data() + at + i * size, size), inst.type, inst.dstBits);
    uint64_t *results = context.row(inst.dst[i]);
    overLanes(context.mask, [=](unsigned lane) { results[lane] = value; });
    if (context.checks)
      context.setDefined(inst.dst[i], context.mask);
  }
}

void load(ExecContext &context, const Inst &inst) {
  const uint64_t *addresses = context.row(inst.src[0]);
  uint64_t base = baseOf(context, inst);
  unsigned size = byteWidth(inst.type);
  unsigned total = size * inst.elements;
  if (context.checks)
    checkAddressDefined(context, inst, inst.src[0], context.mask);
  uint64_t *results[maxElements] = {};
  for (unsigned i = 0; i < inst.numDst; ++i)
    results[i] = context.row(inst.dst[i]);
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t address = addresses[lane] + base;
    Place place;
    if (!locate(context, inst, lane, address, total, false, place)) {
      for (unsigned i = 0; i < inst.numDst; ++i)
        results[i][lane] = 0;
      return;
    }
    if (context.checks)
      recordAccess(context, inst, lane, address, total, place, AccessKind::Read, false);
    for (unsigned i = 0; i < inst.elements; ++i) {
      results[i][lane] = extended(readBytes(place.bytes + i * size, size), inst.type, inst.dstBits);
      if (!context.checks)
        continue;
      uint64_t undefined = 0;
      if (place.defined)
        undefined = extended(~readBytes(place.defined + i * size, size) & lowBits(bitWidth(inst.type)), inst.type,
                             inst.dstBits);
      context.setUndefinedBits(inst.dst[i], lane, undefined);
    }
  });
}

void store(ExecContext &context, const Inst &inst) {
  const uint64_t *addresses = context.row(inst.src[0]);
  uint64_t base = baseOf(context, inst);
  unsigned size = byteWidth(inst.type);
  unsigned total = size * inst.elements;
  if (context.checks)
    checkAddressDefined(context, inst, inst.src[0], context.mask);
  const uint64_t *values[maxElements] = {};
  for (unsigned i = 0; i < inst.elements; ++i)
    values[i] = context.row(inst.src[1 + i]);
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t address = addresses[lane] + base;
    Place place;
    if (!locate(context, inst, lane, address, total, true, place))
      return;
    uint8_t bytes[32];
    for (unsigned i = 0; i < inst.elements; ++i)
      std::memcpy(bytes + i * size, &values[i][lane], size);
    if (context.checks) {
      bool same = std::memcmp(bytes, place.bytes, total) == 0;
      recordAccess(context, inst, lane, address, total, place, AccessKind::Write, same);
      if (place.defined)
        for (unsigned i = 0; i < inst.elements; ++i) {
          uint64_t defined = ~context.undefinedBits(inst.src[1 + i], lane);
          std::memcpy(place.defined + i * size, &defined, size);
        }
    }
    std::memcpy(place.bytes, bytes, total);
  });
}

/// Strong accesses of sixteen bytes are one access among those of other host threads.
template <Handler run> void runLocked(ExecContext &context, const Inst &inst) {
  std::lock_guard<std::mutex> lock(wideAtomicMutex());
  run(context, inst);
}

} // namespace

void setLoad(Inst &inst, bool isLocked, bool isKernelParam) {
  inst.run = load;
  preferQuick<true>(inst);
  if (isLocked)
    inst.run = runLocked<load>;
  if (isKernelParam)
    inst.inner = std::exchange(inst.run, loadKernelParam);
}

void setStore(Inst &inst, bool isLocked) {
  inst.run = store;
  preferQuick<false>(inst);
  if (isLocked)
    inst.run = runLocked<store>;
}

} // namespace tilewright::ptxsim
