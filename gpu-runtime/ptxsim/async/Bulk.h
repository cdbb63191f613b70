// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk: copies of many bytes between global and shared memory that one thread issues, and that end at an mbarrier
// (complete_tx) or in a bulk group. With checks on they happen at a seeded moment, in any order; in speed mode at once.

#ifndef TILEWRIGHT_PTXSIM_ASYNC_BULK_H
#define TILEWRIGHT_PTXSIM_ASYNC_BULK_H

#include "checks/Races.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tilewright::ptxsim {

struct Block;
struct ExecContext;
struct Inst;
struct TensorMap;

struct PendingBulk {
  const Inst *inst = nullptr;
  uint32_t thread = 0;
  uint64_t to = 0, from = 0, barrier = 0;
  uint32_t bytes = 0;
  bool toShared = false;
  /// Number of the bulk group, for copies that end in one.
  uint32_t group = 0;
  uint32_t clock = 0;
  IssuePoint issued;
  /// Of a tile: its tensor map, and where it begins. The other end is an address of shared memory.
  std::shared_ptr<const TensorMap> map;
  int32_t coordinates[5] = {};
};

/// A block's bulk copies; groups and clocks are per thread.
struct BulkCopies {
  std::vector<PendingBulk> pending;
  struct Thread {
    uint32_t committed = 0, clock = 0;
    /// Clock of the last copy of each committed group.
    std::vector<uint32_t> groupClock;
  };
  std::vector<Thread> threads;
};

/// Takes a copy whose places are known: it happens now or later.
void issueBulk(ExecContext &context, unsigned lane, PendingBulk copy);
/// Moves a tile, as accesses of the agent. False after a finding.
bool performTensor(ExecContext &context, const PendingBulk &copy, uint32_t agent);

/// Performs a pending copy, at the scheduler's choice. False when there is none.
bool performOneBulk(ExecContext &context, Block &block);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_BULK_H
