// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C API: views from DLPack tensors and back, in the form with a version and the
// older one without.

#include "core/api_handles.h"
#include "core/dlpack.h"

using namespace tilewright::runtime;

namespace {

/// A tensor of ours, with what it points to.
template <typename Managed> struct Exported {
  Managed tensor = {};
  View view;
  std::vector<int64_t> dims, strides;
};

template <typename Managed> void deleteExported(Managed *tensor) {
  delete static_cast<Exported<Managed> *>(tensor->manager_ctx);
}

/// Calls the deleter once it has a tensor.
template <typename Managed> struct Taken {
  Managed *tensor = nullptr;
  ~Taken() {
    if (tensor && tensor->deleter)
      tensor->deleter(tensor);
  }
};

uint64_t flagsOf(const DLManagedTensor &) { return 0; }
uint64_t flagsOf(const DLManagedTensorVersioned &tensor) {
  return tensor.flags;
}

/// A tensor that this library made is its view again: accesses are then ordered
/// and checked as for any other view of that buffer.
Status viewOfOwn(Device &device, const View &own, int32_t dtype, View &view) {
  if (own.buffer->device().get() != &device)
    return invalidArgument("the tensor is a view on " +
                           own.buffer->device()->info().name +
                           ", opened by itself; this device is another");
  if (dtype && dtype != own.dtype &&
      (dtypeBytes(static_cast<tw_dtype>(dtype)) != dtypeBytes(own.dtype) ||
       dtypeBits(static_cast<tw_dtype>(dtype)) != dtypeBits(own.dtype)))
    return invalidArgument("a tensor " + own.text() + " cannot be seen as " +
                           dtypeName(dtype) + ", which has another size");
  view = own;
  if (dtype)
    view.dtype = static_cast<tw_dtype>(dtype);
  return Status::ok();
}

template <typename Managed>
Status takeTensor(Device &device, Managed *tensor, int32_t dtype,
                  tilewright_view **result) {
  View view;
  bool isOwn = tensor->deleter == &deleteExported<Managed>;
  if (isOwn) {
    auto *own = static_cast<Exported<Managed> *>(tensor->manager_ctx);
    if (Status s = viewOfOwn(device, own->view, dtype, view))
      return std::move(s).in("DLPack tensor");
  } else if (Status s = viewOfDlpack(device, tensor->dl_tensor,
                                     flagsOf(*tensor), dtype, view)) {
    return std::move(s).in("DLPack tensor");
  }
  // What may throw comes before the tensor is taken.
  auto taken = std::make_shared<Taken<Managed>>();
  if (!isOwn)
    view.buffer->keepAlive(taken);
  *result =
      new tilewright_view(std::make_shared<const View>(std::move(view)));
  taken->tensor = tensor;
  return Status::ok();
}

template <typename Managed>
Status makeTensor(const View &view, std::unique_ptr<Exported<Managed>> &made,
                  uint64_t &flags) {
  made = std::make_unique<Exported<Managed>>();
  made->view = view;
  if (Status s = describeAsDlpack(view, made->dims, made->strides,
                                  made->tensor.dl_tensor, flags))
    return s;
  made->tensor.manager_ctx = made.get();
  made->tensor.deleter = &deleteExported<Managed>;
  return Status::ok();
}

} // namespace

tilewright_status *tilewright_view_from_dlpack(tilewright_device *device,
                                               DLManagedTensor *tensor,
                                               int32_t dtype,
                                               tilewright_view **view) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(device);
    TILEWRIGHT_REQUIRE(tensor);
    TILEWRIGHT_REQUIRE(view);
    return takeTensor(*device->object, tensor, dtype, view);
  });
}

tilewright_status *
tilewright_view_from_dlpack_versioned(tilewright_device *device,
                                      DLManagedTensorVersioned *tensor,
                                      int32_t dtype, tilewright_view **view) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(device);
    TILEWRIGHT_REQUIRE(tensor);
    TILEWRIGHT_REQUIRE(view);
    if (tensor->version.major != DLPACK_MAJOR_VERSION)
      return unsupported("DLPack tensor of version " +
                         std::to_string(tensor->version.major) + "." +
                         std::to_string(tensor->version.minor) +
                         "; this runtime reads version " +
                         std::to_string(DLPACK_MAJOR_VERSION));
    return takeTensor(*device->object, tensor, dtype, view);
  });
}

tilewright_status *tilewright_view_to_dlpack(tilewright_view *view,
                                             DLManagedTensor **tensor) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(view);
    TILEWRIGHT_REQUIRE(tensor);
    std::unique_ptr<Exported<DLManagedTensor>> made;
    uint64_t flags = 0;
    if (Status s = makeTensor(*view->object, made, flags))
      return s;
    if (flags)
      return unsupported(std::string("a tensor ") + view->object->text() +
                         " in read-only memory needs the versioned form of "
                         "DLPack");
    *tensor = &made.release()->tensor;
    return Status::ok();
  });
}

tilewright_status *
tilewright_view_to_dlpack_versioned(tilewright_view *view,
                                    DLManagedTensorVersioned **tensor) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(view);
    TILEWRIGHT_REQUIRE(tensor);
    std::unique_ptr<Exported<DLManagedTensorVersioned>> made;
    uint64_t flags = 0;
    if (Status s = makeTensor(*view->object, made, flags))
      return s;
    made->tensor.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    made->tensor.flags = flags;
    *tensor = &made.release()->tensor;
    return Status::ok();
  });
}

tilewright_status *tilewright_device_dlpack(tilewright_device *device,
                                            int32_t *device_type,
                                            int32_t *device_id) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(device);
    TILEWRIGHT_REQUIRE(device_type);
    TILEWRIGHT_REQUIRE(device_id);
    DLDevice place = dlpackDevice(*device->object);
    *device_type = place.device_type;
    *device_id = place.device_id;
    return Status::ok();
  });
}
