// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// splitmix64: small, and the same everywhere.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_RANDOM_H
#define TILEWRIGHT_PTXSIM_MACHINE_RANDOM_H

#include <cstdint>

namespace tilewright::ptxsim {

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_RANDOM_H
