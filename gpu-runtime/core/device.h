// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices, streams, buffers and events as the rest of core sees them: a
// driver's objects with shared ownership, bounds checks and cached memory.
//
//   Instance ◀── Device ◀── Stream, Buffer, Event     (arrows: keeps alive)
#ifndef TILEWRIGHT_CORE_DEVICE_H
#define TILEWRIGHT_CORE_DEVICE_H

#include "core/allocator.h"
#include "core/driver.h"
#include "core/tensor_map_cache.h"
#include "core/trace.h"

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tilewright::runtime {

class Buffer;
class ConstantCache;
class Device;
class Event;
class Stream;

/// The error where objects of two devices meet: "WHAT belongs to cuda:0, OTHER to cuda:1". Two
/// that were opened apart may have one name.
Status ofTwoDevices(const std::string &what, const Device &its, const char *other,
                    const Device &others);

/// Thread-safe.
class Device : public std::enable_shared_from_this<Device> {
public:
  /// `owner` is kept alive: it has the driver.
  Device(std::shared_ptr<void> owner, DeviceInfo info, std::string driverName,
         std::unique_ptr<DriverDevice> driver);
  ~Device();

  const DeviceInfo &info() const { return deviceInfo; }
  const std::string &driverName() const { return nameOfDriver; }
  DriverDevice &driver() { return *driverDevice; }
  TensorMapCache &tensorMaps() { return maps; }
  ConstantCache &constants() { return *constantCache; }
  int64_t fact(std::string_view key) const { return driverDevice->fact(key); }

  /// Memory for use on `stream` (null: any). When the driver has none left, the
  /// streams that nobody uses at the moment are waited for and cached memory
  /// goes back before the second try.
  Status allocate(uint64_t size, Stream *stream,
                  std::shared_ptr<Buffer> &result);
  /// Adopts the caller's memory, which `readOnly` keeps from being written.
  Status importBuffer(uint64_t native, uint64_t size, bool readOnly,
                      std::shared_ptr<Buffer> &result);
  Status createStream(std::shared_ptr<Stream> &result);
  Status importStream(uint64_t native, std::shared_ptr<Stream> &result);
  Status createEvent(bool timing, std::shared_ptr<Event> &result);
  void trim() { memory.trim(); }

  /// While set, every tensor that a program allocates is filled with ones bits
  /// (NaN in every float type), so that elements never written show.
  std::atomic<bool> poison{false};
  /// Of every stream that was given none of its own.
  void setTimeout(uint64_t timeout);

  /// Ok, or DeviceLost, which no call gets past.
  Status lost() const;
  bool isLost() const noexcept;
  /// Gives the device up after a wait of `timeout` for what the text names.
  Status missedDeadline(const std::string &what, uint64_t timeout);
  /// Hears of what happens here; null: nobody does.
  std::atomic<const Tracer *> tracer{nullptr};
  void setTracer(tilewright_trace_function function, void *user);

private:
  friend class Buffer;
  friend class Stream;
  /// The stream over the driver's queue.
  std::shared_ptr<Stream> adoptQueue(std::unique_ptr<DriverStream> queue);

  std::shared_ptr<void> owner;
  DeviceInfo deviceInfo;
  std::string nameOfDriver;
  std::unique_ptr<DriverDevice> driverDevice;
  TensorMapCache maps;
  std::unique_ptr<ConstantCache> constantCache;
  Allocator memory;
  std::mutex mutex;
  std::vector<std::weak_ptr<Stream>> streams;
  std::vector<std::unique_ptr<const Tracer>> tracers; // slices may point to them
  uint64_t timeoutNs = kDefaultTimeoutNs;
};

/// Device memory. Thread-safe.
class Buffer {
public:
  Buffer(std::shared_ptr<Device> device, BlockNode block, uint64_t size,
         bool imported, bool readOnly = false)
      : owner(std::move(device)), block(std::move(block)),
        memory(this->block.mapped().memory.get()), bytes(size),
        imported(imported), readOnly(readOnly), written(imported) {}
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  const std::shared_ptr<Device> &device() const { return owner; }
  DriverBuffer &driver() { return *memory; }
  /// As asked for.
  uint64_t size() const { return bytes; }
  /// What may be bound: `size` rounded up to what the driver gave.
  uint64_t capacity() const { return memory->size(); }
  uint64_t address() const { return memory->address(); }
  /// Whether any work so far may have written to it.
  bool mayHaveContents() const { return written; }
  /// Whether its owner forbids writing: every write of a stream is refused.
  bool isReadOnly() const { return readOnly; }
  /// From here on it is. Before the buffer is shared.
  void protect() { readOnly = true; }
  /// Drops `keep` when this buffer is gone and no work uses its memory. Before
  /// the buffer is shared.
  void keepAlive(std::shared_ptr<void> keep) {
    block.mapped().keep = std::move(keep);
  }

private:
  friend class Stream;
  void noteUse(const std::shared_ptr<StreamClock> &clock);

  std::shared_ptr<Device> owner;
  BlockNode block;
  DriverBuffer *memory; // of the block
  uint64_t bytes;
  bool imported, readOnly;
  std::atomic<bool> written;
  std::mutex mutex; // of the block's uses
};

/// A check of a program whose outcome is on the device when the call returns: an
/// error with message `number` if there is one.
struct LaterCheck {
  int32_t number = 0; // written by work of the stream
  std::vector<std::string> messages;
  std::string where;
  const void *call = nullptr; // whose it is; never looked into
};

/// An in-order queue. Thread-safe: calls from several threads take turns, and a
/// call of a program has the stream for itself until it returns. A wait counts
/// the time until its turn comes.
class Stream : public std::enable_shared_from_this<Stream> {
public:
  Stream(std::shared_ptr<Device> device, std::unique_ptr<DriverStream> driver)
      : owner(std::move(device)), queue(std::move(driver)),
        clock(std::make_shared<StreamClock>()) {}
  /// Waits for the work in flight, up to its timeout.
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  const std::shared_ptr<Device> &device() const { return owner; }
  const StreamClock *clockIdentity() const { return clock.get(); }

  // As in DriverStream, with bounds checked; nothing happens for size 0.
  Status write(Buffer &target, uint64_t offset, const void *source,
               uint64_t size);
  Status read(void *target, Buffer &source, uint64_t offset, uint64_t size);
  Status fill(Buffer &target, uint64_t offset, uint64_t size, uint32_t pattern,
              uint32_t patternSize);
  Status poison(Buffer &target, uint64_t offset, uint64_t size);
  Status copy(Buffer &target, uint64_t targetOffset, Buffer &source,
              uint64_t sourceOffset, uint64_t size);
  /// `touched` are the buffers behind args.buffers. `name` and `arguments` are
  /// for traces.
  Status launch(DriverModule &module, uint32_t kernel, const LaunchArgs &args,
                Buffer *const *touched, size_t numTouched,
                const std::string &name, const TraceArguments *arguments);
  /// A block of the allocator becomes a buffer of `size` bytes.
  Status beginUse(DriverBuffer &block, uint64_t size);
  Status record(Event &event);
  Status waitFor(Event &event);
  Status flush();
  /// Reads the check's number from the four bytes at `offset`, in order; a
  /// synchronisation gives the error. With very many of them under way it waits.
  Status checkLater(Buffer &source, uint64_t offset, LaterCheck check);
  /// Those of `call` fail no more.
  void forgetChecks(const void *call);
  /// Waits for all work so far, and gives the first failed check of it.
  Status synchronize(uint64_t timeout);
  /// Gives the device `work`, waits for it, and gives the first failed check. No
  /// other call comes in between, whose failed check this could be.
  template <typename Work> Status complete(Work work) {
    Status done = [&]() -> Status {
      Lock lock(mutex);
      if (Status s = work())
        return s;
      if (Status s = waitInTurn(queue->timeoutNs))
        return s;
      return takeFailedCheck();
    }();
    releaseAdopted();
    return done;
  }
  /// Waits alone: a failed check stays for whoever synchronises.
  Status wait(uint64_t timeout);
  /// The first check known to have failed, once.
  Status takeFailedCheck();
  /// The driver's own handle of the queue.
  Status native(uint64_t &handle) const { return queue->native(handle); }
  /// The same within the stream's own timeout.
  Status synchronize() { return synchronize(queue->timeoutNs); }
  Status wait() { return wait(queue->timeoutNs); }
  uint64_t timeout() const { return queue->timeoutNs; }
  void setTimeout(uint64_t timeout) {
    hasOwnTimeout = true;
    queue->timeoutNs = timeout;
  }

  std::recursive_timed_mutex mutex;

private:
  friend class Device;
  using Lock = std::lock_guard<std::recursive_timed_mutex>;
  Status checkRange(const Buffer &buffer, uint64_t offset, uint64_t size,
                    const char *what) const;
  void submit(Buffer &buffer);
  /// A wait but for the owners of adopted memory, who hear of it without the lock:
  /// they may call back.
  Status waitInTurn(uint64_t timeout);
  void releaseAdopted();
  /// After a wait: what the numbers of checks say.
  void settleChecks();
  /// Runs `work`, which enqueues, between two events of a trace if one is on.
  template <typename Work>
  Status traced(const char *category, const std::string &name,
                const TraceArguments *arguments, Work work);
  template <typename Work>
  Status tracedTransfer(const char *name, uint64_t size, Work work);
  /// `write` puts `size` bytes into `target` without reading it.
  template <typename Write>
  Status overwrite(Buffer &target, uint64_t size, Write write);

  std::shared_ptr<Device> owner;
  std::unique_ptr<DriverStream> queue;
  std::shared_ptr<StreamClock> clock;
  std::unique_ptr<StreamTrace> trace; // from the first traced work on
  std::list<LaterCheck> checks;       // in order; work under way writes to them
  Status failedCheck;
  std::atomic<bool> hasOwnTimeout{false};
};

/// A point in a stream.
class Event {
public:
  Event(std::shared_ptr<Device> device, std::unique_ptr<DriverEvent> driver,
        bool timing)
      : timing(timing), owner(std::move(device)), driver(std::move(driver)) {}

  const std::shared_ptr<Device> &device() const { return owner; }
  Status query(bool &done);
  Status wait(uint64_t timeout);
  Status elapsedSince(Event &start, uint64_t &nanoseconds);
  const bool timing;

private:
  friend class Stream;
  std::shared_ptr<Device> owner;
  std::unique_ptr<DriverEvent> driver;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_DEVICE_H
