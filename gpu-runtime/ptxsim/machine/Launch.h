// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a whole grid. A bounded number of blocks is resident at a time; they take turns, so kernels whose blocks wait for
// each other make progress exactly when enough of them fit the device.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_LAUNCH_H
#define TILEWRIGHT_PTXSIM_MACHINE_LAUNCH_H

#include "machine/GlobalTraffic.h"
#include "machine/IssueCounts.h"
#include "machine/SharedTraffic.h"
#include "machine/State.h"

#include <atomic>
#include <functional>

namespace tilewright::ptxsim {

struct LaunchRequest {
  const Program *program = nullptr;
  std::string name;
  Dim3 grid, block;
  /// Divides the grid; all ones without clusters.
  Dim3 cluster;
  bool explicitCluster = false;
  uint32_t dynamicShared = 0;
  std::vector<uint8_t> params;
  /// Whose the memory is that the kernel allocates; opaque here.
  const void *owner = nullptr;
  uint64_t launchId = 1;
  /// The launch is given up when the steady clock shows so many nanoseconds (0: never), or when this is set.
  uint64_t deadline = 0;
  const std::atomic<bool> *cancelled = nullptr;
  /// Whether an earlier launch happens before this one; all do when empty.
  std::function<bool(uint32_t)> launchOrdered;
  /// Whether an earlier launch may still run until a thread has waited for it (griddepcontrol.wait); none does when empty.
  std::function<bool(uint32_t)> mayOverlap;
};

struct LaunchResult {
  /// False when the launch was given up: the finding that decided it is in the log.
  bool completed = true;
  FindingKind reason = FindingKind::Trap;
  uint64_t warpInstructions = 0;
  uint64_t threadInstructions = 0;
  /// With MachineOptions::countTraffic.
  std::vector<TrafficRow> traffic;
  std::vector<GlobalRow> globalTraffic;
  std::vector<FootprintRow> footprints;
  std::vector<StageRow> stages;
  std::vector<IssueRow> issue;
  LaunchShape shape;
};

LaunchResult runGrid(const LaunchRequest &request, DeviceMemory &memory, const MachineOptions &options,
                     FindingLog &findings);

/// Blocks of this shape that fit on the whole device at once.
uint64_t residentBlocks(const MachineOptions &options, uint64_t threadsPerBlock, uint64_t sharedBytes);
/// Clusters of `size` such blocks: each lies within one group of 16 multiprocessors. May be 0.
uint64_t residentClusters(const MachineOptions &options, uint64_t threadsPerBlock, uint64_t sharedBytes, uint64_t size);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_LAUNCH_H
