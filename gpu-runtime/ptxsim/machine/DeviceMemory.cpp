// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reserving the window and handing out addresses in it.

#include "machine/DeviceMemory.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace tilewright::ptxsim {
namespace {

void *reserve(uint64_t bytes, int protection) {
  void *memory = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

uint64_t roundUp(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

} // namespace

bool Allocation::inSubBuffer(uint64_t at, uint64_t bytes) const {
  auto after = std::upper_bound(subBuffers.begin(), subBuffers.end(), at,
                                [](uint64_t value, const SubBuffer &buffer) { return value < buffer.begin; });
  // Sub-buffers may overlap when lifetimes do not: look at every one that begins at or before the address.
  while (after != subBuffers.begin()) {
    --after;
    if (at >= after->begin && at + bytes <= after->end)
      return true;
  }
  return false;
}

DeviceMemory::DeviceMemory(uint64_t capacity) : totalBytes(capacity) {
  uint64_t wanted = std::max<uint64_t>(roundUp(capacity * 16, globalBegin), 4 * globalBegin);
  for (; wanted >= 2 * globalBegin; wanted /= 4) {
    wanted = roundUp(wanted, globalBegin);
    void *visible = reserve(wanted, PROT_NONE);
    void *bytes = reserve(wanted, PROT_NONE);
    void *defined = reserve(wanted, PROT_NONE);
    void *table = reserve(wanted / pageBytes, PROT_READ | PROT_WRITE);
    if (visible && bytes && defined && table) {
      window = reinterpret_cast<uint64_t>(visible);
      windowBytes = wanted;
      backingDelta = reinterpret_cast<uint64_t>(bytes) - window;
      shadowDelta = reinterpret_cast<uint64_t>(defined) - window;
      pages = static_cast<uint8_t *>(table);
      nextAddress = window + globalBegin;
      return;
    }
    for (void *part : {visible, bytes, defined})
      if (part)
        munmap(part, wanted);
    if (table)
      munmap(table, wanted / pageBytes);
  }
}

DeviceMemory::~DeviceMemory() {
  if (!ok())
    return;
  munmap(reinterpret_cast<void *>(window), windowBytes);
  munmap(backing(window), windowBytes);
  munmap(shadow(window), windowBytes);
  munmap(pages, windowBytes / pageBytes);
}

Allocation *DeviceMemory::allocate(uint64_t size, uint64_t align, std::string label, const void *owner) {
  if (!ok() || size == 0 || size > totalBytes - usedBytes)
    return nullptr;
  align = std::max<uint64_t>(align, 256);
  // At least one unmapped page between allocations, so that speed mode notices overruns too.
  uint64_t mapped = roundUp(size, pageBytes);
  uint64_t address = roundUp(roundUp(nextAddress, pageBytes), align);
  if (address + mapped + pageBytes > window + windowBytes) {
    // The window is used up: start again where freed allocations were.
    for (auto it = allocations.begin(); it != allocations.end();)
      it = it->second->freed ? allocations.erase(it) : std::next(it);
    address = roundUp(window + globalBegin, align);
    for (const auto &[begin, used] : allocations) {
      if (begin >= address + mapped + pageBytes)
        break;
      address = roundUp(roundUp(begin + used->size, pageBytes) + pageBytes, align);
    }
    if (address + mapped + pageBytes > window + windowBytes)
      return nullptr;
  }
  if (mprotect(backing(address), mapped, PROT_READ | PROT_WRITE) != 0 ||
      mprotect(shadow(address), mapped, PROT_READ | PROT_WRITE) != 0)
    return nullptr;
  std::memset(pages + (address - window) / pageBytes, 1, mapped / pageBytes);
  nextAddress = address + mapped + pageBytes;
  usedBytes += size;
  auto allocation = std::make_unique<Allocation>();
  allocation->address = address;
  allocation->size = size;
  allocation->id = nextId++;
  allocation->label = std::move(label);
  allocation->owner = owner;
  return (allocations[address] = std::move(allocation)).get();
}

bool DeviceMemory::release(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end() || found->second->freed)
    return false;
  Allocation &allocation = *found->second;
  allocation.freed = true;
  allocation.races.reset();
  allocation.subBuffers.clear();
  usedBytes -= allocation.size;
  uint64_t mapped = roundUp(allocation.size, pageBytes);
  std::memset(pages + (address - window) / pageBytes, 0, mapped / pageBytes);
  // Dropping the pages makes the bytes zero and the shadow undefined should the addresses be used again.
  madvise(backing(address), mapped, MADV_DONTNEED);
  madvise(shadow(address), mapped, MADV_DONTNEED);
  mprotect(backing(address), mapped, PROT_NONE);
  mprotect(shadow(address), mapped, PROT_NONE);
  return true;
}

void DeviceMemory::releaseOwner(const void *owner) {
  std::vector<uint64_t> addresses;
  for (const auto &[address, allocation] : allocations)
    if (!allocation->freed && allocation->owner == owner)
      addresses.push_back(address);
  for (uint64_t address : addresses)
    release(address);
}

Allocation *DeviceMemory::nearest(uint64_t address) {
  auto after = allocations.upper_bound(address);
  return after == allocations.begin() ? nullptr : std::prev(after)->second.get();
}

Allocation *DeviceMemory::find(uint64_t address) {
  Allocation *allocation = nearest(address);
  return allocation && !allocation->freed && allocation->contains(address, 1) ? allocation : nullptr;
}

void DeviceMemory::mapHost(uint64_t address, uint64_t size, std::string label, const void *owner) {
  auto allocation = std::make_unique<Allocation>();
  allocation->address = address;
  allocation->size = size;
  allocation->id = nextId++;
  allocation->label = std::move(label);
  allocation->owner = owner;
  hostMemory[address] = std::move(allocation);
}

Allocation *DeviceMemory::findHost(uint64_t address) {
  auto after = hostMemory.upper_bound(address);
  if (after == hostMemory.begin())
    return nullptr;
  Allocation *allocation = std::prev(after)->second.get();
  return allocation->contains(address, 1) ? allocation : nullptr;
}

void DeviceMemory::markDefined(uint64_t address, uint64_t bytes) { std::memset(shadow(address), 0xff, bytes); }

} // namespace tilewright::ptxsim
