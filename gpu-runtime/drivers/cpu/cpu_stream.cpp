// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams of the cpu driver; see cpu_stream.h.

#include "cpu_stream.h"
#include "cpu_wait.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace tilewright::runtime {

namespace {

std::shared_ptr<char> bytesOf(DriverBuffer &buffer, uint64_t offset) {
  return static_cast<CpuBuffer &>(buffer).at(offset);
}

} // namespace

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
  if (device->forked) {
    // The thread is the parent's. What its handle names may be a thread of this process by
    // now, or no memory: to detach it is as wrong as to wait for it, so it is leaked.
    (void)new std::thread(std::move(thread));
    return;
  }
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
  if (device->forked)
    return;
  // Tasks let go of memory and code, which may take locks of others.
  std::list<Queued> dropped;
  std::unique_lock<std::mutex> lock(state->mutex);
  state->finished += state->tasks.size();
  dropped.swap(state->tasks);
  dropped.splice(dropped.end(), state->done);
  state->awaited = 0;
  state->finishedOne.wait(lock, [&] { return !state->copying; });
  state->awaited = UINT64_MAX;
}

void CpuStream::Queued::run(bool followed) {
  if (kind == Kind::Kernel) {
    launch.run(followed);
  } else if (kind == Kind::Mark) {
    {
      std::lock_guard<std::mutex> lock(point->mutex);
      point->reached = std::max(point->reached, number);
      point->time = Clock::now();
    }
    point->reachedAgain.notify_all();
  } else {
    task();
  }
}

void CpuStream::Queued::clear() {
  task = nullptr;
  launch.kernel.reset();
  launch.buffers.clear();
  launch.params.clear();
  point.reset();
}

bool CpuStream::State::launchFollows() const {
  int left = 8; // marks and copies in between
  for (const Queued &behind : tasks)
    if (behind.kind == Kind::Kernel)
      return true;
    else if (!--left)
      break;
  return false;
}

void CpuStream::State::finishOne(std::unique_lock<std::mutex> &lock) {
  if (++finished < awaited)
    return;
  // Whoever sleeps for it has the lock until then.
  if (!lock)
    lock = lockSoon(mutex);
  lock.unlock();
  finishedOne.notify_all();
}

void CpuStream::work(std::shared_ptr<State> state,
                     std::shared_ptr<CpuDeviceState> device) {
  std::list<Queued> one; // what runs, or has run
  std::unique_lock<std::mutex> lock(state->mutex, std::defer_lock);
  for (;;) {
    if (!lock)
      lock = lockSoon(state->mutex);
    state->done.splice(state->done.end(), one);
    if (state->tasks.empty() && !state->stop) {
      lock.unlock();
      if (!spinUntil([&] { return state->enqueued > state->finished; },
                     [&] { return device->handedOut > 0; })) {
        if (device->pool)
          device->pool->rest();
        // Nobody has come for these.
        lock = lockSoon(state->mutex);
        one.swap(state->done);
        lock.unlock();
        one.clear();
      }
      lock = lockSoon(state->mutex);
      state->arrived.wait(lock,
                          [&] { return state->stop || !state->tasks.empty(); });
    }
    if (state->tasks.empty())
      return;
    one.splice(one.begin(), state->tasks, state->tasks.begin());
    Queued &task = one.front();
    if (device->lost) {
    } else if (task.kind == Kind::Mark) {
      // Whoever hears of it finds the stream there too.
      task.run(/*followed=*/false);
    } else {
      bool copies = task.kind == Kind::Copy;
      bool followed = state->launchFollows();
      state->copying = copies;
      lock.unlock();
      task.run(followed);
      if (copies) {
        lock = lockSoon(state->mutex);
        state->copying = false;
      }
    }
    state->finishOne(lock);
  }
}

void CpuStream::takeBack() {
  std::list<Queued> done;
  {
    std::unique_lock<std::mutex> lock = lockSoon(state->mutex);
    done.swap(state->done);
  }
  // What they let go of may take locks of others: not under the queue's.
  for (Queued &queued : done)
    queued.clear();
  constexpr size_t most = 64;
  spare.splice(spare.end(), done);
  if (spare.size() > most)
    spare.resize(most);
}

template <typename Fill>
Status CpuStream::enqueue(Kind kind, Fill fill) {
  if (Status s = device->check())
    return s;
  if (spare.empty())
    takeBack();
  std::list<Queued> one;
  if (spare.empty())
    one.emplace_back();
  else
    one.splice(one.begin(), spare, spare.begin());
  one.front().kind = kind;
  fill(one.front());
  {
    std::unique_lock<std::mutex> lock = lockSoon(state->mutex);
    if (kind == Kind::Mark) {
      // Known when the task is certain to come: nobody must wait for another.
      CpuEvent::State &point = *one.front().point;
      std::lock_guard<std::mutex> guard(point.mutex);
      one.front().number = ++point.recorded;
    }
    state->tasks.splice(state->tasks.end(), one);
  }
  // Behind the lock, which the thread takes as soon as it sees this.
  ++state->enqueued;
  state->arrived.notify_one();
  return Status::ok();
}

Status CpuStream::enqueueTask(Kind kind, Task task) {
  return enqueue(kind, [&](Queued &queued) { queued.task = std::move(task); });
}

Status CpuStream::synchronize(uint64_t deadlineNs) {
  uint64_t wanted = state->enqueued;
  auto done = [&] { return state->finished >= wanted; };
  // The pool's threads have the processors for themselves.
  if (!device->lost &&
      !spinUntil(done, [&] { return device->poolSpins(); })) {
    std::unique_lock<std::mutex> lock(state->mutex);
    state->awaited = wanted;
    bool inTime = waitUntil(state->finishedOne, lock, deadlineNs, *device, done);
    state->awaited = UINT64_MAX;
    if (!inTime) {
      Status status = missed(*device, "its work did not finish", deadlineNs);
      lock.unlock();
      abandon();
      return status;
    }
  }
  // What was dropped counts as finished.
  if (!device->lost) {
    takeBack();
    return Status::ok();
  }
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
  return enqueueTask(Kind::Copy,
                     [=] { std::memcpy(to.get(), staged.get(), size); });
}

Status CpuStream::read(void *target, DriverBuffer &source, uint64_t offset,
                       uint64_t size) {
  std::shared_ptr<char> from = bytesOf(source, offset);
  return enqueueTask(Kind::Copy,
                     [=] { std::memcpy(target, from.get(), size); });
}

Status CpuStream::fill(DriverBuffer &target, uint64_t offset, uint64_t size,
                       uint32_t pattern, uint32_t patternSize) {
  std::shared_ptr<char> to = bytesOf(target, offset);
  return enqueueTask(Kind::Copy, [=] {
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
  return enqueueTask(Kind::Copy,
                     [=] { std::memcpy(to.get(), from.get(), size); });
}

Status CpuStream::launch(DriverModule &module, uint32_t kernel,
                         const LaunchArgs &args) {
  CpuModule &code = static_cast<CpuModule &>(module);
  return enqueue(Kind::Kernel, [&](Queued &queued) {
    CpuLaunch &launch = queued.launch;
    launch.kernel = code.kernels[kernel];
    launch.device = device.get();
    launch.grid = args.grid;
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
  });
}

Status CpuStream::record(DriverEvent &event) {
  return enqueue(Kind::Mark, [&](Queued &queued) {
    queued.point = static_cast<CpuEvent &>(event).state;
  });
}

Status CpuStream::waitFor(DriverEvent &event) {
  auto point = static_cast<CpuEvent &>(event).state;
  uint64_t wanted;
  {
    std::lock_guard<std::mutex> lock(point->mutex);
    wanted = point->recorded;
  }
  return enqueueTask(Kind::Wait, [point, wanted, device = device] {
    std::unique_lock<std::mutex> lock(point->mutex);
    waitUntil(point->reachedAgain, lock, kForever, *device,
              [&] { return point->reached >= wanted; });
  });
}

} // namespace tilewright::runtime
