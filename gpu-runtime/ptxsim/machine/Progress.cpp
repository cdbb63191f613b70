// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looking at the clock, and the line; see Progress.h.

#include "machine/Progress.h"

#include <cstdio>

namespace tilewright::ptxsim {

void Progress::look() {
  using namespace std::chrono;
  uint64_t due = next, passed = static_cast<uint64_t>(duration_cast<seconds>(steady_clock::now() - start).count());
  // One worker prints.
  if (passed < due || !next.compare_exchange_strong(due, passed * 2))
    return;
  std::fprintf(stderr, "ptxsim: %s: %llu of %llu blocks after %llu s\n", kernel.c_str(),
               static_cast<unsigned long long>(ended), static_cast<unsigned long long>(blocks),
               static_cast<unsigned long long>(passed));
}

} // namespace tilewright::ptxsim
