// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the blocks of one launch: in the stream's thread where they take less than handing them out,
// else on the pool.

#include "cpu_stream.h"

namespace tilewright::runtime {

using Clock = std::chrono::steady_clock;

// Below this, handing blocks out costs more than it gains: where somebody may wait for the
// launch, who has to sleep and be woken then; behind others, to threads that spin, the less
// the fewer they are (measured with two: 3 us).
static uint64_t getInlineNs(const CpuDeviceState &device, bool followed) {
  constexpr uint64_t waited = 20000;
  if (!followed || !device.pool->spins())
    return waited;
  return std::min<uint64_t>(waited, 2000 + 500 * uint64_t(device.threads));
}

// Blocks [begin, end), x fastest; none any more once the device is lost.
void CpuLaunch::runBlocks(uint64_t begin, uint64_t end) const {
  tw_cpu_kernel function = kernel->function;
  uint32_t x = static_cast<uint32_t>(begin % grid[0]);
  uint32_t y = static_cast<uint32_t>(begin / grid[0] % grid[1]);
  uint32_t z = static_cast<uint32_t>(begin / grid[0] / grid[1]);
  for (uint64_t i = begin; i < end && !device->lost; ++i) {
    function(params.data(), x, y, z);
    if (++x == grid[0]) {
      x = 0;
      if (++y == grid[1]) {
        y = 0;
        ++z;
      }
    }
  }
}

// The same, remembering the cost of a block.
void CpuLaunch::runTimed(uint64_t begin, uint64_t end) const {
  Clock::time_point start = Clock::now();
  runBlocks(begin, end);
  uint64_t elapsed = static_cast<uint64_t>(
      std::chrono::nanoseconds(Clock::now() - start).count());
  kernel->noteBlock(elapsed / (end - begin));
}

void CpuLaunch::run(bool followed) const {
  uint64_t count = uint64_t(grid[0]) * grid[1] * grid[2];
  if (count == 1 || device->threads == 1)
    return runBlocks(0, count);
  if (count <= getInlineNs(*device, followed) / std::max<uint64_t>(kernel->blockNs(), 1))
    return runTimed(0, count);
  // About eight pieces per thread: even when blocks differ in cost, few
  // enough to hand out.
  uint64_t chunk =
      std::max<uint64_t>(1, count / (uint64_t(device->threads) * 8));
  ++device->handedOut;
  device->pool->run(
      count, chunk,
      [](void *data, uint64_t begin, uint64_t end) {
        const CpuLaunch *launch = static_cast<const CpuLaunch *>(data);
        if (begin == 0)
          launch->runTimed(begin, end);
        else
          launch->runBlocks(begin, end);
      },
      const_cast<CpuLaunch *>(this));
  --device->handedOut;
}

} // namespace tilewright::runtime
