// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async: copies from global to shared memory that a thread issues and waits for in groups.
//
// A copy happens at some time between its issue and the wait that covers it. With checks on, a seeded choice says when,
// from at once to the very last moment; in speed mode it is at once. For races a copy is an access by an agent of the
// thread that issued it: the agent knows what the thread knew at the issue, and the thread learns of the agent's accesses
// at the wait.

#ifndef TILEWRIGHT_PTXSIM_ASYNC_COPYASYNC_H
#define TILEWRIGHT_PTXSIM_ASYNC_COPYASYNC_H

#include "checks/Races.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tilewright::ptxsim {

struct Block;
struct ExecContext;
struct Inst;
struct Warp;

struct PendingCopy {
  const Inst *inst = nullptr;
  unsigned lane = 0;
  uint64_t to = 0, from = 0;
  /// Bytes to write, and how many of them come from memory; the rest is zero.
  uint8_t bytes = 0, sourceBytes = 0;
  uint32_t group = 0;
  /// Counts the lane's copies from one on: the agent's clock.
  uint32_t clock = 0;
  IssuePoint issued;
};

/// cp.async.mbarrier.arrive: happens when the lane's copies up to this clock have.
struct PendingArrival {
  const Inst *inst = nullptr;
  unsigned lane = 0;
  uint64_t address = 0;
  uint32_t clock = 0;
  IssuePoint issued;
};

/// A warp's copies.
struct AsyncCopies {
  std::vector<PendingCopy> pending;
  /// Groups that each lane has committed; the open group has this number.
  std::array<uint32_t, 32> committed{};
  /// Copies that each lane has issued, in all and up to the end of each committed group.
  std::array<uint32_t, 32> issued{};
  std::array<std::vector<uint32_t>, 32> groupEnds;
  std::vector<PendingArrival> arrivals;
};

/// Performs the pending copies of these lanes in groups below `before`.
void finishCopies(ExecContext &context, Warp &warp, uint32_t lanes, const std::array<uint32_t, 32> &before);
/// Performs some of the block's pending copies, or all of them; true when there were any.
bool finishSomeCopies(ExecContext &context, Block &block);
bool finishAllCopies(ExecContext &context, Block &block);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_COPYASYNC_H
