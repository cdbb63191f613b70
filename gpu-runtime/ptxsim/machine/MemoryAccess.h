// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One lane's access to memory: which bytes an address means, whether it may touch them, what is defined there, and what
// the access means for races.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_MEMORYACCESS_H
#define TILEWRIGHT_PTXSIM_MACHINE_MEMORYACCESS_H

#include "machine/State.h"

namespace tilewright::ptxsim {

struct Place {
  uint8_t *bytes = nullptr;
  /// Shadow of the bytes (set bits are defined), or null where definedness is not tracked.
  uint8_t *defined = nullptr;
  /// Null for memory that only one thread sees, or that nobody writes.
  RaceShadow *races = nullptr;
  uint64_t raceOffset = 0;
  /// Identifies the location among all of the launch.
  uint64_t key = 0;
  Space space = Space::Global;
  /// Whose shared memory it is; null for other spaces.
  Block *owner = nullptr;
};

/// The block that an address of .shared::cluster means, an offset in its window: the own one below 2^24, else the one
/// whose rank, plus one, is in the bits from 24 on. Null when there is none.
Block *ownerOfShared(const ExecContext &context, uint64_t address);
/// The place of an address in its block's shared memory, and the address of that place in a block of this rank.
inline uint32_t offsetInShared(uint64_t address) { return address & (DeviceMemory::smallWindowBytes - 1); }
inline uint32_t sharedOfRank(uint32_t rank, uint64_t address) { return (rank + 1) << 24 | offsetInShared(address); }

/// Finds the bytes; on an invalid access reports a finding and returns false.
bool locate(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes, bool isWrite,
            Place &place);

/// The same in a space, and with an alignment, other than the instruction's.
bool locate(ExecContext &context, const Inst &inst, Space space, unsigned lane, uint64_t address, unsigned bytes,
            unsigned align, bool isWrite, Place &place);

/// Checks for races, and applies the ordering of strong accesses.
void recordAccess(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes,
                  const Place &place, AccessKind kind, bool sameValue);

/// The same as an access by another thread of the block: an agent. `lane` is told in reports.
void recordAccess(ExecContext &context, const Inst &inst, uint32_t thread, unsigned lane, uint64_t address,
                  unsigned bytes, const Place &place, AccessKind kind, bool sameValue);

/// The check alone, for an access of this scope (None: weak) that orders nothing by itself.
void checkRace(ExecContext &context, const Inst &inst, uint32_t thread, unsigned lane, uint64_t address, unsigned bytes,
               const Place &place, AccessKind kind, Scope scope, bool sameValue);

/// Remembers an access to another block's shared memory, which that block must learn of before it ends.
void noteIfRemote(ExecContext &context, const Inst &inst, uint32_t thread, const Place &place);

/// Reports lanes of `mask` whose address register holds undefined bits.
void checkAddressDefined(ExecContext &context, const Inst &inst, Row row, uint32_t mask);

/// Reads bytes at a generic address on behalf of the machine (printf arguments); false when they are not accessible.
bool peekGeneric(ExecContext &context, unsigned lane, uint64_t address, unsigned bytes, void *out);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_MEMORYACCESS_H
