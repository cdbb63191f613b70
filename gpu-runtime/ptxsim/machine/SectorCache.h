// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A first-level cache as far as counting needs it: lines of 128 bytes, each with four sectors that are there or not, the
// least recently used line makes room. Which lines share a set on a GPU is not published, so any line may lie anywhere.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_SECTORCACHE_H
#define TILEWRIGHT_PTXSIM_MACHINE_SECTORCACHE_H

#include <cstdint>
#include <list>
#include <unordered_map>

namespace tilewright::ptxsim {

class SectorCache {
public:
  static constexpr uint64_t lineBytes = 128, sectorBytes = 32, sectorsPerLine = lineBytes / sectorBytes;

  explicit SectorCache(uint64_t bytes) : capacity(bytes / lineBytes) {}

  /// Whether sector number `sector` (address / 32) was there; it is now.
  bool touch(uint64_t sector) {
    if (capacity == 0)
      return false;
    uint64_t line = sector / sectorsPerLine;
    unsigned bit = 1u << sector % sectorsPerLine;
    auto found = places.find(line);
    if (found == places.end()) {
      if (places.size() == capacity) {
        places.erase(lines.back().number);
        lines.pop_back();
      }
      lines.push_front({line, bit});
      places.emplace(line, lines.begin());
      return false;
    }
    lines.splice(lines.begin(), lines, found->second);
    bool isThere = found->second->sectors & bit;
    found->second->sectors |= bit;
    return isThere;
  }

private:
  struct Line {
    uint64_t number;
    unsigned sectors;
  };
  uint64_t capacity;
  /// The most recently used first.
  std::list<Line> lines;
  std::unordered_map<uint64_t, std::list<Line>::iterator> places;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_SECTORCACHE_H
