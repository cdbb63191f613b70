// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams and events on timeline semaphores.
//
//   launch, copy, …  ─▶ open batch ─ submit ─▶ in flight ─ value reached ─▶ pool
//
// Commands are recorded into the open batch. A batch is submitted when it holds
// as many launches as the limit, which starts at one after the stream has been
// idle (the first kernel starts at once) and doubles to 64 (many small kernels
// cost few submissions); and by flush, record, waitFor and synchronize.
//
// Batch number n sets the stream's timeline to n. An event is such a number, and
// a pair of timestamps' difference is its time. Within a batch a barrier stands
// between two commands only if one touches what the other writes; every batch
// begins with a barrier against all before it and ends with one for the host.
#ifndef TILEWRIGHT_DRIVERS_VULKAN_VULKAN_STREAM_H
#define TILEWRIGHT_DRIVERS_VULKAN_VULKAN_STREAM_H

#include "core/driver.h"
#include "vulkan_batch.h"
#include "vulkan_module.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace tilewright::runtime::vulkan {

struct Queue;

/// A stream's timeline; events keep it alive beyond the stream.
struct Timeline {
  explicit Timeline(VulkanDevice &device) : device(device) {}
  ~Timeline();
  /// Whether `value` has been reached.
  Status reached(uint64_t value, bool &done);

  VulkanDevice &device;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  std::atomic<uint64_t> submitted{0}; // the last value given to the queue
  uint64_t recorded = 0;              // events, by its stream
};

class VulkanEvent final : public DriverEvent {
public:
  static Status create(VulkanDevice &device, bool timing,
                       std::unique_ptr<DriverEvent> &result);

  Status query(bool &done) override;
  Status wait(uint64_t timeoutNs) override;
  Status elapsedSince(DriverEvent &start, uint64_t &nanoseconds) override;

private:
  friend class VulkanStream;
  /// What record() writes, in one piece for the threads that wait.
  struct Point {
    std::shared_ptr<Timeline> timeline; // null: never recorded
    uint64_t value = 0;                 // reached: the event happened
    uint64_t timestampValue = 0;        // reached: the timestamp is there
    uint64_t number = 0;                // of the timeline's events
  };
  explicit VulkanEvent(VulkanDevice &device) : device(device) {}
  Point point();
  Status timestamp(const Point &p, uint64_t &ticks);

  VulkanDevice &device;
  std::shared_ptr<TimestampQuery> queries; // null: no timing
  std::mutex mutex;
  Point recorded;
};

class VulkanStream final : public DriverStream {
public:
  static Status create(VulkanDevice &device, Queue &queue,
                       std::unique_ptr<DriverStream> &result);
  ~VulkanStream() override;

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
  Status flush() override;
  Status synchronize(uint64_t deadlineNs) override;

private:
  static constexpr uint32_t maxLaunches = 64;    // in a batch
  static constexpr size_t maxInFlight = 16;      // batches
  static constexpr uint64_t maxStaged = 128u << 20; // bytes

  VulkanStream(VulkanDevice &device, Queue &queue)
      : device(device), queue(queue), pool(device) {}

  /// The open batch, opened if there is none.
  Status open();
  Status submit();
  /// Takes back the batches that have run, without waiting.
  Status collect();
  /// Waits for the oldest batch.
  Status retireOldest();
  /// Whether all work is done; then the host may touch mapped memory.
  bool isIdle();

  /// Says what the next command touches: a barrier where it must wait.
  void touch(const VulkanBuffer &buffer, bool written);
  /// Decides on the barrier for what was touched since the last command.
  void orderCommand();
  void barrier(VkPipelineStageFlags from, VkPipelineStageFlags to);

  Status checkLaunch(const Kernel &kernel, const LaunchArgs &args) const;
  Status bindBuffers(const Kernel &kernel, const LaunchArgs &args);
  Status bindScalars(const Kernel &kernel, const LaunchArgs &args);
  /// Room for the next chunk of a transfer, at most chunkSize.
  Status stageChunk(uint64_t size, StagingSlice &slice);
  Status writeChunk(const VulkanBuffer &target, uint64_t offset,
                    const void *source, uint64_t size);

  struct Access {
    const VulkanBuffer *buffer;
    bool written;
  };

  VulkanDevice &device;
  Queue &queue;
  BatchPool pool;
  std::shared_ptr<Timeline> timeline;
  std::unique_ptr<Batch> current;
  std::deque<std::unique_ptr<Batch>> inFlight;
  uint32_t launchLimit = 1;
  /// No work has been submitted since the last timestamp or synchronisation.
  bool freshStart = true;
  std::vector<Access> before, next; // since the last barrier; of this command
  struct Wait {
    std::shared_ptr<Timeline> timeline;
    uint64_t value;
  };
  std::vector<Wait> waits; // of the next submission
};

} // namespace tilewright::runtime::vulkan

#endif // TILEWRIGHT_DRIVERS_VULKAN_VULKAN_STREAM_H
