// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which simulated hardware does what may be done in any order.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_RANDOM_H
#define TILEWRIGHT_PTXSIM_MACHINE_RANDOM_H

#include "core/split_mix64.h"

namespace tilewright::ptxsim {

class Random : public SplitMix64 {
public:
  using SplitMix64::SplitMix64;
  uint64_t below(uint64_t bound) { return next() % bound; }
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_RANDOM_H
