// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often warps issued each instruction of a launch, and with how many lanes: what a scheduler has to find slots for.
// An instruction whose guard holds for no lane takes its slot like any other; of a warp that has diverged each part
// issues for itself. How often somebody polls depends on the simulator's order of turns: mbarrier.try_wait waits for its
// phase while issue is counted, in speed mode, and counts once; mbarrier.test_wait counts as often as it was tried.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_ISSUECOUNTS_H
#define TILEWRIGHT_PTXSIM_MACHINE_ISSUECOUNTS_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::ptxsim {

struct Inst;
struct Program;

/// Of one instruction, in one launch.
struct IssueRow {
  std::string instruction;
  uint32_t line = 0;
  /// Times that a warp issued it, and lanes that took part in all.
  uint64_t executed = 0, lanes = 0;
  /// `executed` by the warp's number in its block; empty where all are equal.
  std::vector<uint64_t> byWarp;
};

/// What else is to be known of a launch.
struct LaunchShape {
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  /// Static and dynamic, per block.
  uint64_t sharedBytes = 0;
  /// Blocks that ran; fewer than the grid's with MachineOptions::blocks.
  uint64_t blocks = 0;
};

class IssueCounts {
public:
  /// `warps`: of a block.
  IssueCounts(const Program &program, unsigned warps);

  /// `mask`: lanes for which the guard holds.
  void count(const Inst &inst, uint32_t mask, unsigned warp);
  /// Takes that back: the instruction is going to be tried again.
  void takeBack(const Inst &inst, uint32_t mask, unsigned warp);

  /// Instructions that were issued, in the order of the program.
  std::vector<IssueRow> rows() const;

private:
  const Program &program;
  unsigned warps;
  /// Per instruction, and per instruction and warp.
  std::vector<std::atomic<uint64_t>> lanes, executed;
};

/// As trafficLines of machine/SharedTraffic.h: first a line with "memory": "launch", then those with "memory": "issue".
std::string issueLines(const std::string &kernel, const LaunchShape &shape, const std::vector<IssueRow> &rows);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_ISSUECOUNTS_H
