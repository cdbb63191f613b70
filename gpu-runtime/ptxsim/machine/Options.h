// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be chosen about a simulated device and how it runs. Every option has an environment variable, read once when
// the driver is initialised; README.md lists them.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_OPTIONS_H
#define TILEWRIGHT_PTXSIM_MACHINE_OPTIONS_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::ptxsim {

struct MachineOptions {
  /// Compute capability times ten: 80 or 90.
  unsigned computeCapability = 80;
  unsigned multiprocessors = 8;
  /// Device memory in bytes.
  uint64_t memoryBytes = 16ull << 30;
  bool checks = true;
  bool raceChecks = true;
  /// The first finding fails the launch; otherwise findings are only reported.
  bool failOnFinding = true;
  uint64_t seed = 1;
  /// Threads that run blocks when checks are off; 0 takes the number of cores.
  unsigned workers = 0;
  /// Warp instructions after which a launch counts as hung; 0 means never.
  uint64_t instructionLimit = 0;
  /// Operations on streams run when enqueued (false: in a seeded order, as late as the rules allow).
  bool eager = true;
  /// Vectorised handlers for common instructions; off only in tests that compare.
  bool fastPaths = true;
  /// wgmma sums products of 8-bit floats in as few bits as Hopper does (matrix/TruncatedSum.h), else exactly.
  bool truncatesFloat8 = false;
  /// wgmma leaves its results as they were: for counting launches whose results nobody reads.
  bool skipsWgmma = false;
  /// Seconds after which a launch that goes on says how far it is, on standard error; 0: never.
  unsigned progressSeconds = 0;
  std::string reportPath;
  /// Shared memory's wavefronts are counted per launch and instruction; the driver adds them to the file, if there is one.
  bool countTraffic = false;
  std::string trafficPath;
  /// With countTraffic: the first-level cache that each block reads global memory through; 0: none. Warps then go side by side.
  uint64_t cacheBytes = 0;
  /// The only blocks of each launch that run, x, y, z; all if empty. Others leave their part of memory as it was.
  std::vector<std::array<uint32_t, 3>> blocks;

  static MachineOptions fromEnvironment();
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_OPTIONS_H
