// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DLPack tensors in and out: who owns what, when deleters are called, what is
// refused.
#include "api.h"

#include <atomic>
#include <cstring>
#include <thread>

namespace tilewright::cts {

namespace {

/// A producer's tensor in memory of a device that is opened twice over: what
/// another library would hand out. Counts the calls of its deleter.
struct Producer {
  InstanceHandle instance;
  DeviceHandle device;
  StreamHandle stream;
  BufferHandle memory; // 4096 bytes
  alignas(64) uint8_t host[4096] = {};
  int64_t shape[4] = {4, 8}, strides[4] = {8, 1};
  DLManagedTensorVersioned tensor = {};
  std::atomic<int> deleted{0};
  std::atomic<bool> deletedElsewhere{false};
  std::thread::id home = std::this_thread::get_id();

  Status open(Context &context) {
    if (Status s = take(tilewright_instance_create(nullptr, instance.out())))
      return s;
    if (Status s = take(tilewright_device_open(
            instance, context.name().c_str(), device.out())))
      return s;
    if (Status s = take(tilewright_stream_create(device, stream.out())))
      return s;
    tensor.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensorVersioned *self) {
      auto *producer = static_cast<Producer *>(self->manager_ctx);
      producer->deletedElsewhere = std::this_thread::get_id() != producer->home;
      ++producer->deleted;
    };
    DLTensor &t = tensor.dl_tensor;
    t.device = dlpackDevice(*device->object);
    t.ndim = 2;
    t.dtype = {kDLInt, 32, 1};
    t.shape = shape;
    t.strides = strides;
    if (t.device.device_type == kDLCPU) {
      t.data = host;
      return Status::ok();
    }
    if (Status s =
            take(tilewright_buffer_allocate(device, 4096, memory.out())))
      return s;
    t.data = reinterpret_cast<void *>(tilewright_buffer_address(memory));
    if (Status s = take(
            tilewright_buffer_fill(memory, stream, 0, 4096, 0, 4)))
      return s;
    return take(tilewright_stream_synchronize(stream, kForever));
  }
  tilewright_status *view(tilewright_view **out, int32_t dtype = 0) {
    return tilewright_view_from_dlpack_versioned(device, &tensor, dtype, out);
  }
  /// The first bytes of the memory.
  Status read(void *to, size_t size) {
    if (tensor.dl_tensor.device.device_type == kDLCPU) {
      std::memcpy(to, host, size);
      return Status::ok();
    }
    if (Status s =
            take(tilewright_buffer_read(memory, stream, 0, size, to)))
      return s;
    return take(tilewright_stream_synchronize(stream, kForever));
  }
};

#define TW_PRODUCER(NAME)                                                      \
  Producer NAME;                                                               \
  TW_OK(NAME.open(context))

void viewOfTensor(Context &context) {
  TW_PRODUCER(producer);
  ViewHandle view, other;
  TW_API_OK(producer.view(view.out()));
  TW_CHECK(tilewright_view_rank(view) == 2 &&
               tilewright_view_dims(view)[1] == 8 &&
               tilewright_view_dtype(view) == TW_I32 &&
               !tilewright_view_strides(view),
           "4x8xi32, dense");
  std::vector<int32_t> in(32, 7), out(32);
  TW_API_OK(
      tilewright_view_write(view, producer.stream, in.data(), 128));
  TW_API_OK(tilewright_stream_synchronize(producer.stream, kForever));
  TW_OK(producer.read(out.data(), 128));
  TW_CHECK(out == in, "written in place");
  // A second reference: the deleter waits for both.
  tilewright_view *second = view;
  tilewright_view_retain(second);
  view.reset();
  TW_CHECK(producer.deleted == 0, "still referenced");
  tilewright_view_release(second);
  TW_CHECK(producer.deleted == 1, std::to_string(producer.deleted));
}

/// Work in flight keeps the tensor, and the last wait lets it go.
void deleterAfterWork(Context &context) {
  TW_PRODUCER(producer);
  ViewHandle view;
  TW_API_OK(producer.view(view.out()));
  std::vector<int32_t> in(32, 3);
  TW_API_OK(tilewright_view_write(view, producer.stream, in.data(), 128));
  view.reset();
  TW_CHECK(producer.deleted == 0, "the write may not have happened yet");
  TW_API_OK(tilewright_stream_synchronize(producer.stream, kForever));
  TW_CHECK(producer.deleted == 1, std::to_string(producer.deleted));
}

void deleterFromThreads(Context &context) {
  TW_PRODUCER(producer);
  tilewright_view *view = nullptr;
  TW_API_OK(producer.view(&view));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    tilewright_view_retain(view);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { tilewright_view_release(view); });
  for (std::thread &thread : threads)
    thread.join();
  TW_CHECK(producer.deleted == 0, "one reference is left");
  std::thread([&] { tilewright_view_release(view); }).join();
  TW_CHECK(producer.deleted == 1 && producer.deletedElsewhere,
           "called once, by the thread that dropped the last reference");
}

/// A deleter may use the runtime, on the same device too.
void deleterCallsBack(Context &context) {
  TW_PRODUCER(producer);
  static tilewright_view *last;
  int64_t dims[] = {16};
  TW_API_OK(
      tilewright_view_allocate(producer.device, TW_F32, 1, dims, &last));
  producer.tensor.deleter = [](DLManagedTensorVersioned *self) {
    auto *producer = static_cast<Producer *>(self->manager_ctx);
    tilewright_view_release(last);
    tilewright_device_trim(producer->device);
    ++producer->deleted;
  };
  ViewHandle view;
  TW_API_OK(producer.view(view.out()));
  std::vector<int32_t> in(32, 3);
  TW_API_OK(tilewright_view_write(view, producer.stream, in.data(), 128));
  view.reset();
  TW_API_OK(tilewright_stream_synchronize(producer.stream, kForever));
  TW_CHECK(producer.deleted == 1, std::to_string(producer.deleted));
}

/// A view outlives the stream, the device handle and the instance handle.
void viewOutlivesHandles(Context &context) {
  TW_PRODUCER(producer);
  ViewHandle view;
  TW_API_OK(producer.view(view.out()));
  std::vector<int32_t> in(32, 9);
  TW_API_OK(tilewright_view_write(view, producer.stream, in.data(), 128));
  producer.stream.reset();
  producer.memory.reset();
  producer.device.reset();
  producer.instance.reset();
  view.reset();
  TW_CHECK(producer.deleted == 1, std::to_string(producer.deleted));
}

void oldForm(Context &context) {
  TW_PRODUCER(producer);
  DLManagedTensor old = {};
  old.dl_tensor = producer.tensor.dl_tensor;
  old.dl_tensor.strides = nullptr; // dense
  old.dl_tensor.byte_offset = 64;
  ViewHandle view;
  // No deleter at all is allowed.
  TW_API_OK(
      tilewright_view_from_dlpack(producer.device, &old, 0, view.out()));
  uint64_t native = 0, offset = 0;
  TW_API_OK(tilewright_view_native(view, &native, &offset));
  TW_CHECK(native == reinterpret_cast<uintptr_t>(old.dl_tensor.data) + 64 &&
               offset == 0,
           "byte_offset counts");
}

void stridesAndTypes(Context &context) {
  TW_PRODUCER(producer);
  ViewHandle view;
  DLTensor &t = producer.tensor.dl_tensor;
  producer.strides[0] = 16;
  TW_API_OK(producer.view(view.out()));
  TW_CHECK(tilewright_view_strides(view) &&
               tilewright_view_strides(view)[0] == 16,
           "a window");
  // Strides of dims of one element do not matter.
  producer.shape[0] = 1, producer.strides[0] = -99;
  TW_API_OK(producer.view(view.out()));
  TW_CHECK(!tilewright_view_strides(view), "dense");
  // Empty tensors lie nowhere.
  void *data = t.data;
  producer.shape[0] = 0, t.data = nullptr;
  TW_API_OK(producer.view(view.out()));
  TW_CHECK(tilewright_view_size(view) == 0, "empty");
  t.data = data;
  t.ndim = 0, t.shape = t.strides = nullptr;
  TW_API_OK(producer.view(view.out()));
  TW_CHECK(tilewright_view_rank(view) == 0, "a scalar");
  t.ndim = 2, t.shape = producer.shape, t.strides = producer.strides;
  producer.shape[0] = 4, producer.strides[0] = 8;
  const std::pair<DLDataType, int32_t> types[] = {
      {{kDLFloat, 64, 1}, TW_F64},       {{kDLFloat, 32, 1}, TW_F32},
      {{kDLFloat, 16, 1}, TW_F16},       {{kDLBfloat, 16, 1}, TW_BF16},
      {{kDLFloat8_e4m3fn, 8, 1}, TW_F8E4M3FN},
      {{kDLFloat8_e5m2, 8, 1}, TW_F8E5M2},
      {{kDLFloat8_e4m3fnuz, 8, 1}, TW_F8E4M3FNUZ},
      {{kDLFloat8_e5m2fnuz, 8, 1}, TW_F8E5M2FNUZ},
      {{kDLInt, 64, 1}, TW_I64},         {{kDLUInt, 64, 1}, TW_I64},
      {{kDLInt, 16, 1}, TW_I16},         {{kDLUInt, 8, 1}, TW_I8},
      {{kDLInt, 4, 1}, TW_I4},           {{kDLUInt, 4, 1}, TW_I4},
      {{kDLInt, 2, 1}, TW_I2},           {{kDLUInt, 2, 1}, TW_I2},
      {{kDLBool, 8, 1}, TW_I1}};
  for (const auto &[type, expected] : types) {
    t.dtype = type;
    TW_API_OK(producer.view(view.out()));
    TW_CHECK(tilewright_view_dtype(view) == expected,
             tilewright_dtype_name(expected));
  }
  t.dtype = {kDLUInt, 16, 1};
  TW_API_OK(producer.view(view.out(), TW_BF16));
  TW_CHECK(tilewright_view_dtype(view) == TW_BF16, "u16 seen as bf16");
}

void refuses(Context &context) {
  TW_PRODUCER(producer);
  ViewHandle view;
  DLTensor &t = producer.tensor.dl_tensor;
  const DLTensor good = t;
  constexpr auto invalid = StatusCode::InvalidArgument;
  constexpr auto unsupported = StatusCode::Unsupported;
  auto with = [&](auto change) {
    t = good;
    change(t);
    return take(producer.view(view.out()));
  };
  using T = DLTensor;
  TW_API_FAILS(producer.view(nullptr), invalid);
  TW_API_FAILS(tilewright_view_from_dlpack(producer.device, nullptr, 0,
                                           view.out()),
               invalid);
  TW_FAILS(with([](T &t) { t.device = {kDLROCM, 0}; }), invalid);
  TW_FAILS(with([](T &t) { t.device.device_id = 7; }), invalid);
  TW_FAILS(with([](T &t) { t.device = {kDLVulkan, 0}; }), invalid);
  TW_FAILS(with([](T &t) { t.dtype.lanes = 4; }), unsupported);
  TW_FAILS(with([](T &t) { t.dtype = {kDLComplex, 64, 1}; }), unsupported);
  TW_FAILS(with([](T &t) { t.dtype = {99, 200, 1}; }), unsupported);
  producer.tensor.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  TW_FAILS(with([](T &t) { t.dtype = {kDLInt, 4, 1}; }), unsupported);
  producer.tensor.flags = 0;
  TW_FAILS(with([](T &t) { t.ndim = -1; }), invalid);
  TW_FAILS(with([](T &t) { t.ndim = 1000; }), invalid);
  TW_FAILS(with([](T &t) { t.shape = nullptr; }), invalid);
  TW_FAILS(with([](T &t) { t.data = nullptr; }), invalid);
  TW_FAILS(with([](T &t) { t.byte_offset = 2; }), unsupported);
  TW_FAILS(with([](T &t) { t.byte_offset = UINT64_MAX - 3; }), invalid);
  int64_t shape[] = {-4, 8}, huge[] = {INT64_MAX, 8};
  int64_t negative[] = {-8, 1}, far[] = {INT64_MAX / 2, 1};
  TW_FAILS(with([&](T &t) { t.shape = shape; }), invalid);
  TW_FAILS(with([&](T &t) { t.shape = huge; }), invalid);
  TW_FAILS(with([&](T &t) { t.strides = negative; }), unsupported);
  TW_FAILS(with([&](T &t) { t.strides = far; }), invalid);
  t = good;
  TW_API_FAILS(producer.view(view.out(), TW_I64), invalid);
  TW_API_FAILS(producer.view(view.out(), 1234), invalid);
  producer.tensor.version.major = 9;
  TW_API_FAILS(producer.view(view.out()), unsupported);
  producer.tensor.version.major = DLPACK_MAJOR_VERSION;
  if (context.driver() == "cuda") {
    TW_FAILS(with([&](T &t) { t.data = &producer; }), invalid);
    TW_FAILS(with([&](T &t) { t.byte_offset = 1 << 30; }), invalid);
  }
  TW_CHECK(producer.deleted == 0, "what was refused stays the producer's");
}

void readOnly(Context &context) {
  TW_PRODUCER(producer);
  producer.tensor.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  ViewHandle view, target;
  TW_API_OK(producer.view(view.out()));
  TW_CHECK(tilewright_view_read_only(view), "says so");
  std::vector<int32_t> bytes(32);
  constexpr auto invalid = StatusCode::InvalidArgument;
  TW_API_FAILS(tilewright_view_write(view, producer.stream, bytes.data(), 128),
               invalid);
  TW_API_OK(tilewright_view_read(view, producer.stream, 128, bytes.data()));
  TW_API_OK(tilewright_stream_synchronize(producer.stream, kForever));
  auto *driver = producer.device->object.get();
  std::shared_ptr<Buffer> other;
  TW_OK(driver->allocate(128, nullptr, other));
  Stream &stream = *producer.stream->object;
  Buffer &theirs = *view->object->buffer;
  TW_FAILS(stream.fill(theirs, 0, 128, 1, 4), invalid);
  TW_FAILS(stream.copy(theirs, 0, *other, 0, 128), invalid);
  TW_OK(stream.copy(*other, 0, theirs, 0, 128));
  // A kernel that writes.
  Buffer *touched = &theirs;
  BufferBinding binding = {&theirs.driver(), 0, 128, true};
  LaunchArgs args;
  args.buffers = &binding;
  args.numBuffers = 1;
  std::unique_ptr<DriverModule> module;
  TW_OK(testModule(context, "increment").load(context, module));
  TW_FAILS(stream.launch(*module, 0, args, &touched, 1, "increment", nullptr),
           invalid);
  // It stays so on its way out; the old form cannot say it.
  DLManagedTensor *old = nullptr;
  DLManagedTensorVersioned *versioned = nullptr;
  TW_API_FAILS(tilewright_view_to_dlpack(view, &old), StatusCode::Unsupported);
  TW_API_OK(tilewright_view_to_dlpack_versioned(view, &versioned));
  uint64_t flags = versioned->flags;
  versioned->deleter(versioned);
  TW_CHECK(flags & DLPACK_FLAG_BITMASK_READ_ONLY, "the flag is kept");
  TW_OK(stream.synchronize(kForever));
}

/// A tensor of ours keeps the memory alive, says where it is, and comes back as
/// the view that it was; on every driver.
void roundTrip(Context &context) {
  InstanceHandle instance;
  DeviceHandle device, twin;
  StreamHandle stream;
  ViewHandle view, back;
  TW_API_OK(tilewright_instance_create(nullptr, instance.out()));
  TW_API_OK(tilewright_device_open(instance, context.name().c_str(),
                                   device.out()));
  TW_API_OK(
      tilewright_device_open(instance, context.name().c_str(), twin.out()));
  TW_API_OK(tilewright_stream_create(device, stream.out()));
  int64_t dims[] = {3, 5};
  TW_API_OK(tilewright_view_allocate(device, TW_F32, 2, dims, view.out()));
  std::vector<float> in(15), out(15);
  for (int i = 0; i < 15; ++i)
    in[i] = float(i);
  TW_API_OK(tilewright_view_write(view, stream, in.data(), 60));
  DLManagedTensorVersioned *tensor = nullptr;
  TW_API_OK(tilewright_view_to_dlpack_versioned(view, &tensor));
  view.reset();
  const DLTensor &t = tensor->dl_tensor;
  int32_t type = 0, number = -1;
  TW_API_OK(tilewright_device_dlpack(device, &type, &number));
  TW_CHECK(t.device.device_type == type && t.device.device_id == number &&
               t.ndim == 2 && t.shape[1] == 5 && t.strides[0] == 5 &&
               t.strides[1] == 1 && t.dtype.code == kDLFloat &&
               t.dtype.bits == 32 && t.dtype.lanes == 1 && t.data,
           "3x5xf32");
  TW_CHECK(context.driver() != "cpu" ||
               static_cast<float *>(t.data)[14] == 14 ||
               !take(tilewright_stream_synchronize(stream, kForever)).isOk() ||
               static_cast<float *>(t.data)[14] == 14,
           "its elements are there");
  // Another device over the same hardware is another.
  TW_API_FAILS(
      tilewright_view_from_dlpack_versioned(twin, tensor, 0, back.out()),
      StatusCode::InvalidArgument);
  TW_API_FAILS(
      tilewright_view_from_dlpack_versioned(device, tensor, TW_F64, back.out()),
      StatusCode::InvalidArgument);
  TW_API_OK(
      tilewright_view_from_dlpack_versioned(device, tensor, 0, back.out()));
  TW_API_OK(tilewright_view_read(back, stream, 60, out.data()));
  TW_API_OK(tilewright_stream_synchronize(stream, kForever));
  TW_CHECK(out == in, "the same elements");
}

/// The consumer's deleter may be the last thing that holds the device.
void exportOutlives(Context &context) {
  DLManagedTensor *tensor = nullptr;
  {
    InstanceHandle instance;
    DeviceHandle device;
    ViewHandle view;
    TW_API_OK(tilewright_instance_create(nullptr, instance.out()));
    TW_API_OK(tilewright_device_open(instance, context.name().c_str(),
                                     device.out()));
    int64_t dims[] = {1};
    TW_API_OK(
        tilewright_view_allocate(device, TW_INDEX, 1, dims, view.out()));
    TW_API_OK(tilewright_view_to_dlpack(view, &tensor));
  }
  TW_CHECK(tensor->dl_tensor.dtype.code == kDLInt &&
               tensor->dl_tensor.dtype.bits == 64,
           "index is int64");
  std::thread([&] { tensor->deleter(tensor); }).join();
}

} // namespace

std::vector<Case> dlpackCases() {
  // Memory by address; for a VkBuffer see adopt.vulkan_dlpack.
  constexpr unsigned kinds = OnCpu | OnCuda;
  return {{"dlpack.view_of_tensor", viewOfTensor, false, kinds},
          {"dlpack.deleter_after_work", deleterAfterWork, false, kinds},
          {"dlpack.deleter_from_threads", deleterFromThreads, false, kinds},
          {"dlpack.deleter_calls_back", deleterCallsBack, false, kinds},
          {"dlpack.view_outlives_handles", viewOutlivesHandles, false, kinds},
          {"dlpack.form_without_version", oldForm, false, kinds},
          {"dlpack.strides_and_types", stridesAndTypes, false, kinds},
          {"dlpack.refuses", refuses, false, kinds},
          {"dlpack.read_only", readOnly, false, kinds},
          {"dlpack.round_trip", roundTrip},
          {"dlpack.export_outlives", exportOutlives}};
}

} // namespace tilewright::cts
