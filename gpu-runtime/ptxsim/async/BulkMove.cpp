// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of bulk copies without tensor maps, and reductions into memory.

#include "async/BulkMove.h"
#include "async/Bulk.h"
#include "machine/Atomic.h"
#include "machine/GlobalTraffic.h"

#include <algorithm>
#include <cstring>

namespace tilewright::ptxsim {

static void countGlobal(ExecContext &context, const PendingBulk &copy, TrafficWay way, uint64_t address) {
  GlobalTraffic::Range range = {address, address + copy.bytes};
  if (context.grid->globalTraffic && copy.isCounted)
    context.grid->globalTraffic->count(context, *copy.inst, way, &range, copy.bytes != 0);
}

/// By pieces, so that a finding names the place.
static constexpr uint32_t piece = 16;

bool readLinear(ExecContext &context, PendingBulk &copy) {
  unsigned lane = copy.thread % warpSize;
  Space space = copy.way == BulkWay::GlobalToShared ? Space::Global : Space::Shared;
  if (space == Space::Global)
    countGlobal(context, copy, TrafficWay::Read, copy.from);
  for (uint32_t at = 0; at < copy.bytes; at += piece) {
    Place from;
    if (!locate(context, *copy.inst, space, lane, copy.from + at, piece, piece, false, from))
      return false;
    if (context.checks)
      recordAccess(context, *copy.inst, copy.reader, lane, copy.from + at, piece, from, AccessKind::Read, false);
    std::memcpy(copy.data.data() + at, from.bytes, piece);
    if (context.checks && from.defined)
      std::memcpy(copy.defined.data() + at, from.defined, piece);
  }
  return true;
}

void putBytes(ExecContext &context, const PendingBulk &copy, const Place &to, uint64_t address, uint32_t at,
              unsigned bytes) {
  if (context.checks) {
    recordAccess(context, *copy.inst, copy.writer, copy.thread % warpSize, address, bytes, to, AccessKind::Write,
                 std::memcmp(to.bytes, copy.data.data() + at, bytes) == 0);
    if (to.defined)
      std::memcpy(to.defined, copy.defined.data() + at, bytes);
  }
  std::memcpy(to.bytes, copy.data.data() + at, bytes);
}

void reduceBytes(ExecContext &context, const PendingBulk &copy, ScalarType type, const Place &to, uint64_t address,
                 uint32_t at, unsigned bytes) {
  unsigned size = byteWidth(type);
  if (context.checks) {
    Scope scope = copy.inst->scope == Scope::None ? Scope::Gpu : copy.inst->scope;
    noteForEnd(context, *copy.inst, copy.writer, to);
    checkRace(context, *copy.inst, copy.writer, copy.thread % warpSize, address, bytes, to, AccessKind::Atomic, scope,
              false);
  }
  for (unsigned i = 0; i < bytes; i += size) {
    uint64_t operand = 0;
    std::memcpy(&operand, copy.data.data() + at + i, size);
    AtomicOp op = static_cast<AtomicOp>(copy.inst->op);
    bool inGlobal = to.space == Space::Global;
    auto exchange = [&](auto word) {
      auto *where = reinterpret_cast<decltype(word) *>(to.bytes + i);
      word = __atomic_load_n(where, __ATOMIC_SEQ_CST);
      while (!__atomic_compare_exchange_n(
          where, &word, static_cast<decltype(word)>(combineAtomic(op, type, inGlobal, word, operand, 0)), false,
          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      }
    };
    size == 8 ? exchange(uint64_t()) : size == 4 ? exchange(uint32_t()) : exchange(uint16_t());
    if (!context.checks || !to.defined)
      continue;
    auto isDefined = [](uint8_t byte) { return byte == 0xff; };
    bool all = std::all_of(to.defined + i, to.defined + i + size, isDefined) &&
               std::all_of(copy.defined.begin() + at + i, copy.defined.begin() + at + i + size, isDefined);
    std::memset(to.defined + i, all ? 0xff : 0, size);
  }
}

bool writeLinear(ExecContext &context, const PendingBulk &copy) {
  unsigned lane = copy.thread % warpSize;
  Space space = copy.way == BulkWay::SharedToGlobal ? Space::Global : Space::SharedCluster;
  if (space == Space::Global)
    countGlobal(context, copy, copy.inst->reduces ? TrafficWay::Update : TrafficWay::Write, copy.to);
  unsigned step = std::min(piece, copy.bytes);
  for (uint32_t at = 0; at < copy.bytes; at += step) {
    Place to;
    if (!locate(context, *copy.inst, space, lane, copy.to + at, step, step, true, to))
      return false;
    if (copy.inst->reduces)
      reduceBytes(context, copy, copy.inst->type, to, copy.to + at, at, step);
    else
      putBytes(context, copy, to, copy.to + at, at, step);
  }
  return true;
}

} // namespace tilewright::ptxsim
