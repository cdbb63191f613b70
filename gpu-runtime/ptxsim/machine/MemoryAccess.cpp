// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Address spaces, bounds and alignment.

#include "machine/MemoryAccess.h"

#include <cstdio>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

std::string hex(uint64_t value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "0x%llx", static_cast<unsigned long long>(value));
  return buffer;
}

std::string described(const char *verb, unsigned bytes, Space space) {
  return std::string(verb) + " of " + std::to_string(bytes) + " bytes of " + std::string(spelling(space)) + " memory";
}

void reportGlobal(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes,
                  bool isWrite) {
  std::string message = described(isWrite ? "write" : "read", bytes, Space::Global);
  const Allocation *near = context.grid->memory->nearest(address);
  if (near && near->freed && address - near->address < near->size) {
    context.report(FindingKind::UseAfterFree, inst, lane, address,
                   message + " in a freed allocation of " + std::to_string(near->size) + " bytes at " +
                       hex(near->address));
    return;
  }
  if (near && address >= near->address && address - near->address < near->size + (1u << 20)) {
    uint64_t offset = address - near->address;
    message += " at offset " + std::to_string(offset) + " of an allocation of " + std::to_string(near->size) + " bytes";
    if (!near->label.empty())
      message += " (" + near->label + ")";
    for (const SubBuffer &buffer : near->subBuffers)
      if (address + bytes > buffer.begin && address < buffer.end + 4096 && address >= buffer.begin)
        message += ", near " + (buffer.label.empty() ? "the buffer" : "sub-buffer '" + buffer.label + "'") + " of " +
                   std::to_string(buffer.end - buffer.begin) +
                   " bytes at offset " + std::to_string(buffer.begin - near->address);
  } else {
    message += ", where nothing is allocated";
  }
  context.report(FindingKind::OutOfBounds, inst, lane, address, message);
}

/// Memory of the host that the program has mapped; false when there is none.
bool locateHost(ExecContext &context, uint64_t address, unsigned bytes, Place &place) {
  Allocation *allocation = context.grid->memory->findHost(address);
  if (!allocation || !allocation->contains(address, bytes))
    return false;
  place.bytes = reinterpret_cast<uint8_t *>(address);
  if (context.grid->races) {
    if (!allocation->races)
      allocation->races = std::make_unique<RaceShadow>(allocation->size);
    place.races = allocation->races.get();
    place.raceOffset = address - allocation->address;
    place.key = address;
  }
  return true;
}

bool locateGlobal(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes, bool isWrite,
                  Place &place) {
  DeviceMemory &memory = *context.grid->memory;
  place.space = Space::Global;
  if (!context.checks) {
    if (!memory.pageMapped(address) || !memory.pageMapped(address + bytes - 1)) {
      if (locateHost(context, address, bytes, place))
        return true;
      reportGlobal(context, inst, lane, address, bytes, isWrite);
      return false;
    }
    place.bytes = memory.backing(address);
    return true;
  }
  Allocation *&cached = context.allocationCache[&inst - context.grid->program->code.data()];
  if (!cached || !cached->contains(address, bytes)) {
    Allocation *found = memory.find(address);
    if (!found || !found->contains(address, bytes)) {
      if (locateHost(context, address, bytes, place))
        return true;
      reportGlobal(context, inst, lane, address, bytes, isWrite);
      return false;
    }
    cached = found;
  }
  Allocation &allocation = *cached;
  if (!allocation.subBuffers.empty() && !allocation.inSubBuffer(address, bytes)) {
    reportGlobal(context, inst, lane, address, bytes, isWrite);
    return false;
  }
  if (isWrite && allocation.readOnly) {
    context.report(FindingKind::ReadOnly, inst, lane, address,
                   described("write", bytes, Space::Const) + " (" + allocation.label + ")");
    return false;
  }
  placeInAllocation(context, allocation, address, place);
  return true;
}

bool outside(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes, bool isWrite,
             Space space, uint64_t size) {
  context.report(FindingKind::OutOfBounds, inst, lane, address,
                 described(isWrite ? "write" : "read", bytes, space) + " at offset " + std::to_string(address) +
                     ", of which there are " + std::to_string(size));
  return false;
}

/// Whether the thread knows that the other block of the cluster has begun, and so has its shared memory: it has waited for
/// all to meet, or a thread of that block has told it something. In the simulator all blocks are there from the start.
bool knowsBegun(const ExecContext &context, const Block &other, unsigned lane) {
  const Warp &warp = *context.warp;
  const BlockRaces *races = context.block->races.get();
  uint64_t meetings = other.cluster->meetings;
  bool hasMet = meetings > 1 || (meetings == 1 && !(warp.clusterComplete >> lane & 1));
  return !races || hasMet || races->knowsOf(warp.index * warpSize + lane, other.linear);
}

bool locateShared(ExecContext &context, const Inst &inst, Space space, unsigned lane, uint64_t address, unsigned bytes,
                  bool isWrite, Place &place) {
  Block *owner = ownerOfShared(context, address);
  if (!owner)
    return outside(context, inst, lane, address, bytes, isWrite, space, context.block->shared.size());
  if (owner != context.block && space == Space::Shared) {
    context.report(FindingKind::ClusterMisuse, inst, lane, address,
                   "the address is of block " + std::to_string(owner->rank) +
                       " of the cluster, the instruction for shared memory of the own block, that of rank " +
                       std::to_string(context.block->rank));
    return false;
  }
  if (owner->liveThreads == 0 && owner != context.block) {
    context.report(FindingKind::ClusterMisuse, inst, lane, address,
                   described(isWrite ? "write" : "read", bytes, Space::Shared) + " of block " +
                       std::to_string(owner->rank) + " of the cluster, which has ended");
    return false;
  }
  if (owner != context.block && !knowsBegun(context, *owner, lane)) {
    context.report(FindingKind::ClusterMisuse, inst, lane, address,
                   described(isWrite ? "write" : "read", bytes, Space::Shared) + " of block " +
                       std::to_string(owner->rank) + " of the cluster, and nothing says that it has begun: no "
                       "barrier.cluster came before");
    return false;
  }
  address = offsetInShared(address);
  std::vector<uint8_t> &shared = owner->shared;
  if (address + bytes > shared.size() || address < context.grid->program->sharedBegin)
    return outside(context, inst, lane, address, bytes, isWrite, Space::Shared, shared.size());
  place.space = Space::Shared;
  place.owner = owner;
  place.bytes = shared.data() + address;
  if (context.checks)
    placeInShared(*owner, address, place);
  return true;
}

} // namespace

Block *ownerOfShared(const ExecContext &context, uint64_t address) {
  uint64_t rank = address / DeviceMemory::smallWindowBytes;
  const auto &blocks = context.block->cluster->blocks;
  return rank < blocks.size() ? blocks[rank].get() : nullptr;
}

bool locate(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes, bool isWrite,
            Place &place) {
  return locate(context, inst, inst.space, lane, address, bytes, bytes, isWrite, place);
}

bool locate(ExecContext &context, const Inst &inst, Space space, unsigned lane, uint64_t address, unsigned bytes,
            unsigned align, bool isWrite, Place &place) {
  if (address & (align - 1)) {
    bool isShared = space == Space::Shared || space == Space::SharedCluster;
    context.report(FindingKind::Misaligned, inst, lane, isShared ? toldShared(context, address) : address,
                   described(isWrite ? "write" : "read", bytes, space) + " at an address that is no multiple of " +
                       std::to_string(align));
    return false;
  }
  if (space == Space::Generic) {
    uint64_t offset = address - context.grid->memory->windowBase();
    space = Space::Global;
    if (offset < DeviceMemory::localWindow) {
      space = Space::SharedCluster;
      address = offset;
    } else if (offset < DeviceMemory::smallWindowsEnd) {
      space = offset < DeviceMemory::paramWindow ? Space::Local : Space::Param;
      address = offset % DeviceMemory::smallWindowBytes;
    }
  }
  place.space = space;
  switch (space) {
  case Space::Shared:
  case Space::SharedCluster:
    // Addresses of these spaces are 32-bit values, whatever register they came in.
    return locateShared(context, inst, space, lane, address & 0xffffffff, bytes, isWrite, place);
  case Space::Local: {
    Warp &warp = *context.warp;
    if (address + bytes > warp.localStride || address + bytes < address)
      return outside(context, inst, lane, address, bytes, isWrite, space, warp.localStride);
    uint64_t at = uint64_t(lane) * warp.localStride + address;
    place.bytes = warp.local.data() + at;
    place.defined = context.checks ? warp.definedLocal.data() + at : nullptr;
    return true;
  }
  case Space::Param: {
    if (inst.frameParam) {
      Frame &frame = *context.frame;
      uint64_t size = frame.function->paramBytes;
      if (address + bytes > size || address + bytes < address)
        return outside(context, inst, lane, address, bytes, isWrite, space, size);
      uint64_t at = lane * size + address;
      place.bytes = frame.params.data() + at;
      place.defined = context.checks ? frame.definedParams.data() + at : nullptr;
      return true;
    }
    std::vector<uint8_t> &params = context.grid->params;
    if (isWrite) {
      context.report(FindingKind::ReadOnly, inst, lane, address, "write to a kernel parameter");
      return false;
    }
    if (address + bytes > params.size() || address + bytes < address)
      return outside(context, inst, lane, address, bytes, isWrite, space, params.size());
    place.bytes = params.data() + address;
    return true;
  }
  default:
    return locateGlobal(context, inst, lane, address, bytes, isWrite, place);
  }
}

void recordAccess(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes,
                  const Place &place, AccessKind kind, bool sameValue) {
  recordAccess(context, inst, context.warp->index * warpSize + lane, lane, address, bytes, place, kind, sameValue);
}

namespace {

void reportProxyOrder(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, const Place &place,
                      AccessKind kind, const RaceReport &other) {
  address = place.owner ? toldShared(context, address) : address;
  const GridRaces &races = *context.grid->races;
  std::string message = std::string("the asynchronous proxy ") + (kind == AccessKind::Read ? "reads " : "writes ") +
                        std::string(spelling(place.space)) + " memory that " +
                        (other.thread < races.realThreads ? "" : "cp.async of ") + "thread " +
                        std::to_string(other.thread % (races.threadsPerBlock / GridRaces::rows));
  if (other.block != context.block->linear)
    message += " of block " + std::to_string(other.block);
  message += " wrote at line " + std::to_string(other.line);
  message += other.isFencedByOther ? " with a fence.proxy.async of another thread only, after what orders the two"
             : other.isWarning     ? ", with no fence.proxy.async on the way"
                                   : " with no fence.proxy.async of that thread in between";
  context.reportWithOther(FindingKind::ProxyOrder, inst, lane, address, std::move(message), other.line,
                          other.isWarning);
}

/// A race, or a missing proxy fence.
void reportRace(ExecContext &context, const Inst &inst, unsigned lane, uint64_t address, const Place &place,
                AccessKind kind, const RaceReport &other) {
  if (other.needsProxyFence)
    return reportProxyOrder(context, inst, lane, address, place, kind, other);
  address = place.owner ? toldShared(context, address) : address;
  std::string message = std::string(kind == AccessKind::Read ? "read" : kind == AccessKind::Write ? "write" : "atomic") +
                        " of " + std::string(spelling(place.space)) + " memory is not ordered with a " +
                        (other.wasWrite ? "write" : "read") + " at line " + std::to_string(other.line) + " by ";
  if (other.isReadOnly)
    message = "ld.global.nc, for memory that nothing writes while the kernel runs, behind a write at line " +
              std::to_string(other.line) + " by ";
  const GridRaces &races = *context.grid->races;
  if (other.launch != races.launch && races.mayOverlap && races.mayOverlap(other.launch))
    message += "an earlier launch (" + std::to_string(other.launch) +
               ") on the same stream: no thread of the block has waited for it (griddepcontrol.wait)";
  else if (other.launch != races.launch)
    message += "an earlier launch (" + std::to_string(other.launch) + ") on another stream";
  else if (other.thread >= context.grid->races->realThreads)
    message += "an asynchronous copy that warp " +
               std::to_string(other.thread % (context.grid->races->threadsPerBlock / GridRaces::rows) / warpSize) + " of " +
               (other.block == context.block->linear ? "the same block" : "block " + std::to_string(other.block)) +
               " issued";
  else if (other.block == context.block->linear)
    message += "thread " + std::to_string(other.thread) + " (warp " + std::to_string(other.thread / warpSize) +
               " lane " + std::to_string(other.thread % warpSize) + ") of the same block";
  else
    message += "thread " + std::to_string(other.thread) + " of block " + std::to_string(other.block);
  context.reportWithOther(FindingKind::Race, inst, lane, address, message, other.line);
}

} // namespace

void checkRace(ExecContext &context, const Inst &inst, uint32_t thread, unsigned lane, uint64_t address, unsigned bytes,
               const Place &place, AccessKind kind, Scope scope, bool sameValue) {
  if (!place.races)
    return;
  Access access;
  access.block = context.block->linear;
  access.thread = thread;
  access.kind = kind;
  access.scope = scope;
  access.line = inst.line;
  access.sameValue = sameValue;
  access.readOnly = inst.readOnly;
  access.inShared = place.owner != nullptr;
  RaceReport other;
  if (context.block->races->access(*place.races, place.raceOffset, bytes, access, other) || other.needsProxyFence)
    reportRace(context, inst, lane, address, place, kind, other);
}

void recordReads(ExecContext &context, const Inst &inst, uint32_t lanes, uint64_t address, unsigned bytes,
                 const Place &place) {
  if (!place.races)
    return;
  Access access;
  access.block = context.block->linear;
  access.thread = context.warp->index * warpSize + static_cast<unsigned>(__builtin_ctz(lanes));
  access.lanes = lanes;
  access.line = inst.line;
  access.readOnly = inst.readOnly;
  access.inShared = place.owner != nullptr;
  RaceReport other;
  if (context.block->races->access(*place.races, place.raceOffset, bytes, access, other))
    reportRace(context, inst, other.lane, address, place, AccessKind::Read, other);
}

void noteForEnd(ExecContext &context, const Inst &inst, uint32_t thread, const Place &place) {
  if (!place.races || !place.owner || (place.owner == context.block && thread < context.grid->races->realThreads))
    return;
  const BlockRaces &races = *context.block->races;
  place.owner->races->noteOutstanding(races.globalThread(thread), races.clockOf(thread), inst.line);
}

void recordAccess(ExecContext &context, const Inst &inst, uint32_t thread, unsigned lane, uint64_t address,
                  unsigned bytes, const Place &place, AccessKind kind, bool sameValue) {
  if (!place.races)
    return;
  noteForEnd(context, inst, thread, place);
  BlockRaces &races = *context.block->races;
  bool strong = inst.order != Order::Weak && inst.scope != Scope::None;
  if (strong && kind != AccessKind::Write)
    races.strongRead(thread, place.key, inst.scope,
                     inst.order == Order::Acquire || inst.order == Order::AcqRel || inst.order == Order::SeqCst);
  checkRace(context, inst, thread, lane, address, bytes, place, kind, inst.order == Order::Weak ? Scope::None : inst.scope,
            sameValue);
  if (strong && kind != AccessKind::Read)
    races.strongWrite(thread, place.key, inst.scope,
                      inst.order == Order::Release || inst.order == Order::AcqRel || inst.order == Order::SeqCst,
                      kind == AccessKind::Atomic);
}

void checkAddressDefined(ExecContext &context, const Inst &inst, Row row, uint32_t mask) {
  uint32_t bad = context.undefinedLanes(row) & mask;
  if (bad == 0)
    return;
  unsigned lane = static_cast<unsigned>(__builtin_ctz(bad));
  context.report(FindingKind::Undefined, inst, lane, context.row(row)[lane], "the address depends on an undefined value");
}

std::mutex &wideAtomicMutex() {
  static std::mutex mutex;
  return mutex;
}

bool peekGeneric(ExecContext &context, unsigned lane, uint64_t address, unsigned bytes, void *out) {
  DeviceMemory &memory = *context.grid->memory;
  uint64_t offset = address - memory.windowBase();
  const uint8_t *from = nullptr;
  if (offset < DeviceMemory::localWindow) {
    const Block *owner = ownerOfShared(context, offset);
    if (owner && offsetInShared(offset) + bytes <= owner->shared.size())
      from = owner->shared.data() + offsetInShared(offset);
  } else if (offset < DeviceMemory::paramWindow) {
    offset -= DeviceMemory::localWindow;
    if (offset + bytes <= context.warp->localStride)
      from = context.warp->local.data() + uint64_t(lane) * context.warp->localStride + offset;
  } else if (memory.pageMapped(address) && memory.pageMapped(address + bytes - 1)) {
    from = memory.backing(address);
  }
  if (!from)
    return false;
  std::memcpy(out, from, bytes);
  return true;
}

} // namespace tilewright::ptxsim
