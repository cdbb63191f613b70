// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory. Three address ranges of equal size are reserved side by side:
//
//   window   what programs see as device addresses; never mapped, so a host access faults as it would with a GPU
//   backing  the bytes, at window address + backingDelta
//   shadow   one bit per bit of memory, set where it is defined, at window address + shadowDelta
//
// Host memory that a program maps for kernels lies outside and is accessed where it is.
//
// The first part of the window holds the generic addresses of shared memory, local memory and kernel parameters;
// allocations follow. Freed addresses are handed out again only when the window is used up.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_DEVICEMEMORY_H
#define TILEWRIGHT_PTXSIM_MACHINE_DEVICEMEMORY_H

#include "checks/Races.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::ptxsim {

/// A part of an allocation that a program treats as a buffer of its own.
struct SubBuffer {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string label;
};

struct Allocation {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t id = 0;
  bool freed = false;
  bool readOnly = false;
  std::string label;
  /// Which context made it; opaque here.
  const void *owner = nullptr;
  /// Sorted by begin. When there are any, an access must lie within one of them.
  std::vector<SubBuffer> subBuffers;
  std::unique_ptr<RaceShadow> races;

  bool contains(uint64_t at, uint64_t bytes) const {
    return at >= address && bytes <= size && at - address <= size - bytes;
  }
  bool inSubBuffer(uint64_t at, uint64_t bytes) const;
};

class DeviceMemory {
public:
  /// Sizes, relative to the start of the window, of the ranges that are not global memory.
  /// Shared memory: that of the cluster's blocks by rank, as addresses of .shared::cluster have it.
  static constexpr uint64_t sharedWindow = 0;
  static constexpr uint64_t localWindow = 32ull << 24;
  static constexpr uint64_t paramWindow = 33ull << 24;
  static constexpr uint64_t smallWindowBytes = 1ull << 24;
  static constexpr uint64_t smallWindowsEnd = paramWindow + smallWindowBytes;
  static constexpr uint64_t globalBegin = 1ull << 30;
  static constexpr uint64_t pageBytes = 4096;

  /// Reserves the window; `ok()` tells whether that worked.
  explicit DeviceMemory(uint64_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  bool ok() const { return window != 0; }
  uint64_t windowBase() const { return window; }
  uint64_t capacity() const { return totalBytes; }
  uint64_t used() const { return usedBytes; }

  /// Null when memory is used up. The contents are undefined.
  Allocation *allocate(uint64_t size, uint64_t align, std::string label, const void *owner);
  /// False when `address` does not begin a live allocation.
  bool release(uint64_t address);
  /// Gives back everything of one owner.
  void releaseOwner(const void *owner);
  /// The live allocation that holds `address`, or null.
  Allocation *find(uint64_t address);
  /// The nearest allocation at or below `address`, live or freed: what an invalid access was probably meant for.
  Allocation *nearest(uint64_t address);

  /// Calls `visit` with each, by address.
  template <typename Visit> void forEachLive(Visit visit) const {
    for (const auto &entry : allocations)
      if (!entry.second->freed)
        visit(*entry.second);
  }

  /// Memory of the host that kernels may access at the same address. Always defined: the host's accesses are not seen.
  void mapHost(uint64_t address, uint64_t size, std::string label, const void *owner);
  void unmapHost(uint64_t address) { hostMemory.erase(address); }
  Allocation *findHost(uint64_t address);

  bool inWindow(uint64_t address) const { return address - window < windowBytes; }
  /// Whether a live allocation covers the page; exact bounds need find().
  bool pageMapped(uint64_t address) const {
    return address - window < windowBytes && pages[(address - window) / pageBytes] != 0;
  }
  uint8_t *backing(uint64_t address) const { return reinterpret_cast<uint8_t *>(address + backingDelta); }
  uint8_t *shadow(uint64_t address) const { return reinterpret_cast<uint8_t *>(address + shadowDelta); }

  void markDefined(uint64_t address, uint64_t bytes);

private:
  uint64_t window = 0;
  uint64_t windowBytes = 0;
  uint64_t backingDelta = 0;
  uint64_t shadowDelta = 0;
  uint8_t *pages = nullptr;
  uint64_t totalBytes = 0;
  uint64_t usedBytes = 0;
  uint64_t nextAddress = 0;
  uint64_t nextId = 1;
  std::map<uint64_t, std::unique_ptr<Allocation>> allocations;
  std::map<uint64_t, std::unique_ptr<Allocation>> hostMemory;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_DEVICEMEMORY_H
