// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom, red and the fences. Every read-modify-write is a compare-and-swap loop on the host, so blocks that run on several
// threads stay atomic among each other.

#include "arithmetic/Families.h"
#include "arithmetic/FloatTypes.h"
#include "async/StoreAsync.h"
#include "machine/Atomic.h"
#include "machine/MemoryAccess.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

template <typename T> uint64_t integerOp(AtomicOp op, uint64_t old, uint64_t b, uint64_t c) {
  T x = static_cast<T>(old), y = static_cast<T>(b);
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case AtomicOp::Add:
    return static_cast<U>(old + b);
  case AtomicOp::Inc:
    return static_cast<U>(x >= y ? 0 : x + 1);
  case AtomicOp::Dec:
    return static_cast<U>(x == 0 || x > y ? y : x - 1);
  case AtomicOp::Min:
    return static_cast<U>(std::min(x, y));
  case AtomicOp::Max:
    return static_cast<U>(std::max(x, y));
  case AtomicOp::And:
    return static_cast<U>(x & y);
  case AtomicOp::Or:
    return static_cast<U>(x | y);
  case AtomicOp::Xor:
    return static_cast<U>(x ^ y);
  case AtomicOp::Exch:
    return static_cast<U>(y);
  case AtomicOp::Cas:
    return static_cast<U>(x == y ? static_cast<T>(c) : x);
  }
  return old;
}

template <typename Format> uint64_t floatOp(AtomicOp op, uint64_t a, uint64_t b, bool ftz) {
  auto x = Format::load(a, ftz), y = Format::load(b, ftz);
  if (op == AtomicOp::Add)
    return Format::store(Format::add(x, y), ftz, Rounding::Nearest);
  if (x != x)
    return Format::store(y, ftz, Rounding::Nearest);
  if (y != y)
    return Format::store(x, ftz, Rounding::Nearest);
  bool second = op == AtomicOp::Min ? y < x : y > x;
  return Format::store(second ? y : x, ftz, Rounding::Nearest);
}

} // namespace

uint64_t combineAtomic(AtomicOp op, ScalarType type, bool inGlobal, uint64_t old, uint64_t b, uint64_t c) {
  bool bitwise = op != AtomicOp::Add && op != AtomicOp::Min && op != AtomicOp::Max;
  switch (type) {
  case ScalarType::F32:
    // Sums in global memory flush subnormal values, sums in shared memory do not.
    return bitwise ? integerOp<uint32_t>(op, old, b, c) : floatOp<F32>(op, old, b, inGlobal);
  case ScalarType::F64:
    return bitwise ? integerOp<uint64_t>(op, old, b, c) : floatOp<F64>(op, old, b, false);
  case ScalarType::F16:
    return floatOp<F16>(op, old, b, false);
  case ScalarType::BF16:
    return floatOp<BF16>(op, old, b, false);
  case ScalarType::F16x2:
    return floatOp<F16>(op, old & 0xffff, b & 0xffff, false) |
           floatOp<F16>(op, old >> 16 & 0xffff, b >> 16 & 0xffff, false) << 16;
  case ScalarType::BF16x2:
    return floatOp<BF16>(op, old & 0xffff, b & 0xffff, false) |
           floatOp<BF16>(op, old >> 16 & 0xffff, b >> 16 & 0xffff, false) << 16;
  case ScalarType::S32:
    return integerOp<int32_t>(op, old, b, c);
  case ScalarType::S64:
    return integerOp<int64_t>(op, old, b, c);
  case ScalarType::U64:
  case ScalarType::B64:
    return integerOp<uint64_t>(op, old, b, c);
  case ScalarType::B16:
  case ScalarType::U16:
    return integerOp<uint16_t>(op, old, b, c);
  default:
    return integerOp<uint32_t>(op, old, b, c);
  }
}

namespace {

template <typename T>
uint64_t exchangeLoop(uint8_t *bytes, const Inst &inst, bool inGlobal, uint64_t b, uint64_t c) {
  T *where = reinterpret_cast<T *>(bytes);
  T old = __atomic_load_n(where, __ATOMIC_SEQ_CST);
  while (true) {
    T next = static_cast<T>(combineAtomic(static_cast<AtomicOp>(inst.op), inst.type, inGlobal, old, b, c));
    if (__atomic_compare_exchange_n(where, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return old;
  }
}

/// Of a vector.
constexpr unsigned maxElements = 4;

/// Sources: address, then b of each element, then c (cas only). The result is the old value, where wanted.
void atomic(ExecContext &context, const Inst &inst) {
  const uint64_t *addresses = context.row(inst.src[0]);
  uint64_t base = static_cast<uint64_t>(inst.offset);
  unsigned size = byteWidth(inst.type);
  bool isCas = static_cast<AtomicOp>(inst.op) == AtomicOp::Cas;
  bool replaces = static_cast<AtomicOp>(inst.op) == AtomicOp::Exch;
  const uint64_t *c = isCas ? context.row(inst.src[2]) : nullptr;
  if (context.checks)
    checkAddressDefined(context, inst, inst.src[0], context.mask);
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t address = addresses[lane] + base;
    Place place;
    if (!locate(context, inst, lane, address, size * inst.elements, true, place))
      return;
    if (place.space != Space::Global && place.space != Space::Shared) {
      context.report(FindingKind::OutOfBounds, inst, lane, address,
                     "atomic access to " + std::string(spelling(place.space)) + " memory");
      return;
    }
    if (context.checks)
      recordAccess(context, inst, lane, address, size * inst.elements, place, AccessKind::Atomic, false);
    // Results may go to the registers that elements behind them come from.
    std::array<uint64_t, maxElements> operands, undefined = {};
    for (unsigned i = 0; i < inst.elements; ++i) {
      operands[i] = context.row(inst.src[1 + i])[lane];
      if (context.checks)
        undefined[i] = context.undefinedBits(inst.src[1 + i], lane);
    }
    for (unsigned i = 0; i < inst.elements; ++i) {
      uint64_t b = operands[i];
      uint8_t *bytes = place.bytes + i * size;
      bool inGlobal = place.space == Space::Global;
      uint64_t third = c ? c[lane] : 0;
      uint64_t old = size == 8   ? exchangeLoop<uint64_t>(bytes, inst, inGlobal, b, third)
                     : size == 4 ? exchangeLoop<uint32_t>(bytes, inst, inGlobal, b, third)
                                 : exchangeLoop<uint16_t>(bytes, inst, inGlobal, b, third);
      if (inst.numDst > i)
        context.row(inst.dst[i])[lane] = old;
      if (!context.checks)
        continue;
      uint64_t before = 0, after = undefined[i];
      if (c)
        after |= context.undefinedBits(inst.src[2], lane);
      if (place.defined) {
        uint64_t defined = 0;
        std::memcpy(&defined, place.defined + i * size, size);
        before = ~defined & lowBits(8 * size);
        if (!replaces)
          after |= before;
        uint64_t now = ~(after ? lowBits(8 * size) : 0);
        std::memcpy(place.defined + i * size, &now, size);
      }
      if (inst.numDst > i)
        context.setUndefinedBits(inst.dst[i], lane, before);
    }
  });
}

void fence(ExecContext &context, const Inst &inst) {
  if (!context.block->races)
    return;
  forEachLane(context.mask, [&](unsigned lane) {
    context.block->races->fence(context.warp->index * warpSize + lane, inst.scope);
  });
}

/// Orders nothing within the generic proxy. inst.mode: towards the asynchronous one, for which memory.
void betweenProxies(ExecContext &context, const Inst &inst) {
  if (BlockRaces *races = context.block->races.get(); races && inst.mode != 0)
    forEachLane(context.mask, [&](unsigned lane) { races->proxyFence(context.warp->index * warpSize + lane, inst.mode); });
}

/// A release fence that the asynchronous proxy sees too.
void mbarrierInitFence(ExecContext &context, const Inst &inst) {
  if (BlockRaces *races = context.block->races.get())
    forEachLane(context.mask,
                [&](unsigned lane) { races->proxyFence(context.warp->index * warpSize + lane, fencesShared); });
  fence(context, inst);
}

} // namespace

bool takeAtomicOp(InstDecoder &d) {
  static constexpr std::string_view names[] = {"add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"};
  for (uint8_t op = 0; op < std::size(names); ++op)
    if (d.take(names[op])) {
      d.inst.op = op;
      return true;
    }
  return d.fail("the operation is missing or unknown");
}

namespace {

bool decodeAtomic(InstDecoder &d, bool isRed) {
  Inst &inst = d.inst;
  if (isRed && d.take("async"))
    return decodeRedAsync(d);
  inst.order = Order::Relaxed;
  if (d.take("acquire"))
    inst.order = Order::Acquire;
  else if (d.take("release"))
    inst.order = Order::Release;
  else if (d.take("acq_rel"))
    inst.order = Order::AcqRel;
  else
    d.take("relaxed");
  takeScope(d);
  if (inst.scope == Scope::None)
    inst.scope = Scope::Gpu;
  takeMemorySpace(d);
  if (inst.space != Space::Generic && inst.space != Space::Global && inst.space != Space::Shared &&
      inst.space != Space::SharedCluster)
    return d.unsupported("this state space");
  if (!takeAtomicOp(d))
    return false;
  d.take("noftz");
  while (!d.takePrefix("L2").empty()) {
  }
  inst.elements = static_cast<uint8_t>(d.takeVector());
  inst.type = d.takeType();
  unsigned bits = bitWidth(inst.type);
  if (inst.type == ScalarType::B128)
    return decodeWideAtomic(d, isRed);
  if ((bits != 16 && bits != 32 && bits != 64) || inst.elements > maxElements || bits * inst.elements > 128)
    return d.unsupported("this type");
  inst.undef = UndefRule::Own;
  inst.run = atomic;
  bool isCas = static_cast<AtomicOp>(inst.op) == AtomicOp::Cas;
  size_t at = isRed ? 0 : 1;
  if (!d.expectOperands(at + (isCas ? 3 : 2), at + (isCas ? 4 : 3)) || !d.address(at))
    return false;
  if (inst.elements > 1) {
    const Operand &value = d.operand(at + 1);
    if (value.kind != Operand::Vector || value.elements.size() != inst.elements)
      return d.fail("the value must be a vector of " + std::to_string(inst.elements));
    for (const Operand &element : value.elements)
      if (!d.source(element, inst.type))
        return false;
    if (isRed)
      return true;
    const Operand &result = d.operand(0);
    if (result.kind != Operand::Vector || result.elements.size() != inst.elements)
      return d.fail("the result must be a vector of " + std::to_string(inst.elements));
    for (const Operand &element : result.elements)
      if (!d.destination(element, inst.type))
        return false;
    return true;
  }
  return d.source(at + 1, inst.type) && (!isCas || d.source(at + 2, inst.type)) &&
         (isRed || d.destination(0, inst.type));
}

} // namespace

bool decodeAtom(InstDecoder &d) { return decodeAtomic(d, false); }
bool decodeRed(InstDecoder &d) { return decodeAtomic(d, true); }

/// fence.mbarrier_init and the fences between proxies.
static bool decodeSpecialFence(InstDecoder &d) {
  Inst &inst = d.inst;
  inst.run = betweenProxies;
  inst.undef = UndefRule::Own;
  if (d.take("mbarrier_init")) {
    inst.run = mbarrierInitFence;
    inst.scope = Scope::Cluster;
    return d.needs(80, 90) && (d.take("release") && d.take("cluster") || d.fail("needs .release.cluster")) &&
           d.expectOperands(0);
  }
  d.take("proxy");
  bool isTensorMap = d.take("tensormap::generic"), isGeneric = d.take("async::generic");
  if (isTensorMap || isGeneric) {
    bool acquires = d.take("acquire");
    if (!acquires && !d.take("release"))
      return d.fail("needs .acquire or .release");
    if (isGeneric) {
      std::string_view restricted = d.takePrefix("sync_restrict::shared::");
      takeScope(d);
      if (restricted != (acquires ? "sync_restrict::shared::cluster" : "sync_restrict::shared::cta") ||
          inst.scope != Scope::Cluster)
        return d.fail("needs .acquire.sync_restrict::shared::cluster or .release.sync_restrict::shared::cta, .cluster");
      inst.mode = fencesShared;
      return d.needs(86, 90) && d.expectOperands(0);
    }
    takeScope(d);
    if (!d.needs(83, 90) || !d.expectOperands(acquires ? 2 : 0))
      return false;
    uint64_t bytes = 128;
    return !acquires || (d.address(0) && d.immediate(1, bytes) && (bytes == 128 || d.fail("the size must be 128")));
  }
  if (d.take("alias"))
    return d.needs(75, 70) && d.expectOperands(0);
  if (!d.take("async"))
    return d.unsupported("this kind of fence");
  // Without a space, of all.
  inst.mode = d.take("global")                                       ? fencesGlobal
              : d.take("shared::cta") || d.take("shared::cluster") ? fencesShared
                                                                   : fencesShared | fencesGlobal;
  return d.needs(80, 90) && d.expectOperands(0);
}

bool decodeFence(InstDecoder &d) {
  if (d.hasModifier("proxy") || d.hasModifier("mbarrier_init"))
    return decodeSpecialFence(d);
  if (!d.take("sc") && !d.take("acq_rel") && !d.take("acquire") && !d.take("release"))
    return d.unsupported("this kind of fence");
  takeScope(d);
  if (d.inst.scope == Scope::None)
    return d.fail("a fence needs a scope");
  d.inst.run = fence;
  d.inst.undef = UndefRule::Own;
  return d.expectOperands(0);
}

bool decodeMembar(InstDecoder &d) {
  takeScope(d);
  if (d.take("gl"))
    d.inst.scope = Scope::Gpu;
  if (d.inst.scope == Scope::None)
    return d.fail("needs .cta, .gl or .sys");
  d.inst.run = fence;
  d.inst.undef = UndefRule::Own;
  return d.expectOperands(0);
}

} // namespace tilewright::ptxsim
