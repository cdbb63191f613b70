// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA streams and events.
//
// Transfers go through pinned chunks of 4 MiB that the stream keeps, so that
// they are asynchronous for any host memory. A chunk is closed by an event when
// it is full; past 16 chunks the stream waits for the oldest. Reads are copied
// to their targets when their chunk is taken back, at the latest by synchronize.
#ifndef TILEWRIGHT_DRIVERS_CUDA_CUDA_STREAM_H
#define TILEWRIGHT_DRIVERS_CUDA_CUDA_STREAM_H

#include "cuda_device.h"

#include <chrono>
#include <deque>
#include <thread>
#include <vector>

namespace tilewright::cuda {

class CudaEvent final : public DriverEvent {
public:
  CudaEvent(CudaDevice &device, CUevent event) : device(device), event(event) {}
  ~CudaEvent() override;
  Status query(bool &done) override;
  Status wait(uint64_t timeoutNs) override;
  Status elapsedSince(DriverEvent &start, uint64_t &nanoseconds) override;

private:
  friend class CudaStream;
  CudaDevice &device;
  CUevent event;
};

class CudaStream final : public DriverStream {
public:
  /// `owned`: destroyed with this object.
  CudaStream(CudaDevice &device, CUstream stream, bool owned)
      : device(device), api(device.api()), stream(stream), owned(owned) {}
  ~CudaStream() override;

  Status write(DriverBuffer &target, uint64_t offset, const void *source,
               uint64_t size) override;
  Status read(void *target, DriverBuffer &source, uint64_t offset,
              uint64_t size) override;
  Status fill(DriverBuffer &target, uint64_t offset, uint64_t size,
              uint32_t pattern, uint32_t patternSize) override;
  Status poison(DriverBuffer &target, uint64_t offset, uint64_t size) override;
  Status copy(DriverBuffer &target, uint64_t targetOffset, DriverBuffer &source,
              uint64_t sourceOffset, uint64_t size) override;
  Status beginUse(DriverBuffer &buffer, uint64_t size) override {
    return device.beginUse(buffer, size, stream);
  }
  Status launch(DriverModule &module, uint32_t kernel,
                const LaunchArgs &args) override;
  Status record(DriverEvent &event) override;
  Status waitFor(DriverEvent &event) override;
  Status synchronize(uint64_t deadlineNs) override;
  Status native(uint64_t &handle) const override {
    handle = reinterpret_cast<uintptr_t>(stream);
    return Status::ok();
  }

private:
  static constexpr uint64_t chunkSize = 4u << 20;
  static constexpr size_t maxChunks = 16;

  struct PendingRead {
    void *target;
    const uint8_t *staged;
    uint64_t size;
  };
  struct Chunk {
    uint8_t *host = nullptr;
    uint64_t used = 0;
    CUevent full = nullptr;
    std::vector<PendingRead> reads;
  };

  /// Pinned memory for the next piece of a transfer, in `open`.
  Status stage(uint64_t size, uint8_t *&host);
  Status createChunk(std::unique_ptr<Chunk> &result);
  /// Hands a chunk's reads out; it is free then.
  void recycle(std::unique_ptr<Chunk> chunk);
  /// Loses the device after a wait.
  Status missedDeadline(uint64_t waitedNs);
  Status checkLaunch(const struct Kernel &kernel, const LaunchArgs &args) const;

  CudaDevice &device;
  const CudaLibrary &api;
  CUstream stream;
  bool owned;
  std::unique_ptr<Chunk> open;
  std::deque<std::unique_ptr<Chunk>> closed; // in the order of their events
  std::vector<std::unique_ptr<Chunk>> free;
  size_t numChunks = 0;
};

/// Polls: CUDA's own waits know no deadline and do not hear of a lost device.
/// At first without pause, for short kernels; then less and less often.
template <typename Poll>
CUresult CudaDevice::waitUntil(Poll poll, uint64_t timeoutNs) {
  using Clock = std::chrono::steady_clock;
  using std::chrono::microseconds;
  auto begin = Clock::now();
  microseconds pause(0);
  while (true) {
    if (isLost())
      return CUDA_ERROR_LAUNCH_FAILED;
    CUresult result = poll();
    if (result != CUDA_ERROR_NOT_READY)
      return result;
    auto elapsed = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() -
                                                             begin)
            .count());
    if (elapsed >= timeoutNs)
      return CUDA_ERROR_NOT_READY;
    if (elapsed < 200'000) {
      std::this_thread::yield();
      continue;
    }
    pause = std::min(pause + microseconds(10), microseconds(500));
    std::this_thread::sleep_for(pause);
  }
}

} // namespace tilewright::cuda

#endif // TILEWRIGHT_DRIVERS_CUDA_CUDA_STREAM_H
