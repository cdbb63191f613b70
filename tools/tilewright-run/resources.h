// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels take of a device: registers, spills, shared memory, size of code.
#ifndef TILEWRIGHT_RUN_RESOURCES_H
#define TILEWRIGHT_RUN_RESOURCES_H

#include "session.h"

#include <utility>

namespace tilewright::run {

/// Of one kernel; numbers that the device does not say are left out.
struct ResourceReport {
  std::string dispatch, variant;
  std::string reason; // why the device says nothing; empty: it does
  bool isOther = false; // that is, its guard is false: it is for other devices
  std::vector<std::pair<std::string, int64_t>> numbers; // "registers", …
  std::vector<std::pair<std::string, double>> statistics; // the driver's names
};

/// Of all kernels of the program. Throws where the device says nothing of any.
std::vector<ResourceReport> askResources(Session &session);

/// A table with a line per kernel, and the driver's own statistics below each.
std::string resourceText(const std::vector<ResourceReport> &kernels);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_RESOURCES_H
