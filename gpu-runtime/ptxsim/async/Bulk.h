// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of many bytes that one thread issues, and that end at an mbarrier (complete_tx) or in a bulk group: cp.async.bulk
// and cp.reduce.async.bulk, with tensor maps or without; st.async and red.async, whose bytes come from registers.
//
// A copy has two halves, reading its source and writing its destination. With checks on each happens at a seeded moment,
// in any order among copies; wait_group.read waits for the first halves only. In speed mode all is done at the issue.
// A multicast is a copy for each block it goes to.

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

enum class BulkWay : uint8_t { GlobalToShared, SharedToGlobal, SharedToShared };

struct PendingBulk {
  const Inst *inst = nullptr;
  uint32_t thread = 0;
  BulkWay way = BulkWay::GlobalToShared;
  /// Addresses of shared memory are those of .shared::cluster.
  uint64_t to = 0, from = 0, barrier = 0;
  uint32_t bytes = 0;
  /// Number of the bulk group, for copies that end in one.
  uint32_t group = 0;
  uint32_t clock = 0;
  IssuePoint issued;
  /// Whom the halves count as: agents of the thread, or of another one of its warp.
  uint32_t reader = 0, writer = 0;
  /// Of a tile: its tensor map, where it begins, and what is added to each place (im2col). The other end is an address of
  /// shared memory.
  std::shared_ptr<const TensorMap> map;
  int32_t coordinates[5] = {};
  uint16_t offsets[3] = {};
  /// What was read, and which bits of it are defined (with checks).
  bool isRead = false;
  std::vector<uint8_t> data, defined;
  /// Of a multicast one copy is counted as a request of global memory.
  bool isCounted = true;

  bool endsInGroup() const { return way == BulkWay::SharedToGlobal; }
};

/// A block's bulk copies; groups are per thread, clocks per thread whose agents copies count as.
struct BulkCopies {
  std::vector<PendingBulk> pending;
  struct Thread {
    uint32_t committed = 0, clock = 0;
    /// Clock of the last copy of each committed group.
    std::vector<uint32_t> groupClock;
  };
  std::vector<Thread> threads;
  /// The mbarriers of copies, in the order in which they came.
  std::vector<uint64_t> barriers;
};

/// Takes a copy whose places are known, for each block of the mask (0: only where `to` says): it happens now or later.
void issueBulk(ExecContext &context, unsigned lane, PendingBulk copy, uint16_t multicast);
/// The same for a copy that counts as another agent, with a clock of its own.
void startBulk(ExecContext &context, PendingBulk copy);

/// The halves of a copy without a tensor map. False after a finding.
bool readLinear(ExecContext &context, PendingBulk &copy);
bool writeLinear(ExecContext &context, const PendingBulk &copy);
/// Of a tile.
bool readTile(ExecContext &context, PendingBulk &copy);
bool writeTile(ExecContext &context, const PendingBulk &copy);

/// Performs a pending copy, or half of it, at the scheduler's choice. False when there is none.
bool performOneBulk(ExecContext &context, Block &block);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_BULK_H
