// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events and memory of the cpu driver.
//
// A stream is a thread with a queue of tasks, so that the caller runs on, and a
// wait can end by its deadline. The device is then lost: queued tasks are
// dropped, and the running kernel ends before its next block. Nobody waits for
// that, so what a task uses (memory, code, threads) is shared with it and freed
// when it ends; a block that never ends keeps it.
#ifndef TILEWRIGHT_DRIVERS_CPU_CPU_STREAM_H
#define TILEWRIGHT_DRIVERS_CPU_CPU_STREAM_H

#include "core/driver.h"
#include "thread_pool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace tilewright::runtime {

/// Shared by the device, its streams' threads, and buffers.
struct CpuDeviceState {
  std::unique_ptr<ThreadPool> pool;
  unsigned threads = 1;
  std::atomic<bool> lost{false};

  /// The first reason stays.
  void lose(const std::string &reason);
  Status check();

private:
  std::mutex mutex;
  std::string reason;
};

class CpuBuffer : public DriverBuffer {
public:
  CpuBuffer(std::shared_ptr<char> memory, uint64_t bytes)
      : memory(std::move(memory)), bytes(bytes) {}
  uint64_t size() const override { return bytes; }
  uint64_t address() const override {
    return reinterpret_cast<uintptr_t>(memory.get());
  }
  void *hostPointer() const override { return memory.get(); }
  /// The bytes from `offset` on, and a share of all of them.
  std::shared_ptr<char> at(uint64_t offset) const {
    return {memory, memory.get() + offset};
  }

private:
  std::shared_ptr<char> memory;
  uint64_t bytes;
};

/// Kernels, each with what a block of it cost the last time: small launches run
/// in the stream's thread, because handing them out takes longer.
struct CpuModule : DriverModule {
  struct Kernel {
    tw_cpu_kernel function = nullptr;
    std::shared_ptr<void> code; // what the function lives in
    std::atomic<uint64_t> blockNs{UINT64_MAX}; // unknown
  };
  // Shared with launches, which may outlive the module on a lost device.
  std::vector<std::shared_ptr<Kernel>> kernels;
};

class CpuEvent : public DriverEvent {
public:
  explicit CpuEvent(std::shared_ptr<CpuDeviceState> device)
      : device(std::move(device)), state(std::make_shared<State>()) {}
  Status query(bool &done) override;
  Status wait(uint64_t timeoutNs) override;
  Status elapsedSince(DriverEvent &start, uint64_t &nanoseconds) override;

private:
  friend class CpuStream;
  struct State {
    std::mutex mutex;
    std::condition_variable reachedAgain;
    uint64_t recorded = 0; // how often it was put into a stream
    uint64_t reached = 0;  // which of those the stream has come to
    std::chrono::steady_clock::time_point time;
  };
  std::shared_ptr<CpuDeviceState> device;
  std::shared_ptr<State> state;
};

class CpuStream : public DriverStream {
public:
  static Status create(std::shared_ptr<CpuDeviceState> device,
                       std::unique_ptr<DriverStream> &result);
  ~CpuStream() override;

  Status write(DriverBuffer &target, uint64_t offset, const void *source,
               uint64_t size) override;
  Status read(void *target, DriverBuffer &source, uint64_t offset,
              uint64_t size) override;
  Status fill(DriverBuffer &target, uint64_t offset, uint64_t size,
              uint32_t pattern, uint32_t patternSize) override;
  Status copy(DriverBuffer &target, uint64_t targetOffset, DriverBuffer &source,
              uint64_t sourceOffset, uint64_t size) override;
  Status launch(DriverModule &module, uint32_t kernel,
                const LaunchArgs &args) override;
  Status record(DriverEvent &event) override;
  Status waitFor(DriverEvent &event) override;
  Status synchronize(uint64_t timeoutNs) override;

private:
  using Task = std::function<void()>;
  /// A copy ends by itself; a mark tells others how far the stream is.
  enum class Kind { Copy, Kernel, Mark };
  struct State {
    std::mutex mutex;
    std::condition_variable arrived, finishedOne;
    struct Queued {
      Task task;
      Kind kind;
    };
    std::list<Queued> tasks;
    std::atomic<uint64_t> enqueued{0}, finished{0};
    bool stop = false;
    bool copying = false; // now
  };
  explicit CpuStream(std::shared_ptr<CpuDeviceState> device)
      : device(std::move(device)), state(std::make_shared<State>()) {}
  static void work(std::shared_ptr<State> state,
                   std::shared_ptr<CpuDeviceState> device);
  /// `taken` is called before the task can run, unless it is refused.
  template <typename Taken>
  Status enqueue(Kind kind, Task task, Taken taken);
  Status enqueue(Kind kind, Task task);
  /// On a lost device: drops what is queued, after which nothing touches the
  /// host's memory any more.
  void abandon();

  std::shared_ptr<CpuDeviceState> device;
  std::shared_ptr<State> state;
  std::thread thread;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_DRIVERS_CPU_CPU_STREAM_H
