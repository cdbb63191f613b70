// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers that are the same everywhere: Steele, Lea, Flood: Fast splittable
// pseudorandom number generators (2014). Plain C++, without the runtime's types.
#ifndef TILEWRIGHT_CORE_SPLIT_MIX64_H
#define TILEWRIGHT_CORE_SPLIT_MIX64_H

#include <cstdint>

namespace tilewright {

class SplitMix64 {
public:
  explicit SplitMix64(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

private:
  uint64_t state;
};

} // namespace tilewright

#endif // TILEWRIGHT_CORE_SPLIT_MIX64_H
