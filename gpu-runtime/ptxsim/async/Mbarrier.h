// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarrier objects in shared memory.
//
// A phase completes when its pending arrivals and its transactions are both zero, in whatever order they became so; the
// next phase begins with the expected number of arrivals. The state lives beside shared memory; the eight bytes of the
// object hold a copy, by which an overwritten object is recognised.
//
// For races, arrivals (release by default) collect what their threads know, and a wait that succeeds (acquire by
// default) learns what the completed phases have collected. A wait that fails learns nothing.
//
// A fragment whose wait fails in all lanes falls asleep: it gets no turn until a phase completes in its block, nothing
// else there can run, or now and then by chance. So a loop around a wait costs little, and a wait without end is noticed.

#ifndef TILEWRIGHT_PTXSIM_ASYNC_MBARRIER_H
#define TILEWRIGHT_PTXSIM_ASYNC_MBARRIER_H

#include "checks/Races.h"

#include <cstdint>
#include <map>
#include <string>

namespace tilewright::ptxsim {

struct Block;
struct ExecContext;
struct Inst;
struct Warp;

struct Mbarrier {
  static constexpr uint32_t maxCount = (1u << 20) - 1;

  /// In the shared memory of this block.
  Block *owner = nullptr;
  uint32_t offset = 0;
  /// Arrivals per phase, and those that the current phase still waits for.
  uint32_t expected = 0;
  uint32_t pending = 0;
  /// Bytes announced and not yet arrived; negative where they arrived first.
  int32_t transactions = 0;
  uint64_t phase = 0;
  /// The instruction that changed the transactions last.
  const Inst *changed = nullptr;
  JoinedClock arriving, completed;
  /// Who of the grid's threads initialised it, and when.
  uint32_t initThread = 0, initClock = 0, initLine = 0;

  /// What the eight bytes of the object hold.
  uint64_t bits() const;
  /// What mbarrier.arrive returns, for test_wait and pending_count.
  uint64_t token() const { return phase << 20 | pending; }
};

/// A block's objects, by offset in shared memory.
using MbarrierSet = std::map<uint32_t, Mbarrier>;

/// The object at this address as the instruction's space has it; null after a finding.
Mbarrier *findMbarrier(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address);
/// The same in another space, as an access by another thread of the block: an agent.
Mbarrier *findMbarrier(ExecContext &context, const Inst &inst, Space space, uint32_t thread, unsigned lane,
                       uint64_t address);
/// Arrivals and transactions of the current phase; a phase that is complete ends. Misuse is reported.
void arriveAt(ExecContext &context, const Inst &inst, unsigned lane, Mbarrier &barrier, uint32_t count);
void addTransactions(ExecContext &context, const Inst &inst, unsigned lane, Mbarrier &barrier, int64_t bytes);
/// Writes the object's bytes after a change.
void storeMbarrier(const Mbarrier &barrier);

/// Reports an object that a bulk copy uses without a fence after mbarrier.init; the copy counts as the agent's.
void checkInitFence(ExecContext &context, const Inst &inst, unsigned lane, const Mbarrier &barrier, uint32_t agent);
/// At the end of the block: bytes that were announced and never came, or came unannounced.
void checkTransactions(ExecContext &context, const Block &block);

/// Gives sleeping fragments of the block their turn; false when there are none.
bool wakeSleepers(Block &block);
bool hasSleeper(const Warp &warp);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_MBARRIER_H
