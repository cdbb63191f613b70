// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices, buffers and events; see device.h.

#include "core/device.h"

#include "core/checked.h"
#include "core/constant_cache.h"
#include "core/number_text.h"

#include <algorithm>
#include <utility>

namespace tilewright::runtime {

Status ofTwoDevices(const std::string &what, const Device &its, const char *other,
                    const Device &others) {
  const std::string &name = its.info().name, &second = others.info().name;
  return invalidArgument(what + " belongs to " + name + ", " + other + " to " + second +
                         (name == second ? "; these are two devices of one name, opened apart"
                                         : ""));
}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

Device::Device(std::shared_ptr<void> owner, DeviceInfo info,
               std::string driverName, std::unique_ptr<DriverDevice> driver)
    : owner(std::move(owner)), deviceInfo(std::move(info)),
      nameOfDriver(std::move(driverName)), driverDevice(std::move(driver)),
      constantCache(std::make_unique<ConstantCache>()), memory(*driverDevice) {}

Device::~Device() {
  if (isLost())
    memory.abandonAdopted();
}

bool Device::isLost() const noexcept {
  try {
    return bool(lost());
  } catch (const std::bad_alloc &) {
    return true; // only that has words
  }
}

Status Device::lost() const {
  if (Status s = driverDevice->lost())
    return std::move(s).in(deviceInfo.name);
  return Status::ok();
}

void Device::setTimeout(uint64_t timeout) {
  std::lock_guard<std::mutex> lock(mutex);
  timeoutNs = timeout;
  for (const std::weak_ptr<Stream> &weak : streams)
    if (std::shared_ptr<Stream> stream = weak.lock())
      if (!stream->hasOwnTimeout)
        stream->queue->timeoutNs = timeout;
}

Status Device::missedDeadline(const std::string &what, uint64_t timeout) {
  return loseByDeadline(*driverDevice,
                        [&] {
                          return what + " within " +
                                 numberText(static_cast<double>(timeout) * 1e-9) + " s";
                        })
      .in(deviceInfo.name);
}

Status Device::allocate(uint64_t size, Stream *stream,
                        std::shared_ptr<Buffer> &result) {
  if (Status s = lost())
    return s;
  const StreamClock *clock = stream ? stream->clockIdentity() : nullptr;
  BlockNode block;
  Status status = memory.allocate(size, clock, block);
  if (status.code() == StatusCode::OutOfMemory) {
    std::vector<std::shared_ptr<Stream>> live;
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (const std::weak_ptr<Stream> &weak : streams)
        if (std::shared_ptr<Stream> strong = weak.lock())
          live.push_back(std::move(strong));
    }
    // Two threads may be here at once, each inside a call on its own stream:
    // only try for the others.
    for (const std::shared_ptr<Stream> &other : live) {
      std::unique_lock<std::recursive_timed_mutex> lock(other->mutex,
                                                        std::try_to_lock);
      if (lock)
        if (Status s = other->wait())
          return s;
    }
    memory.trim();
    status = memory.allocate(size, clock, block);
  }
  if (status.isOk())
    status = stream ? stream->beginUse(*block.mapped().memory, size)
                    : driverDevice->beginUse(*block.mapped().memory, size);
  if (status)
    return std::move(status).in(deviceInfo.name);
  result = std::make_shared<Buffer>(shared_from_this(), std::move(block), size,
                                    /*imported=*/false);
  return Status::ok();
}

Status Device::importBuffer(uint64_t native, uint64_t size, bool readOnly,
                            std::shared_ptr<Buffer> &result) {
  if (native == 0 || size == 0)
    return invalidArgument("cannot adopt memory at null or of 0 bytes");
  if (native + size < native)
    return invalidArgument("cannot adopt " + std::to_string(size) +
                           " bytes: they reach beyond the last address");
  if (Status s = lost())
    return s;
  BlockNode block = Allocator::newBlock();
  if (Status s = driverDevice->checkImport(native, size))
    return std::move(s).in(deviceInfo.name);
  if (Status s =
          driverDevice->importBuffer(native, size, block.mapped().memory))
    return std::move(s).in(deviceInfo.name);
  result = std::make_shared<Buffer>(shared_from_this(), std::move(block), size,
                                    /*imported=*/true, readOnly);
  return Status::ok();
}

Status Device::createStream(std::shared_ptr<Stream> &result) {
  if (Status s = lost())
    return s;
  std::unique_ptr<DriverStream> queue;
  if (Status s = driverDevice->createStream(queue))
    return std::move(s).in(deviceInfo.name);
  result = adoptQueue(std::move(queue));
  return Status::ok();
}

std::shared_ptr<Stream>
Device::adoptQueue(std::unique_ptr<DriverStream> queue) {
  auto stream = std::make_shared<Stream>(shared_from_this(), std::move(queue));
  std::lock_guard<std::mutex> lock(mutex);
  streams.erase(std::remove_if(streams.begin(), streams.end(),
                               [](const auto &weak) { return weak.expired(); }),
                streams.end());
  stream->queue->timeoutNs = timeoutNs;
  streams.push_back(stream);
  return stream;
}

Status Device::importStream(uint64_t native, std::shared_ptr<Stream> &result) {
  if (Status s = lost())
    return s;
  std::unique_ptr<DriverStream> queue;
  if (Status s = driverDevice->importStream(native, queue))
    return std::move(s).in(deviceInfo.name);
  result = adoptQueue(std::move(queue));
  return Status::ok();
}

Status Device::createEvent(bool timing, std::shared_ptr<Event> &result) {
  if (Status s = lost())
    return s;
  std::unique_ptr<DriverEvent> event;
  if (Status s = driverDevice->createEvent(timing, event))
    return std::move(s).in(deviceInfo.name);
  result =
      std::make_shared<Event>(shared_from_this(), std::move(event), timing);
  return Status::ok();
}

void Device::setTracer(tilewright_trace_function function, void *user) {
  std::lock_guard<std::mutex> lock(mutex);
  if (function)
    tracers.push_back(std::make_unique<const Tracer>(Tracer{function, user}));
  tracer = function ? tracers.back().get() : nullptr;
}

//===----------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------===//

Buffer::~Buffer() {
  owner->memory.give(std::move(block), !imported);
}

void Buffer::noteUse(const std::shared_ptr<StreamClock> &clock) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t ticket = clock->submitted;
  std::vector<MemoryUse> &uses = block.mapped().uses;
  for (MemoryUse &use : uses)
    if (use.clock == clock) {
      use.ticket = ticket;
      return;
    }
  // Forget streams that have finished, so that the list stays short.
  uses.erase(std::remove_if(uses.begin(), uses.end(),
                            [](const MemoryUse &use) {
                              return use.clock->completed >= use.ticket;
                            }),
             uses.end());
  uses.push_back({clock, ticket});
}

//===----------------------------------------------------------------------===//
// Event
//===----------------------------------------------------------------------===//

Status Event::query(bool &done) {
  if (Status s = driver->query(done))
    return std::move(s).in(owner->info().name);
  return Status::ok();
}

Status Event::wait(uint64_t timeout) {
  if (Status s = driver->wait(timeout))
    return std::move(s).in(owner->info().name);
  return Status::ok();
}

Status Event::elapsedSince(Event &start, uint64_t &nanoseconds) {
  if (Status s = owner->lost())
    return s;
  return driver->elapsedSince(*start.driver, nanoseconds);
}

} // namespace tilewright::runtime
