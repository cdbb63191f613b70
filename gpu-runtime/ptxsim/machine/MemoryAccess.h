// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One lane's access to memory: which bytes an address means, whether it may touch them, what is defined there, and what
// the access means for races.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_MEMORYACCESS_H
#define TILEWRIGHT_PTXSIM_MACHINE_MEMORYACCESS_H

#include "machine/State.h"

#include <mutex>

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

/// Addresses in shared memory have in the bits from 24 on the rank in its cluster of the block whose memory it is: what a
/// block takes of its own variables by mov or cvta too, and what mapa makes. Code that ptxas makes for sm_90 computes
/// them so (of a variable: S2R SR_CgaCtaId, which %cluster_ctarank is, then LEA ..., 0x18; for mapa: PRMT ..., 0x654), and
/// blocks of rank 0 and 1 on an H100 were seen to have 0x400 and 0x01000400. Who puts an address into a descriptor of
/// wgmma has to cut the rank off.
inline uint32_t beginOfShared(uint32_t rank) { return rank << 24; }
/// The place of an address in its block's shared memory, and the address of that place in a block of this rank.
inline uint32_t offsetInShared(uint64_t address) { return address & (DeviceMemory::smallWindowBytes - 1); }
inline uint32_t sharedOfRank(uint32_t rank, uint64_t address) { return beginOfShared(rank) | offsetInShared(address); }
/// The block that such an address means; null when the cluster has none of this rank.
Block *ownerOfShared(const ExecContext &context, uint64_t address);
/// Where `bytes` of .shared::cta are in the own block's memory. False, of addresses of another block too, when they are not.
inline bool offsetInOwn(const ExecContext &context, uint64_t address, unsigned bytes, uint32_t &offset) {
  const Block &block = *context.block;
  // Of lower addresses it is beyond the end.
  uint32_t past = static_cast<uint32_t>(address) - block.sharedAddress;
  offset = past + block.sharedBegin;
  return uint64_t(past) + bytes <= block.sharedBytes;
}
/// An address in shared memory as findings tell it: the offset, where it is in that of the own block.
inline uint64_t toldShared(const ExecContext &context, uint64_t address) {
  return address >> 24 == context.block->rank ? offsetInShared(address) : address;
}

/// With checks.
inline void placeInShared(Block &block, uint64_t offset, Place &place) {
  place.space = Space::Shared;
  place.owner = &block;
  place.bytes = block.shared.data() + offset;
  place.defined = block.definedShared.data() + offset;
  if (block.races) {
    place.races = &block.races->shared;
    place.raceOffset = offset;
    place.key = 1ull << 63 | block.linear << 24 | offset;
  }
}

/// With checks.
inline void placeInAllocation(ExecContext &context, Allocation &allocation, uint64_t address, Place &place) {
  DeviceMemory &memory = *context.grid->memory;
  place.space = Space::Global;
  place.bytes = memory.backing(address);
  place.defined = memory.shadow(address);
  if (context.grid->races && !allocation.readOnly) {
    if (!allocation.races)
      allocation.races = std::make_unique<RaceShadow>(allocation.size);
    place.races = allocation.races.get();
    place.raceOffset = address - allocation.address;
    place.key = address;
  }
}

/// Finds the bytes; on an invalid access reports a finding and returns false.
bool locate(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes, bool isWrite,
            Place &place);

/// The same in a space, and with an alignment, other than the instruction's.
bool locate(ExecContext &context, const Inst &inst, Space space, unsigned lane, uint64_t address, unsigned bytes,
            unsigned align, bool isWrite, Place &place);

/// With checks, where a plain access of the instruction's space that is in bounds goes: shared memory, or an allocation
/// that locate() found for this instruction before. False leaves it to locate().
inline bool locateQuick(ExecContext &context, const Inst &inst, uint64_t address, unsigned bytes, bool isWrite,
                        Place &place) {
  if (address % bytes != 0)
    return false;
  if (inst.space == Space::Shared) {
    uint32_t offset;
    if (!offsetInOwn(context, address, bytes, offset))
      return false;
    placeInShared(*context.block, offset, place);
    return true;
  }
  Allocation *allocation = context.allocationCache[&inst - context.grid->program->code.data()];
  if (!allocation || !allocation->contains(address, bytes) || (isWrite && allocation->readOnly) ||
      (!allocation->subBuffers.empty() && !allocation->inSubBuffer(address, bytes)))
    return false;
  placeInAllocation(context, *allocation, address, place);
  return true;
}

/// Checks for races, and applies the ordering of strong accesses.
void recordAccess(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes,
                  const Place &place, AccessKind kind, bool sameValue);

/// A weak read of one place by several lanes.
void recordReads(ExecContext &context, const Inst &inst, uint32_t lanes, uint64_t address, unsigned bytes,
                 const Place &place);

/// The same as an access by another thread of the block: an agent. `lane` is told in reports.
void recordAccess(ExecContext &context, const Inst &inst, uint32_t thread, unsigned lane, uint64_t address,
                  unsigned bytes, const Place &place, AccessKind kind, bool sameValue);

/// The check alone, for an access of this scope (None: weak) that orders nothing by itself.
void checkRace(ExecContext &context, const Inst &inst, uint32_t thread, unsigned lane, uint64_t address, unsigned bytes,
               const Place &place, AccessKind kind, Scope scope, bool sameValue);

/// Remembers an access to shared memory by another block or by an asynchronous copy, which the memory's block must learn of
/// before it ends.
void noteForEnd(ExecContext &context, const Inst &inst, uint32_t thread, const Place &place);

/// Reports lanes of `mask` whose address register holds undefined bits.
void checkAddressDefined(ExecContext &context, const Inst &inst, Row row, uint32_t mask);

/// Held by whoever accesses sixteen bytes as one.
std::mutex &wideAtomicMutex();

/// Reads bytes at a generic address on behalf of the machine (printf arguments); false when they are not accessible.
bool peekGeneric(ExecContext &context, unsigned lane, uint64_t address, unsigned bytes, void *out);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_MEMORYACCESS_H
