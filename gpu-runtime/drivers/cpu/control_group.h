// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Linux's control groups allow this process of the machine: containers and
// batch systems give it less than the machine has.
#ifndef TILEWRIGHT_DRIVERS_CPU_CONTROL_GROUP_H
#define TILEWRIGHT_DRIVERS_CPU_CONTROL_GROUP_H

#include <cstdint>
#include <string>

namespace tilewright::runtime {

struct ControlGroupLimits {
  /// As many whole processors as the quota of time comes to, at least 1.
  unsigned processors = UINT32_MAX;
  uint64_t memory = UINT64_MAX; // bytes
};

/// The least of all groups that the process is in. What cannot be read limits
/// nothing. `root` stands before the paths of /proc and /sys, for tests.
ControlGroupLimits controlGroupLimits(const std::string &root = "");

} // namespace tilewright::runtime

#endif // TILEWRIGHT_DRIVERS_CPU_CONTROL_GROUP_H
