// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timing calls with device events.
#ifndef TILEWRIGHT_RUN_BENCH_H
#define TILEWRIGHT_RUN_BENCH_H

#include "report.h"
#include "session.h"

namespace tilewright::run {

struct BenchRequest {
  int64_t count = 20;  // calls at least
  double seconds = 0;  // of measured calls at least
  bool flushCache = false;
};

/// Calls until it is warm (3 calls and 0.3 s, at most 50), then as often as
/// asked for, each between two events; then a few times more to see the kernels
/// one by one. Inputs stay on the device, and in its caches where they fit,
/// unless those are flushed.
BenchResult bench(Session &session, size_t function,
                  const std::vector<HostTensor> &inputs,
                  const BenchRequest &request);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_BENCH_H
