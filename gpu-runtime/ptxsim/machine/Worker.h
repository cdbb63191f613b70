// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one host thread does of a launch: it takes clusters from a queue and gives their blocks turns until all have
// ended.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_WORKER_H
#define TILEWRIGHT_PTXSIM_MACHINE_WORKER_H

#include "machine/State.h"

#include <atomic>
#include <vector>

namespace tilewright::ptxsim {

/// The clusters of a launch that no host thread has begun; shared by its threads.
struct ClusterQueue {
  uint64_t count = 0;
  /// The only clusters to run, `count` of them; all if null.
  const std::vector<uint64_t> *sampled = nullptr;
  std::atomic<uint64_t> next{0};
};

/// Runs clusters, `resident` at a time, until the queue is empty or the launch is given up.
void runClusters(Grid &grid, ClusterQueue &queue, uint64_t resident, uint64_t seed);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_WORKER_H
