// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ld, st, and the hints that change nothing (prefetch, discard, applypriority).

#include "arithmetic/Families.h"
#include "async/StoreAsync.h"
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

bool isKernelParam(const InstDecoder &d) {
  return d.inst.space == Space::Param && d.function.isEntry && !d.inst.frameParam && d.inst.src[0] >= constantBank &&
         d.inst.src[0] < specialBank;
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

void nothing(ExecContext &, const Inst &) {}

/// .b128 is two elements of .b64.
bool takeWide(Inst &inst) {
  if (inst.type != ScalarType::B128 || inst.elements != 1)
    return false;
  inst.type = ScalarType::B64;
  inst.elements = 2;
  return true;
}

/// Strong accesses of sixteen bytes are one access among those of other host threads.
template <Handler run> void runLocked(ExecContext &context, const Inst &inst) {
  std::lock_guard<std::mutex> lock(wideAtomicMutex());
  run(context, inst);
}

void lockWide(Inst &inst) { inst.run = inst.numDst != 0 ? runLocked<load> : runLocked<store>; }

bool takeOrder(InstDecoder &d, bool isLoad) {
  Inst &inst = d.inst;
  bool isVolatile = d.take("volatile");
  if (d.take("relaxed"))
    inst.order = Order::Relaxed;
  else if (isLoad ? d.take("acquire") : d.take("release"))
    inst.order = isLoad ? Order::Acquire : Order::Release;
  else
    d.take("weak");
  takeScope(d);
  if (isVolatile) {
    inst.order = Order::Relaxed;
    inst.scope = Scope::Sys;
  }
  if (inst.order != Order::Weak && inst.scope == Scope::None)
    return d.fail("a strong access needs a scope");
  return true;
}

void takeCacheHints(InstDecoder &d) {
  for (std::string_view hint : {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "unified"})
    d.take(hint);
  d.inst.readOnly = d.take("nc");
  while (!d.takePrefix("L1").empty() || !d.takePrefix("L2").empty()) {
  }
}

bool memoryOperand(InstDecoder &d, size_t index) {
  Inst &inst = d.inst;
  if (!d.address(index))
    return false;
  const Operand &where = d.operand(index);
  if (where.elements.empty() || where.elements.front().kind != Operand::Variable)
    return true;
  // A name instead of a register: it must live in the space that the instruction names.
  const Variable &variable = d.function.variables[where.elements.front().index];
  bool isOwnShared = variable.space == Space::Shared && inst.space == Space::SharedCluster;
  if (variable.space != inst.space && inst.space != Space::Generic && !isOwnShared)
    return d.fail("'" + variable.name + "' is in ." + std::string(spelling(variable.space)) + " memory");
  if (inst.space == Space::Generic && variable.space == Space::Shared)
    inst.space = Space::Shared;
  bool isKernelParam = d.function.isEntry && where.elements.front().index <
                                                 d.function.params.size() + d.function.returns.size();
  if (variable.space == Space::Param && inst.frameLocal)
    inst.space = Space::Local;
  inst.frameParam = variable.space == Space::Param && !isKernelParam && !inst.frameLocal;
  return true;
}

} // namespace

void takeScope(InstDecoder &d) {
  static constexpr struct {
    std::string_view name;
    Scope scope;
  } scopes[] = {{"cta", Scope::Cta}, {"cluster", Scope::Cluster}, {"gpu", Scope::Gpu}, {"sys", Scope::Sys}};
  for (const auto &entry : scopes)
    if (d.take(entry.name))
      d.inst.scope = entry.scope;
}

bool takeMemorySpace(InstDecoder &d) {
  static constexpr struct {
    std::string_view name;
    Space space;
  } spaces[] = {{"global", Space::Global},      {"shared", Space::Shared},
                {"shared::cta", Space::Shared}, {"shared::cluster", Space::SharedCluster},
                {"local", Space::Local},        {"const", Space::Const},
                {"param", Space::Param},        {"param::entry", Space::Param},
                {"param::func", Space::Param}};
  for (const auto &entry : spaces)
    if (d.take(entry.name)) {
      d.inst.space = entry.space;
      return true;
    }
  return true;
}

bool decodeLd(InstDecoder &d) {
  Inst &inst = d.inst;
  if (!takeOrder(d, true) || !takeMemorySpace(d))
    return false;
  takeCacheHints(d);
  inst.elements = static_cast<uint8_t>(d.takeVector());
  inst.type = d.takeType();
  inst.undef = UndefRule::Own;
  inst.run = load;
  bool isWide = takeWide(inst);
  if (inst.elements > 4 || bitWidth(inst.type) > 64 || bitWidth(inst.type) * inst.elements > 256)
    return d.unsupported("this vector");
  // A third operand is a cache policy, which changes no result.
  if (!d.expectOperands(2, 3))
    return false;
  const Operand &result = d.operand(0);
  if (isWide) {
    if (!d.wideDestination(result))
      return false;
  } else if (inst.elements > 1) {
    if (result.kind != Operand::Vector || result.elements.size() != inst.elements)
      return d.fail("the result must be a vector of " + std::to_string(inst.elements));
    for (const Operand &element : result.elements)
      if (!d.destination(element, inst.type))
        return false;
  } else if (!d.destination(result.kind == Operand::Vector && result.elements.size() == 1 ? result.elements[0] : result,
                            inst.type)) {
    return false;
  }
  if (inst.dstBits == 0)
    inst.dstBits = static_cast<uint8_t>(bitWidth(inst.type));
  if (!memoryOperand(d, 1))
    return false;
  preferQuick<true>(inst);
  if (isWide && inst.order != Order::Weak)
    lockWide(inst);
  if (isKernelParam(d))
    inst.inner = std::exchange(inst.run, loadKernelParam);
  return true;
}

bool decodeSt(InstDecoder &d) {
  Inst &inst = d.inst;
  if (d.take("async"))
    return decodeStAsync(d);
  if (!takeOrder(d, false) || !takeMemorySpace(d))
    return false;
  takeCacheHints(d);
  inst.elements = static_cast<uint8_t>(d.takeVector());
  inst.type = d.takeType();
  inst.undef = UndefRule::Own;
  inst.run = store;
  bool isWide = takeWide(inst);
  if (inst.elements > 4 || bitWidth(inst.type) > 64 || bitWidth(inst.type) * inst.elements > 256)
    return d.unsupported("this vector");
  if (!d.expectOperands(2, 3) || !memoryOperand(d, 0))
    return false;
  const Operand &value = d.operand(1);
  if (isWide) {
    if (!d.wideSource(value))
      return false;
  } else if (inst.elements == 1) {
    if (!d.source(value.kind == Operand::Vector && value.elements.size() == 1 ? value.elements[0] : value, inst.type))
      return false;
  } else {
    if (value.kind != Operand::Vector || value.elements.size() != inst.elements)
      return d.fail("the value must be a vector of " + std::to_string(inst.elements));
    for (const Operand &element : value.elements)
      if (!d.source(element, inst.type))
        return false;
  }
  preferQuick<false>(inst);
  if (isWide && inst.order != Order::Weak)
    lockWide(inst);
  return true;
}

bool decodeHint(InstDecoder &d) {
  takeMemorySpace(d);
  d.take("mask");
  d.take("tensormap");
  takeCacheHints(d);
  d.inst.run = nothing;
  d.inst.undef = UndefRule::Own;
  return true;
}

bool decodeNanosleep(InstDecoder &d) {
  d.inst.type = d.takeType();
  d.inst.run = nothing;
  d.inst.undef = UndefRule::Own;
  return d.expectOperands(1) && d.source(0, ScalarType::U32);
}

} // namespace tilewright::ptxsim
