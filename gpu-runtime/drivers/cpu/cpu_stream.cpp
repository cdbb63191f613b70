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

std::string seconds(uint64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g s", nanoseconds * 1e-9);
  return text;
}

// Waits on a condition variable for some nanoseconds. It looks up now and then
// in case the device is lost under it.
template <typename Done>
bool waitUntil(std::condition_variable &condition,
               std::unique_lock<std::mutex> &lock, uint64_t timeoutNs,
               const CpuDeviceState &device, Done done) {
  constexpr std::chrono::milliseconds slice(50);
  Clock::time_point start = Clock::now();
  while (!done()) {
    if (device.lost)
      return false;
    uint64_t waited = static_cast<uint64_t>(
        std::chrono::nanoseconds(Clock::now() - start).count());
    if (waited >= timeoutNs)
      return false;
    condition.wait_for(lock,
                       std::min<std::chrono::nanoseconds>(
                           slice, std::chrono::nanoseconds(std::min<uint64_t>(
                                      timeoutNs - waited, INT64_MAX))));
  }
  return true;
}

// What a wait that ended unsuccessfully says: the first to do so loses the
// device.
Status missed(CpuDeviceState &device, const char *what, uint64_t timeoutNs) {
  if (Status s = device.check())
    return s;
  return loseByDeadline(device, [&] {
    return std::string(what) + " within " + seconds(timeoutNs);
  });
}

std::shared_ptr<char> bytesOf(DriverBuffer &buffer, uint64_t offset) {
  return static_cast<CpuBuffer &>(buffer).at(offset);
}

} // namespace

//===----------------------------------------------------------------------===//
// Device state
//===----------------------------------------------------------------------===//

void CpuDeviceState::lose(const std::string &why) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!lost) {
    lost = true; // first: there may be no memory for the reason
    reason = why;
  }
}

Status CpuDeviceState::check() {
  if (!lost)
    return Status::ok();
  std::lock_guard<std::mutex> lock(mutex);
  return deviceLost("the device is lost: " + reason);
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
  if (waitUntil(state->reachedAgain, lock, timeoutNs, *device,
                [&] { return state->reached >= wanted; }))
    return Status::ok();
  return missed(*device, "the event was not reached", timeoutNs);
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
    stream->thread =
        std::thread(&CpuStream::work, stream->state, stream->device);
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
  }
  state->arrived.notify_one();
  if (!thread.joinable())
    return;
  if (device->lost) {
    abandon();
    thread.detach();
  } else {
    thread.join();
  }
}

void CpuStream::abandon() {
  // Tasks let go of memory and code, which may take locks of others.
  std::list<State::Queued> dropped;
  std::unique_lock<std::mutex> lock(state->mutex);
  state->finished += state->tasks.size();
  dropped.swap(state->tasks);
  state->finishedOne.wait(lock, [&] { return !state->copying; });
}

void CpuStream::work(std::shared_ptr<State> state,
                     std::shared_ptr<CpuDeviceState> device) {
  for (;;) {
    spinUntil([&] { return state->enqueued > state->finished; });
    Task task;
    bool dropped, marks;
    {
      std::unique_lock<std::mutex> lock(state->mutex);
      state->arrived.wait(lock,
                          [&] { return state->stop || !state->tasks.empty(); });
      if (state->tasks.empty())
        return;
      task = std::move(state->tasks.front().task);
      dropped = device->lost;
      Kind kind = state->tasks.front().kind;
      state->copying = kind == Kind::Copy && !dropped;
      marks = kind == Kind::Mark && !dropped;
      state->tasks.pop_front();
    }
    if (!dropped && !marks)
      task();
    {
      // Whoever hears of a mark finds the stream there too.
      std::lock_guard<std::mutex> lock(state->mutex);
      if (marks)
        task();
      state->copying = false;
      ++state->finished;
    }
    task = nullptr;
    state->finishedOne.notify_all();
  }
}

template <typename Taken>
Status CpuStream::enqueue(Kind kind, Task task, Taken taken) {
  if (Status s = device->check())
    return s;
  std::list<State::Queued> one;
  one.push_back({std::move(task), kind});
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->tasks.splice(state->tasks.end(), one);
    ++state->enqueued;
    taken();
  }
  state->arrived.notify_one();
  return Status::ok();
}

Status CpuStream::enqueue(Kind kind, Task task) {
  return enqueue(kind, std::move(task), [] {});
}

Status CpuStream::synchronize(uint64_t deadlineNs) {
  uint64_t wanted = state->enqueued;
  auto done = [&] { return state->finished >= wanted; };
  if (!device->lost && !spinUntil(done)) {
    std::unique_lock<std::mutex> lock(state->mutex);
    if (!waitUntil(state->finishedOne, lock, deadlineNs, *device, done)) {
      Status status = missed(*device, "its work did not finish", deadlineNs);
      lock.unlock();
      abandon();
      return status;
    }
  }
  // What was dropped counts as finished.
  if (!device->lost)
    return Status::ok();
  abandon();
  return device->check();
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Status CpuStream::write(DriverBuffer &target, uint64_t offset,
                        const void *source, uint64_t size) {
  std::shared_ptr<char> to = bytesOf(target, offset);
  if (state->finished == state->enqueued) {
    // Nothing is in flight: no copy of a copy.
    if (Status s = device->check())
      return s;
    std::memcpy(to.get(), source, size);
    return Status::ok();
  }
  std::shared_ptr<char> staged(static_cast<char *>(std::malloc(size)),
                               std::free);
  if (!staged)
    return outOfMemory("no host memory to stage " + std::to_string(size) +
                       " bytes");
  std::memcpy(staged.get(), source, size);
  return enqueue(Kind::Copy,
                 [=] { std::memcpy(to.get(), staged.get(), size); });
}

Status CpuStream::read(void *target, DriverBuffer &source, uint64_t offset,
                       uint64_t size) {
  std::shared_ptr<char> from = bytesOf(source, offset);
  return enqueue(Kind::Copy,
                 [=] { std::memcpy(target, from.get(), size); });
}

Status CpuStream::fill(DriverBuffer &target, uint64_t offset, uint64_t size,
                       uint32_t pattern, uint32_t patternSize) {
  std::shared_ptr<char> to = bytesOf(target, offset);
  return enqueue(Kind::Copy, [=] {
    if (patternSize == 1)
      std::memset(to.get(), static_cast<int>(pattern & 0xff), size);
    else
      for (uint64_t i = 0; i < size; i += patternSize)
        std::memcpy(to.get() + i, &pattern, patternSize);
  });
}

Status CpuStream::copy(DriverBuffer &target, uint64_t targetOffset,
                       DriverBuffer &source, uint64_t sourceOffset,
                       uint64_t size) {
  std::shared_ptr<char> to = bytesOf(target, targetOffset);
  std::shared_ptr<char> from = bytesOf(source, sourceOffset);
  return enqueue(Kind::Copy,
                 [=] { std::memcpy(to.get(), from.get(), size); });
}

namespace {

// Below this, handing blocks out costs more than it gains.
constexpr uint64_t kInlineNs = 20000;

struct Launch {
  std::shared_ptr<CpuModule::Kernel> kernel;
  std::shared_ptr<CpuDeviceState> device;
  std::vector<std::shared_ptr<char>> buffers; // kept while it runs
  std::vector<uint64_t> params;
  Extent3 grid;

  // Blocks [begin, end), x fastest; none any more once the device is lost.
  void run(uint64_t begin, uint64_t end) const {
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
  void runTimed(uint64_t begin, uint64_t end) const {
    Clock::time_point start = Clock::now();
    run(begin, end);
    uint64_t elapsed = static_cast<uint64_t>(
        std::chrono::nanoseconds(Clock::now() - start).count());
    kernel->blockNs = elapsed / (end - begin);
  }

  void runAll() const {
    uint64_t count = uint64_t(grid[0]) * grid[1] * grid[2];
    if (count == 1 || device->threads == 1)
      return run(0, count);
    if (count <= kInlineNs / std::max<uint64_t>(kernel->blockNs, 1))
      return runTimed(0, count);
    // About eight pieces per thread: even when blocks differ in cost, few
    // enough to hand out.
    uint64_t chunk =
        std::max<uint64_t>(1, count / (uint64_t(device->threads) * 8));
    device->pool->run(
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
  Launch launch{code.kernels[kernel], device, {}, {}, args.grid};
  launch.params.reserve(args.numBuffers + args.numScalars);
  launch.buffers.reserve(args.numBuffers);
  for (size_t i = 0; i < args.numBuffers; ++i) {
    launch.buffers.push_back(
        bytesOf(*args.buffers[i].buffer, args.buffers[i].offset));
    launch.params.push_back(
        reinterpret_cast<uintptr_t>(launch.buffers.back().get()));
  }
  launch.params.insert(launch.params.end(), args.scalars,
                       args.scalars + args.numScalars);
  return enqueue(Kind::Kernel,
                 [launch = std::move(launch)] { launch.runAll(); });
}

Status CpuStream::record(DriverEvent &event) {
  auto point = static_cast<CpuEvent &>(event).state;
  // Known when the task is certain to come: nobody must wait for another.
  auto number = std::make_shared<uint64_t>(0);
  auto mark = [point, number] {
    {
      std::lock_guard<std::mutex> lock(point->mutex);
      point->reached = std::max(point->reached, *number);
      point->time = Clock::now();
    }
    point->reachedAgain.notify_all();
  };
  return enqueue(Kind::Mark, mark, [&] {
    std::lock_guard<std::mutex> lock(point->mutex);
    *number = ++point->recorded;
  });
}

Status CpuStream::waitFor(DriverEvent &event) {
  auto point = static_cast<CpuEvent &>(event).state;
  uint64_t wanted;
  {
    std::lock_guard<std::mutex> lock(point->mutex);
    wanted = point->recorded;
  }
  return enqueue(Kind::Kernel, [point, wanted, device = device] {
    std::unique_lock<std::mutex> lock(point->mutex);
    waitUntil(point->reachedAgain, lock, kForever, *device,
              [&] { return point->reached >= wanted; });
  });
}

} // namespace tilewright::runtime
