// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far a launch is, for people who wait: after some seconds a line on standard error, then ever more seldom.
//
//   ptxsim: matmul_0: 37 of 512 blocks after 10 s

#ifndef TILEWRIGHT_PTXSIM_MACHINE_PROGRESS_H
#define TILEWRIGHT_PTXSIM_MACHINE_PROGRESS_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace tilewright::ptxsim {

/// Of one launch; its functions may be called by all of its workers.
class Progress {
public:
  /// Lines come after `seconds`, twice that, four times that; never where that is 0.
  Progress(std::string kernel, uint64_t blocks, unsigned seconds)
      : kernel(std::move(kernel)), blocks(blocks), start(std::chrono::steady_clock::now()), next(seconds) {}

  void blockEnded() { ended.fetch_add(1, std::memory_order_relaxed); }
  void tick() {
    if (next.load(std::memory_order_relaxed) != 0)
      look();
  }

private:
  void look();

  std::string kernel;
  uint64_t blocks;
  std::chrono::steady_clock::time_point start;
  std::atomic<uint64_t> next, ended{0};
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_PROGRESS_H
