// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams of the cpu driver; see cpu_stream.h.

#include "cpu_stream.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace tilewright::runtime {

namespace {

using Clock = std::chrono::steady_clock;

// How long a waiting thread looks before it sleeps: waking takes longer than
// most small kernels.
constexpr int kSpins = 2000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

template <typename Done> bool spinUntil(Done done) {
  for (int i = 0; i < kSpins; ++i) {
    if (done())
      return true;
    pause();
  }
  return done();
}

// Waits on a condition variable, forever or for some nanoseconds.
template <typename Done>
bool waitUntil(std::condition_variable &condition,
               std::unique_lock<std::mutex> &lock, uint64_t timeoutNs,
               Done done) {
  // A century is forever, and does not overflow the clock.
  constexpr uint64_t century = 100ull * 365 * 24 * 3600 * 1000000000ull;
  if (timeoutNs >= century) {
    condition.wait(lock, done);
    return true;
  }
  return condition.wait_for(lock, std::chrono::nanoseconds(timeoutNs), done);
}

std::string seconds(uint64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g s", nanoseconds * 1e-9);
  return text;
}

char *bytesOf(DriverBuffer &buffer, uint64_t offset) {
  return static_cast<char *>(buffer.hostPointer()) + offset;
}

} // namespace

//===----------------------------------------------------------------------===//
// Device state and memory
//===----------------------------------------------------------------------===//

CpuDeviceState::~CpuDeviceState() {
  if (lost)
    (void)pool.release(); // joining its threads could take forever
}

void CpuDeviceState::lose(const std::string &why) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!lost) {
    reason = why;
    lost = true;
  }
}

Status CpuDeviceState::check() {
  if (!lost)
    return Status::ok();
  std::lock_guard<std::mutex> lock(mutex);
  return deviceLost("the device is lost: " + reason);
}

CpuBuffer::~CpuBuffer() {
  if (!owned)
    return;
  if (!device->lost) {
    std::free(memory);
    return;
  }
  // A kernel that never ended may still write here: kept, and reachable.
  static std::mutex mutex;
  static auto *abandoned = new std::vector<void *>;
  std::lock_guard<std::mutex> lock(mutex);
  abandoned->push_back(memory);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

Status CpuEvent::query(bool &done) {
  if (Status s = device->check())
    return s;
  std::lock_guard<std::mutex> lock(state->mutex);
  done = state->reached == state->recorded;
  return Status::ok();
}

Status CpuEvent::wait(uint64_t timeoutNs) {
  if (Status s = device->check())
    return s;
  std::unique_lock<std::mutex> lock(state->mutex);
  uint64_t wanted = state->recorded;
  if (waitUntil(state->reachedAgain, lock, timeoutNs,
                [&] { return state->reached >= wanted; }))
    return Status::ok();
  return deadlineExceeded("the event was not reached within " +
                          seconds(timeoutNs));
}

Status CpuEvent::elapsedSince(DriverEvent &start, uint64_t &nanoseconds) {
  Clock::time_point times[2];
  CpuEvent *events[2] = {static_cast<CpuEvent *>(&start), this};
  for (int i = 0; i < 2; ++i) {
    State &event = *events[i]->state;
    std::lock_guard<std::mutex> lock(event.mutex);
    if (event.recorded == 0 || event.reached != event.recorded)
      return invalidArgument("elapsed time: the event has not been reached");
    times[i] = event.time;
  }
  if (times[1] < times[0])
    return invalidArgument("elapsed time: the events are in the wrong order");
  nanoseconds = static_cast<uint64_t>(
      std::chrono::nanoseconds(times[1] - times[0]).count());
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// The queue
//===----------------------------------------------------------------------===//

Status CpuStream::create(std::shared_ptr<CpuDeviceState> device,
                         std::unique_ptr<DriverStream> &result) {
  std::unique_ptr<CpuStream> stream(new CpuStream(std::move(device)));
  try {
    stream->thread = std::thread(&CpuStream::work, stream->state);
  } catch (const std::system_error &e) {
    return outOfMemory(std::string("no thread for a stream: ") + e.what());
  }
  result = std::move(stream);
  return Status::ok();
}

CpuStream::~CpuStream() {
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->stop = true;
    if (device->lost)
      state->tasks.clear();
  }
  state->arrived.notify_one();
  if (!thread.joinable())
    return;
  if (device->lost)
    thread.detach();
  else
    thread.join();
}

void CpuStream::work(std::shared_ptr<State> state) {
  for (;;) {
    spinUntil([&] { return state->enqueued > state->finished; });
    Task task;
    {
      std::unique_lock<std::mutex> lock(state->mutex);
      state->arrived.wait(lock,
                          [&] { return state->stop || !state->tasks.empty(); });
      if (state->tasks.empty())
        return;
      task = std::move(state->tasks.front());
      state->tasks.pop_front();
    }
    task();
    task = nullptr;
    {
      std::lock_guard<std::mutex> lock(state->mutex);
      ++state->finished;
    }
    state->finishedOne.notify_all();
  }
}

Status CpuStream::enqueue(Task task) {
  if (Status s = device->check())
    return s;
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->tasks.push_back(std::move(task));
    ++state->enqueued;
  }
  state->arrived.notify_one();
  return Status::ok();
}

Status CpuStream::synchronize(uint64_t timeoutNs) {
  if (Status s = device->check())
    return s;
  uint64_t wanted = state->enqueued;
  auto done = [&] { return state->finished >= wanted; };
  if (!spinUntil(done)) {
    std::unique_lock<std::mutex> lock(state->mutex);
    if (!waitUntil(state->finishedOne, lock, timeoutNs, done)) {
      std::string reason =
          "its work did not finish within " + seconds(timeoutNs);
      device->lose(reason);
      return deadlineExceeded(reason + "; the device is lost");
    }
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Status CpuStream::write(DriverBuffer &target, uint64_t offset,
                        const void *source, uint64_t size) {
  char *to = bytesOf(target, offset);
  if (state->finished == state->enqueued) {
    // Nothing is in flight: no copy of a copy.
    if (Status s = device->check())
      return s;
    std::memcpy(to, source, size);
    return Status::ok();
  }
  std::shared_ptr<char> staged(static_cast<char *>(std::malloc(size)),
                               std::free);
  if (!staged)
    return outOfMemory("no host memory to stage " + std::to_string(size) +
                       " bytes");
  std::memcpy(staged.get(), source, size);
  return enqueue([=] { std::memcpy(to, staged.get(), size); });
}

Status CpuStream::read(void *target, DriverBuffer &source, uint64_t offset,
                       uint64_t size) {
  const char *from = bytesOf(source, offset);
  return enqueue([=] { std::memcpy(target, from, size); });
}

Status CpuStream::fill(DriverBuffer &target, uint64_t offset, uint64_t size,
                       uint32_t pattern, uint32_t patternSize) {
  char *to = bytesOf(target, offset);
  return enqueue([=] {
    if (patternSize == 1)
      std::memset(to, static_cast<int>(pattern & 0xff), size);
    else
      for (uint64_t i = 0; i < size; i += patternSize)
        std::memcpy(to + i, &pattern, patternSize);
  });
}

Status CpuStream::copy(DriverBuffer &target, uint64_t targetOffset,
                       DriverBuffer &source, uint64_t sourceOffset,
                       uint64_t size) {
  char *to = bytesOf(target, targetOffset);
  const char *from = bytesOf(source, sourceOffset);
  return enqueue([=] { std::memcpy(to, from, size); });
}

namespace {

// Below this, handing blocks out costs more than it gains.
constexpr uint64_t kInlineNs = 20000;

struct Launch {
  std::shared_ptr<CpuModule::Kernel> kernel;
  std::vector<uint64_t> params;
  Extent3 grid;

  // Blocks [begin, end), x fastest.
  void run(uint64_t begin, uint64_t end) const {
    tw_cpu_kernel function = kernel->function;
    uint32_t x = static_cast<uint32_t>(begin % grid[0]);
    uint32_t y = static_cast<uint32_t>(begin / grid[0] % grid[1]);
    uint32_t z = static_cast<uint32_t>(begin / grid[0] / grid[1]);
    for (uint64_t i = begin; i < end; ++i) {
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
  void runTimed(uint64_t begin, uint64_t end) const {
    Clock::time_point start = Clock::now();
    run(begin, end);
    uint64_t elapsed = static_cast<uint64_t>(
        std::chrono::nanoseconds(Clock::now() - start).count());
    kernel->blockNs = elapsed / (end - begin);
  }

  void runAll(CpuDeviceState &device) const {
    uint64_t count = uint64_t(grid[0]) * grid[1] * grid[2];
    if (count == 1 || device.threads == 1)
      return run(0, count);
    if (count <= kInlineNs / std::max<uint64_t>(kernel->blockNs, 1))
      return runTimed(0, count);
    // About eight pieces per thread: even when blocks differ in cost, few
    // enough to hand out.
    uint64_t chunk =
        std::max<uint64_t>(1, count / (uint64_t(device.threads) * 8));
    device.pool->run(
        count, chunk,
        [](void *data, uint64_t begin, uint64_t end) {
          const Launch *launch = static_cast<const Launch *>(data);
          if (begin == 0)
            launch->runTimed(begin, end);
          else
            launch->run(begin, end);
        },
        const_cast<Launch *>(this));
  }
};

} // namespace

Status CpuStream::launch(DriverModule &module, uint32_t kernel,
                         const LaunchArgs &args) {
  CpuModule &code = static_cast<CpuModule &>(module);
  Launch launch{code.kernels[kernel], {}, args.grid};
  launch.params.reserve(args.numBuffers + args.numScalars);
  for (size_t i = 0; i < args.numBuffers; ++i)
    launch.params.push_back(args.buffers[i].buffer->address() +
                            args.buffers[i].offset);
  launch.params.insert(launch.params.end(), args.scalars,
                       args.scalars + args.numScalars);
  return enqueue([launch = std::move(launch), device = device] {
    launch.runAll(*device);
  });
}

Status CpuStream::record(DriverEvent &event) {
  auto point = static_cast<CpuEvent &>(event).state;
  uint64_t number;
  {
    std::lock_guard<std::mutex> lock(point->mutex);
    number = ++point->recorded;
  }
  return enqueue([point, number] {
    {
      std::lock_guard<std::mutex> lock(point->mutex);
      point->reached = std::max(point->reached, number);
      point->time = Clock::now();
    }
    point->reachedAgain.notify_all();
  });
}

Status CpuStream::waitFor(DriverEvent &event) {
  auto point = static_cast<CpuEvent &>(event).state;
  uint64_t wanted;
  {
    std::lock_guard<std::mutex> lock(point->mutex);
    wanted = point->recorded;
  }
  return enqueue([point, wanted, device = device] {
    std::unique_lock<std::mutex> lock(point->mutex);
    // Looks up now and then in case the device is lost under it.
    while (point->reached < wanted && !device->lost)
      point->reachedAgain.wait_for(lock, std::chrono::milliseconds(50));
  });
}

} // namespace tilewright::runtime
