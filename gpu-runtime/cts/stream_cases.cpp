// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order within and between streams, events and their times, two devices.
#include "kernels.h"

#include <chrono>
#include <thread>

namespace tilewright::cts {

/// What `count` launches of increment with k = 0, 1, … make of `start`.
static uint32_t incremented(uint32_t start, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k)
    start = start * 3 + k;
  return start;
}

static Status incrementMany(DriverStream &stream, DriverModule &module,
                            DriverBuffer &buffer, uint32_t first,
                            uint32_t count) {
  for (uint32_t k = first; k < first + count; ++k)
    if (Status s = Arguments()
                       .write(buffer)
                       .i32(static_cast<int32_t>(k))
                       .launch(stream, module, {1, 1, 1}))
      return s;
  return Status::ok();
}

static void order(Context &context) {
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> a, b;
  std::unique_ptr<DriverModule> module;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(256, a));
  TW_OK(context.device().allocate(256, b));
  TW_OK(testModule(context, "increment").load(context, module));
  std::vector<uint32_t> out(64);
  // Independent and dependent commands, interleaved.
  TW_OK(stream->fill(*a, 0, 256, 7, 4));
  TW_OK(stream->fill(*b, 0, 256, 9, 4));
  TW_OK(incrementMany(*stream, *module, *a, 0, 150));
  TW_OK(incrementMany(*stream, *module, *b, 0, 50));
  TW_OK(stream->copy(*b, 0, *a, 0, 128));
  TW_OK(incrementMany(*stream, *module, *b, 50, 10));
  TW_OK(stream->read(out.data(), *b, 0, 256));
  TW_OK(stream->synchronize(kForever));
  uint32_t low = incremented(7, 150), high = incremented(9, 50);
  for (uint32_t k = 50; k < 60; ++k)
    low = low * 3 + k, high = high * 3 + k;
  TW_CHECK(out[0] == low && out[31] == low, std::to_string(out[0]));
  TW_CHECK(out[32] == high && out[63] == high, std::to_string(out[63]));
}

static void events(Context &context) {
  std::unique_ptr<DriverStream> first, second;
  std::unique_ptr<DriverBuffer> buffer;
  std::unique_ptr<DriverModule> module;
  std::unique_ptr<DriverEvent> there, back;
  DriverDevice &device = context.device();
  TW_OK(device.createStream(first));
  TW_OK(device.createStream(second));
  TW_OK(device.allocate(256, buffer));
  TW_OK(testModule(context, "increment").load(context, module));
  TW_OK(device.createEvent(false, there));
  TW_OK(device.createEvent(false, back));
  TW_OK(first->fill(*buffer, 0, 256, 1, 4));
  // Two streams take turns on one buffer.
  for (uint32_t round = 0; round < 20; ++round) {
    TW_OK(incrementMany(*first, *module, *buffer, 6 * round, 3));
    TW_OK(first->record(*there));
    TW_OK(second->waitFor(*there));
    TW_OK(incrementMany(*second, *module, *buffer, 6 * round + 3, 3));
    TW_OK(second->record(*back));
    TW_OK(first->waitFor(*back));
  }
  std::vector<uint32_t> out(64);
  TW_OK(first->read(out.data(), *buffer, 0, 256));
  TW_OK(first->synchronize(kForever));
  TW_CHECK(out[0] == incremented(1, 120) && out[63] == out[0],
           std::to_string(out[0]));
  bool done = false;
  TW_OK(back->query(done));
  TW_CHECK(done, "an event that was waited for is reached");
}

static void eventStates(Context &context) {
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverEvent> event;
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().createEvent(false, event));
  bool done = false;
  TW_OK(event->query(done));
  TW_CHECK(done, "an event never recorded counts as reached");
  TW_OK(event->wait(kForever));
  TW_OK(stream->waitFor(*event));
  TW_OK(context.device().allocate(1 << 20, buffer));
  for (int round = 0; round < 3; ++round) {
    TW_OK(stream->fill(*buffer, 0, 1 << 20, 3, 4));
    TW_OK(stream->record(*event));
    TW_OK(event->wait(kForever));
    done = false;
    TW_OK(event->query(done));
    TW_CHECK(done, "an event is reached after wait");
  }
  TW_OK(stream->flush());
  // Nothing is left to wait for: no time is needed.
  TW_OK(stream->synchronize(kForever));
  TW_OK(stream->synchronize(0));
}

static void timing(Context &context) {
  if (context.driver() == "vulkan" && context.fact("timestamps") == 0)
    return context.skip("no timestamps");
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  std::unique_ptr<DriverModule> module;
  std::unique_ptr<DriverEvent> start, middle, end;
  DriverDevice &device = context.device();
  TW_OK(device.createStream(stream));
  TW_OK(device.allocate(256, buffer));
  TW_OK(testModule(context, "increment").load(context, module));
  TW_OK(device.createEvent(true, start));
  TW_OK(device.createEvent(true, middle));
  TW_OK(device.createEvent(true, end));
  TW_OK(incrementMany(*stream, *module, *buffer, 0, 1));
  TW_OK(stream->synchronize(kForever));
  auto begin = std::chrono::steady_clock::now();
  TW_OK(stream->record(*start));
  TW_OK(incrementMany(*stream, *module, *buffer, 0, 20));
  TW_OK(stream->record(*middle));
  TW_OK(incrementMany(*stream, *module, *buffer, 0, 400));
  TW_OK(stream->record(*end));
  TW_OK(end->wait(kForever));
  auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(
                  std::chrono::steady_clock::now() - begin)
                  .count();
  uint64_t part = 0, whole = 0;
  TW_OK(middle->elapsedSince(*start, part));
  TW_OK(end->elapsedSince(*start, whole));
  std::string numbers = std::to_string(part) + " of " + std::to_string(whole) +
                        " ns, " + std::to_string(wall) + " on the host";
  TW_CHECK(part > 0 && part <= whole, numbers);
  TW_CHECK(whole <= static_cast<uint64_t>(wall) + 2000000, numbers);

  // An event right behind work that is on its way already, or done.
  for (bool done : {false, true}) {
    TW_OK(stream->record(*start));
    TW_OK(incrementMany(*stream, *module, *buffer, 0, 20));
    TW_OK(stream->flush());
    if (done) {
      TW_OK(stream->record(*middle));
      TW_OK(middle->wait(kForever));
      TW_OK(incrementMany(*stream, *module, *buffer, 0, 20));
      TW_OK(stream->flush());
    }
    TW_OK(stream->record(*end));
    TW_OK(end->wait(kForever));
    TW_OK(end->elapsedSince(*start, whole));
    TW_CHECK(whole > 0, "time passed");
  }
}

static void reversedTiming(Context &context) {
  if (context.driver() == "vulkan" && context.fact("timestamps") == 0)
    return context.skip("no timestamps");
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  std::unique_ptr<DriverEvent> start, end, never;
  DriverDevice &device = context.device();
  TW_OK(device.createStream(stream));
  TW_OK(device.allocate(1 << 20, buffer));
  for (std::unique_ptr<DriverEvent> *event : {&start, &end, &never})
    TW_OK(device.createEvent(true, *event));
  TW_OK(stream->record(*start));
  TW_OK(stream->fill(*buffer, 0, 1 << 20, 3, 4));
  TW_OK(stream->record(*end));
  TW_OK(stream->synchronize(kForever));
  uint64_t time = 0;
  TW_OK(end->elapsedSince(*start, time));
  TW_FAILS(start->elapsedSince(*end, time), StatusCode::InvalidArgument);
  TW_FAILS(never->elapsedSince(*start, time), StatusCode::InvalidArgument);
  TW_FAILS(end->elapsedSince(*never, time), StatusCode::InvalidArgument);
}

static void twoDevices(Context &context) {
  std::shared_ptr<Device> other;
  TW_OK(context.reopen(other));
  DriverDevice *devices[] = {&context.device(), &other->driver()};
  std::unique_ptr<DriverStream> streams[2];
  std::unique_ptr<DriverBuffer> buffers[2];
  std::unique_ptr<DriverModule> modules[2];
  for (int i = 0; i < 2; ++i) {
    TW_OK(devices[i]->createStream(streams[i]));
    TW_OK(devices[i]->allocate(256, buffers[i]));
    TW_OK(devices[i]->loadModule(testModule(context, "increment").desc,
                                 modules[i]));
    TW_OK(streams[i]->fill(*buffers[i], 0, 256, 1 + i, 4));
  }
  for (uint32_t k = 0; k < 30; ++k)
    for (int i = 0; i < 2; ++i)
      TW_OK(incrementMany(*streams[i], *modules[i], *buffers[i], k, 1));
  for (int i = 0; i < 2; ++i) {
    std::vector<uint32_t> out(64);
    TW_OK(streams[i]->read(out.data(), *buffers[i], 0, 256));
    TW_OK(streams[i]->synchronize(kForever));
    TW_CHECK(out[5] == incremented(1 + i, 30), "device " + std::to_string(i));
  }
}

std::vector<Case> streamCases() {
  return {{"stream.order", order},
          {"stream.events_between_streams", events},
          {"stream.event_states", eventStates},
          {"stream.timing", timing},
          {"stream.reversed_timing", reversedTiming},
          {"stream.two_devices", twoDevices}};
}

} // namespace tilewright::cts
