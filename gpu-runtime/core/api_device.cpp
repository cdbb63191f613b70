// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C API: status, instance, devices, streams, events.

#include "core/api_handles.h"

using namespace tilewright::runtime;

static_assert(int(StatusCode::Internal) == TILEWRIGHT_INTERNAL &&
                  int(StatusCode::DeviceLost) == TILEWRIGHT_DEVICE_LOST &&
                  int(StatusCode::CorruptArtifact) ==
                      TILEWRIGHT_CORRUPT_ARTIFACT,
              "StatusCode and tilewright_status_code_t are one list");

const char *tilewright_version(void) { return TILEWRIGHT_VERSION; }

//===----------------------------------------------------------------------===//
// Status
//===----------------------------------------------------------------------===//

tilewright_status *tilewright::runtime::toApi(Status status) noexcept {
  if (status.isOk())
    return nullptr;
  static tilewright_status noMemory{
      Status(StatusCode::OutOfMemory, "no host memory"), true};
  auto *result = new (std::nothrow) tilewright_status{std::move(status), false};
  return result ? result : &noMemory;
}

tilewright_status_code_t
tilewright_status_code(const tilewright_status *status) {
  return status ? static_cast<tilewright_status_code_t>(status->status.code())
                : TILEWRIGHT_OK;
}

const char *tilewright_status_message(const tilewright_status *status) {
  return status ? status->status.message().c_str() : "";
}

void tilewright_status_release(tilewright_status *status) {
  if (status && !status->isStatic)
    delete status;
}

//===----------------------------------------------------------------------===//
// Instance and devices
//===----------------------------------------------------------------------===//

tilewright_status *
tilewright_instance_create(const tilewright_instance_options *options,
                           tilewright_instance **instance) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(instance);
    InstanceOptions chosen;
    auto text = [](const char *value) {
      return std::string(value ? value : "");
    };
    if (options)
      chosen = {text(options->cuda_library), text(options->vulkan_library),
                text(options->ptxsim_library)};
    *instance = new tilewright_instance(std::make_shared<Instance>(chosen));
    return Status::ok();
  });
}
void tilewright_instance_retain(tilewright_instance *instance) {
  retainHandle(instance);
}
void tilewright_instance_release(tilewright_instance *instance) {
  releaseHandle(instance);
}

tilewright_status *tilewright_instance_devices(tilewright_instance *instance,
                                               size_t capacity,
                                               tilewright_device_info *infos,
                                               size_t *count) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(instance);
    TILEWRIGHT_REQUIRE(count);
    TILEWRIGHT_REQUIRE_ARRAY(infos, capacity);
    std::lock_guard<std::mutex> lock(instance->mutex);
    // Listed once, so that the strings stay where they are.
    if (instance->devices.empty())
      instance->devices = instance->object->devices();
    *count = instance->devices.size();
    for (size_t i = 0; i < capacity && i < *count; ++i) {
      const DeviceInfo &info = instance->devices[i];
      infos[i] = {info.name.c_str(), info.description.c_str(), info.available,
                  info.reason.c_str(), info.target.c_str(), info.automatic,
                  info.uuid.c_str()};
    }
    return Status::ok();
  });
}

tilewright_status *tilewright_device_open(tilewright_instance *instance,
                                          const char *name,
                                          tilewright_device **device) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(instance);
    TILEWRIGHT_REQUIRE(name);
    TILEWRIGHT_REQUIRE(device);
    std::shared_ptr<Device> opened;
    if (Status s = instance->object->open(name, opened))
      return s;
    *device = new tilewright_device(std::move(opened));
    return Status::ok();
  });
}
tilewright_status *tilewright_device_adopt_cuda(tilewright_instance *instance,
                                                const char *driver,
                                                void *context,
                                                tilewright_device **device) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(instance);
    TILEWRIGHT_REQUIRE(driver);
    TILEWRIGHT_REQUIRE(context);
    TILEWRIGHT_REQUIRE(device);
    std::shared_ptr<Device> opened;
    auto adopt = [&](Driver &with, DeviceInfo &info,
                     std::unique_ptr<DriverDevice> &result) {
      return with.adoptContext(context, info, result);
    };
    if (Status s = instance->object->adopt(driver, adopt, opened))
      return s;
    *device = new tilewright_device(std::move(opened));
    return Status::ok();
  });
}

tilewright_status *
tilewright_device_adopt_vulkan(tilewright_instance *instance,
                               const tilewright_vulkan_device *theirs,
                               tilewright_device **device) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(instance);
    TILEWRIGHT_REQUIRE(theirs);
    TILEWRIGHT_REQUIRE(device);
    std::shared_ptr<Device> opened;
    auto adopt = [&](Driver &with, DeviceInfo &info,
                     std::unique_ptr<DriverDevice> &result) {
      return with.adoptVulkan(*theirs, info, result);
    };
    if (Status s = instance->object->adopt("vulkan", adopt, opened))
      return s;
    *device = new tilewright_device(std::move(opened));
    return Status::ok();
  });
}

void tilewright_device_retain(tilewright_device *device) {
  retainHandle(device);
}
void tilewright_device_release(tilewright_device *device) {
  releaseHandle(device);
}
const char *tilewright_device_name(tilewright_device *device) {
  return device ? device->object->info().name.c_str() : "";
}
const char *tilewright_device_description(tilewright_device *device) {
  return device ? device->object->info().description.c_str() : "";
}
int64_t tilewright_device_fact(tilewright_device *device, const char *key) {
  return device && key ? device->object->fact(key) : 0;
}
void tilewright_device_trim(tilewright_device *device) {
  if (device)
    device->object->trim();
}
void tilewright_device_set_timeout(tilewright_device *device,
                                   uint64_t nanoseconds) {
  if (device)
    device->object->setTimeout(nanoseconds);
}
void tilewright_device_set_poison(tilewright_device *device, int32_t on) {
  if (device)
    device->object->poison = on != 0;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

tilewright_status *tilewright_stream_create(tilewright_device *device,
                                            tilewright_stream **stream) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(device);
    TILEWRIGHT_REQUIRE(stream);
    std::shared_ptr<Stream> created;
    if (Status s = device->object->createStream(created))
      return s;
    *stream = new tilewright_stream(std::move(created));
    return Status::ok();
  });
}
tilewright_status *tilewright_stream_import(tilewright_device *device,
                                            uint64_t native,
                                            tilewright_stream **stream) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(device);
    TILEWRIGHT_REQUIRE(stream);
    std::shared_ptr<Stream> created;
    if (Status s = device->object->importStream(native, created))
      return s;
    *stream = new tilewright_stream(std::move(created));
    return Status::ok();
  });
}
tilewright_status *tilewright_stream_native(tilewright_stream *stream,
                                            uint64_t *native) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(stream);
    TILEWRIGHT_REQUIRE(native);
    return stream->object->native(*native).in(
        stream->object->device()->info().name);
  });
}
tilewright_status *tilewright_stream_flush(tilewright_stream *stream) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(stream);
    return stream->object->flush();
  });
}
void tilewright_stream_retain(tilewright_stream *stream) {
  retainHandle(stream);
}
void tilewright_stream_release(tilewright_stream *stream) {
  releaseHandle(stream);
}
void tilewright_stream_set_timeout(tilewright_stream *stream,
                                   uint64_t nanoseconds) {
  if (stream)
    stream->object->setTimeout(nanoseconds);
}
tilewright_status *tilewright_stream_synchronize(tilewright_stream *stream,
                                                 uint64_t timeout_nanoseconds) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(stream);
    return stream->object->synchronize(timeout_nanoseconds);
  });
}
tilewright_status *tilewright_stream_wait_event(tilewright_stream *stream,
                                                tilewright_event *event) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(stream);
    TILEWRIGHT_REQUIRE(event);
    return stream->object->waitFor(*event->object);
  });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

tilewright_status *tilewright_event_create(tilewright_device *device,
                                           int32_t timing,
                                           tilewright_event **event) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(device);
    TILEWRIGHT_REQUIRE(event);
    std::shared_ptr<Event> created;
    if (Status s = device->object->createEvent(timing != 0, created))
      return s;
    *event = new tilewright_event(std::move(created));
    return Status::ok();
  });
}
void tilewright_event_retain(tilewright_event *event) { retainHandle(event); }
void tilewright_event_release(tilewright_event *event) { releaseHandle(event); }
tilewright_status *tilewright_event_record(tilewright_event *event,
                                           tilewright_stream *stream) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(event);
    TILEWRIGHT_REQUIRE(stream);
    return stream->object->record(*event->object);
  });
}
tilewright_status *tilewright_event_query(tilewright_event *event,
                                          int32_t *done) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(event);
    TILEWRIGHT_REQUIRE(done);
    bool reached = false;
    if (Status s = event->object->query(reached))
      return s;
    *done = reached;
    return Status::ok();
  });
}
tilewright_status *tilewright_event_wait(tilewright_event *event,
                                         uint64_t timeout_nanoseconds) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(event);
    return event->object->wait(timeout_nanoseconds);
  });
}
tilewright_status *tilewright_event_elapsed(tilewright_event *start,
                                            tilewright_event *end,
                                            uint64_t *nanoseconds) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(start);
    TILEWRIGHT_REQUIRE(end);
    TILEWRIGHT_REQUIRE(nanoseconds);
    if (start->object->device() != end->object->device())
      return ofTwoDevices("the end", *end->object->device(), "the start", *start->object->device());
    if (!start->object->timing || !end->object->timing)
      return invalidArgument("expected events created with timing");
    return end->object->elapsedSince(*start->object, *nanoseconds);
  });
}
