// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events, launches and memory of the cpu driver.
//
// A stream is a thread with a queue of tasks, so that the caller runs on, and a
// wait can end by its deadline. The device is then lost: queued tasks are
// dropped, and the running kernel ends before its next block. Nobody waits for
// that, so what a task uses (memory, code, threads) is shared with it and freed
// behind it; a block that never ends keeps it.
#ifndef TILEWRIGHT_DRIVERS_CPU_CPU_STREAM_H
#define TILEWRIGHT_DRIVERS_CPU_CPU_STREAM_H

#include "cpu_device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace tilewright::runtime {

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

    /// What a block costs; at first unknown, the most. The lesser of the last two
    /// times, as one may have been interrupted.
    uint64_t blockNs() const { return std::min(last.load(), before.load()); }
    void noteBlock(uint64_t ns) { before = last.exchange(ns); }

  private:
    std::atomic<uint64_t> last{UINT64_MAX}, before{UINT64_MAX};
  };
  // Shared with launches, which may outlive the module on a lost device.
  std::vector<std::shared_ptr<Kernel>> kernels;
};

/// A kernel, its grid and arguments.
struct CpuLaunch {
  std::shared_ptr<CpuModule::Kernel> kernel;
  std::vector<std::shared_ptr<char>> buffers; // kept while it runs
  std::vector<uint64_t> params;
  Extent3 grid{};
  CpuDeviceState *device = nullptr; // the stream's

  /// `followed`: another launch is behind it.
  void run(bool followed) const;

private:
  void runBlocks(uint64_t begin, uint64_t end) const;
  void runTimed(uint64_t begin, uint64_t end) const;
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
  enum class Kind { Copy, Wait, Kernel, Mark };
  /// Used again and again, so that a launch asks for no memory.
  struct Queued {
    Kind kind = Kind::Copy;
    Task task;        // of a copy, of a wait
    CpuLaunch launch; // of a kernel
    std::shared_ptr<CpuEvent::State> point; // of a mark, the `number`-th there
    uint64_t number = 0;

    void run(bool followed);
    /// Lets go of all that it uses.
    void clear();
  };
  // In cache lines of their own: what one thread writes, what the other one does, both.
  struct State {
    std::mutex mutex;
    std::condition_variable arrived, finishedOne;
    std::list<Queued> tasks, done;
    bool stop = false;
    bool copying = false; // now
    std::atomic<uint64_t> awaited{UINT64_MAX}; // how many somebody sleeps for
    char apart[64];
    std::atomic<uint64_t> enqueued{0};
    char apartAgain[64];
    std::atomic<uint64_t> finished{0};

    /// Whether a launch is among the next tasks; under the lock.
    bool launchFollows() const;
    /// The lock may be taken or not, before and after.
    void finishOne(std::unique_lock<std::mutex> &lock);
  };
  explicit CpuStream(std::shared_ptr<CpuDeviceState> device)
      : device(std::move(device)), state(std::make_shared<State>()) {}
  static void work(std::shared_ptr<State> state,
                   std::shared_ptr<CpuDeviceState> device);
  /// `fill` says what there is to do.
  template <typename Fill> Status enqueue(Kind kind, Fill fill);
  Status enqueueTask(Kind kind, Task task);
  /// What has run lets go of all that it used, and is used again.
  void takeBack();
  /// On a lost device: drops what is queued, after which nothing touches the
  /// host's memory any more.
  void abandon();

  std::shared_ptr<CpuDeviceState> device;
  std::shared_ptr<State> state;
  std::list<Queued> spare; // of who enqueues
  std::thread thread;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_DRIVERS_CPU_CPU_STREAM_H
