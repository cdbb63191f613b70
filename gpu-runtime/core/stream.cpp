// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams; see device.h.

#include "core/device.h"

#include "core/checked.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tilewright::runtime {

Stream::~Stream() {
  // A lost device frees nothing early.
  ignoringErrors([&] {
    Status status = wait();
    if (status.isOk())
      clock->completed = UINT64_MAX;
    return status;
  });
}

Status Stream::checkRange(const Buffer &buffer, uint64_t offset, uint64_t size,
                          const char *what) const {
  if (Status s = owner->lost())
    return s;
  if (buffer.device() != owner)
    return ofTwoDevices(std::string(what) + ": the buffer", *buffer.device(), "the stream",
                        *owner);
  if (!rangeFits(offset, size, buffer.size()))
    return invalidArgument(std::string(what) + ": bytes " +
                           std::to_string(offset) + " + " +
                           std::to_string(size) + " lie outside a buffer of " +
                           std::to_string(buffer.size()) + " bytes");
  return Status::ok();
}

namespace {
Status requireWritable(const Buffer &buffer, const char *what) {
  if (!buffer.isReadOnly())
    return Status::ok();
  return invalidArgument(std::string(what) +
                         ": the memory is its owner's and read-only");
}
} // namespace

void Stream::submit(Buffer &buffer) {
  ++clock->submitted;
  buffer.noteUse(clock);
}

template <typename Work>
Status Stream::traced(const char *category, const std::string &name,
                      const TraceArguments *arguments, Work work) {
  const Tracer *tracer = owner->tracer.load(std::memory_order_acquire);
  if (!tracer)
    return work();
  // Tracing fails no work: without memory a slice is missing.
  ignoringErrors([&] {
    if (!trace)
      trace = std::make_unique<StreamTrace>();
    trace->begin(*this, category, name, arguments ? arguments->text() : "{}");
    return Status::ok();
  });
  Status status = work();
  ignoringErrors([&] {
    if (trace)
      trace->end(*this);
    return Status::ok();
  });
  return status;
}

template <typename Work>
Status Stream::tracedTransfer(const char *name, uint64_t size, Work work) {
  TraceSlice slice(*owner, "transfer", name);
  if (!slice)
    return work();
  TraceArguments arguments;
  arguments.add("bytes", size);
  slice.add("bytes", size);
  return traced("transfer", name, &arguments, work);
}

Status Stream::write(Buffer &target, uint64_t offset, const void *source,
                     uint64_t size) {
  if (Status s = checkRange(target, offset, size, "write"))
    return s;
  if (Status s = requireWritable(target, "write"))
    return s;
  if (size == 0)
    return Status::ok();
  if (!source)
    return invalidArgument("write: the source is null");
  Lock lock(mutex);
  submit(target);
  target.written = true;
  return tracedTransfer("write", size, [&] {
    return queue->write(target.driver(), offset, source, size);
  });
}

Status Stream::read(void *target, Buffer &source, uint64_t offset,
                    uint64_t size) {
  if (Status s = checkRange(source, offset, size, "read"))
    return s;
  if (size == 0)
    return Status::ok();
  if (!target)
    return invalidArgument("read: the target is null");
  Lock lock(mutex);
  submit(source);
  return tracedTransfer("read", size, [&] {
    return queue->read(target, source.driver(), offset, size);
  });
}

Status Stream::beginUse(DriverBuffer &block, uint64_t size) {
  Lock lock(mutex);
  return queue->beginUse(block, size);
}

template <typename Write>
Status Stream::overwrite(Buffer &target, uint64_t size, Write write) {
  if (size == 0)
    return Status::ok();
  Lock lock(mutex);
  submit(target);
  target.written = true;
  return tracedTransfer("fill", size, write);
}

Status Stream::fill(Buffer &target, uint64_t offset, uint64_t size,
                    uint32_t pattern, uint32_t patternSize) {
  if (Status s = checkRange(target, offset, size, "fill"))
    return s;
  if (Status s = requireWritable(target, "fill"))
    return s;
  if (patternSize != 1 && patternSize != 2 && patternSize != 4)
    return invalidArgument("fill: the pattern has " +
                           std::to_string(patternSize) +
                           " bytes; expected 1, 2 or 4");
  if (offset % patternSize || size % patternSize)
    return invalidArgument("fill: offset " + std::to_string(offset) +
                           " or size " + std::to_string(size) +
                           " is no multiple of the pattern's " +
                           std::to_string(patternSize) + " bytes");
  return overwrite(target, size, [&] {
    return queue->fill(target.driver(), offset, size, pattern, patternSize);
  });
}

Status Stream::poison(Buffer &target, uint64_t offset, uint64_t size) {
  if (Status s = checkRange(target, offset, size, "fill"))
    return s;
  return overwrite(target, size, [&] {
    return queue->poison(target.driver(), offset, size);
  });
}

Status Stream::copy(Buffer &target, uint64_t targetOffset, Buffer &source,
                    uint64_t sourceOffset, uint64_t size) {
  if (Status s = checkRange(target, targetOffset, size, "copy, target"))
    return s;
  if (Status s = checkRange(source, sourceOffset, size, "copy, source"))
    return s;
  if (Status s = requireWritable(target, "copy"))
    return s;
  if (size == 0)
    return Status::ok();
  uint64_t distance = targetOffset > sourceOffset ? targetOffset - sourceOffset
                                                  : sourceOffset - targetOffset;
  if (&target == &source && distance < size)
    return invalidArgument("copy: the ranges overlap");
  Lock lock(mutex);
  submit(target);
  target.written = true;
  source.noteUse(clock);
  return tracedTransfer("copy", size, [&] {
    return queue->copy(target.driver(), targetOffset, source.driver(),
                       sourceOffset, size);
  });
}

Status Stream::launch(DriverModule &module, uint32_t kernel,
                      const LaunchArgs &args, Buffer *const *touched,
                       size_t numTouched, const std::string &name,
                       const TraceArguments *arguments) {
  for (size_t i = 0; i < numTouched; ++i)
    if (args.buffers[i].written)
      if (Status s = requireWritable(*touched[i], "an operand is written"))
        return s;
  Lock lock(mutex);
  ++clock->submitted;
  for (size_t i = 0; i < numTouched; ++i)
    touched[i]->noteUse(clock);
  for (size_t i = 0; i < numTouched; ++i)
    if (args.buffers[i].written)
      touched[i]->written = true;
  return traced("kernel", name, arguments,
                [&] { return queue->launch(module, kernel, args); });
}

Status Stream::record(Event &event) {
  if (event.device() != owner)
    return ofTwoDevices("record: the event", *event.device(), "the stream", *owner);
  Lock lock(mutex);
  return queue->record(*event.driver);
}

Status Stream::waitFor(Event &event) {
  if (event.device() != owner)
    return ofTwoDevices("wait: the event", *event.device(), "the stream", *owner);
  Lock lock(mutex);
  return queue->waitFor(*event.driver);
}

Status Stream::flush() {
  Lock lock(mutex);
  return queue->flush();
}

Status Stream::checkLater(Buffer &source, uint64_t offset, LaterCheck check) {
  constexpr size_t most = 4096;
  Lock lock(mutex);
  if (checks.size() >= most)
    if (Status s = wait())
      return s;
  check.number = static_cast<int32_t>(check.messages.size());
  // Not yet one of `checks`: a trace may wait before it reads.
  std::list<LaterCheck> next;
  next.push_back(std::move(check));
  Status status = read(&next.back().number, source, offset, sizeof(int32_t));
  checks.splice(checks.end(), next);
  return status;
}

void Stream::forgetChecks(const void *call) {
  Lock lock(mutex);
  for (LaterCheck &check : checks)
    if (check.call == call)
      check.messages.clear();
}

void Stream::settleChecks() {
  for (const LaterCheck &check : checks)
    if (failedCheck.isOk() && check.number >= 0 &&
        size_t(check.number) < check.messages.size())
      failedCheck = programError(check.messages[check.number]).in(check.where);
  checks.clear();
}

Status Stream::takeFailedCheck() {
  Lock lock(mutex);
  return std::exchange(failedCheck, Status::ok());
}

Status Stream::synchronize(uint64_t timeout) {
  if (Status s = wait(timeout))
    return s;
  return takeFailedCheck();
}

Status Stream::wait(uint64_t timeout) {
  if (Status s = waitInTurn(timeout))
    return s;
  releaseAdopted();
  return Status::ok();
}

void Stream::releaseAdopted() { owner->memory.releaseAdopted(); }

Status Stream::waitInTurn(uint64_t timeout) {
  TraceSlice slice(*owner, "wait", "synchronize");
  // Whoever has the stream may be waiting too, perhaps for longer.
  std::unique_lock<std::recursive_timed_mutex> lock(mutex, std::defer_lock);
  uint64_t left = timeout;
  if (timeout == kForever) {
    lock.lock();
  } else if (!lock.try_lock()) {
    using Clock = std::chrono::steady_clock;
    // Longer than a century overflows the clock.
    constexpr uint64_t most = 100ull * 365 * 24 * 3600 * 1000000000ull;
    auto start = Clock::now();
    if (!lock.try_lock_for(std::chrono::nanoseconds(std::min(timeout, most)))) {
      if (Status s = owner->lost())
        return s;
      return owner->missedDeadline("its work did not finish", timeout);
    }
    left -= std::min<uint64_t>(
        left, static_cast<uint64_t>(
                  std::chrono::nanoseconds(Clock::now() - start).count()));
  }
  uint64_t reached = clock->submitted;
  if (Status s = queue->synchronize(left))
    return std::move(s).in(owner->info().name);
  clock->completed = reached;
  settleChecks();
  const Tracer *tracer = owner->tracer.load(std::memory_order_acquire);
  if (trace && tracer)
    ignoringErrors([&] {
      trace->report(*tracer);
      return Status::ok();
    });
  return Status::ok();
}

} // namespace tilewright::runtime
