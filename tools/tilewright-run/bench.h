// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timing calls with device events.
#ifndef TILEWRIGHT_RUN_BENCH_H
#define TILEWRIGHT_RUN_BENCH_H

#include "report.h"
#include "session.h"

namespace tilewright::run {

/// Calls until it is warm (3 calls and 0.3 s, at most 50), then `count` times,
/// each between two events. Inputs stay on the device, and in its caches where
/// they fit.
BenchResult bench(Session &session, size_t function,
                  const std::vector<HostTensor> &inputs, int64_t count);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_BENCH_H
