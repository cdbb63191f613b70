// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views: memory of a device, of NumPy's arrays, of DLPack capsules.
#include "core.h"

#include "core/dlpack_abi.h"

#include <algorithm>
#include <memory>

namespace tilewright::python {

namespace {

using Dims = std::vector<int64_t>;

View allocate(const Device &device, int32_t dtype, const Dims &shape) {
  View view;
  unlocked([&] {
    return tilewright_view_allocate(device.handle.get(), dtype,
                                    static_cast<int32_t>(shape.size()),
                                    shape.data(), view.handle.out());
  });
  return view;
}

/// Host memory that a Python object owns, as a tensor whose deleter lets the
/// object go.
struct HostTensor {
  DLManagedTensorVersioned tensor = {};
  Dims shape, strides;
  PyObject *owner = nullptr;

  static void release(DLManagedTensorVersioned *tensor) {
    auto *self = static_cast<HostTensor *>(tensor->manager_ctx);
    // From any thread, and after the interpreter is gone.
    if (Py_IsInitialized()) {
      PyGILState_STATE state = PyGILState_Ensure();
      Py_DECREF(self->owner);
      PyGILState_Release(state);
    }
    delete self;
  }
};

View ofHostMemory(const Device &device, uintptr_t address, int32_t dtype,
                  Dims shape, Dims strides, bool readOnly, nb::object owner) {
  if (shape.size() != strides.size())
    throw nb::value_error("a stride for each dim, in elements");
  auto host = std::make_unique<HostTensor>();
  host->shape = std::move(shape);
  host->strides = std::move(strides);
  DLManagedTensorVersioned &managed = host->tensor;
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.manager_ctx = host.get();
  managed.deleter = &HostTensor::release;
  managed.flags = readOnly ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  DLTensor &tensor = managed.dl_tensor;
  tensor.data = reinterpret_cast<void *>(address);
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<int32_t>(host->shape.size());
  // Bytes, seen as what `dtype` says.
  uint8_t bits = static_cast<uint8_t>(
      dtype == TW_I4 ? 4 : dtype == TW_I2 ? 2 : 8 * tilewright_dtype_size(dtype));
  tensor.dtype = {kDLUInt, bits, 1};
  tensor.shape = host->shape.data();
  tensor.strides = host->strides.data();
  View view;
  check(tilewright_view_from_dlpack_versioned(device.handle.get(), &managed,
                                              dtype, view.handle.out()));
  host->owner = owner.release().ptr();
  (void)host.release();
  return view;
}

View fromDlpack(const Device &device, nb::object capsule, int32_t dtype) {
  View view;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto *tensor = static_cast<DLManagedTensorVersioned *>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    check(tilewright_view_from_dlpack_versioned(device.handle.get(), tensor,
                                                dtype, view.handle.out()));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    auto *tensor = static_cast<DLManagedTensor *>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    check(tilewright_view_from_dlpack(device.handle.get(), tensor, dtype,
                                      view.handle.out()));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  } else {
    throw nb::value_error("expected an unused DLPack capsule");
  }
  return view;
}

template <typename Managed>
nb::object makeCapsule(Managed *tensor, const char *name) {
  // A capsule that nobody takes drops the tensor.
  auto destroy = [](PyObject *capsule) {
    const char *name = PyCapsule_GetName(capsule);
    if (!name || std::string(name).rfind("dltensor", 0) != 0)
      return;
    auto *tensor = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
    tensor->deleter(tensor);
  };
  PyObject *capsule = PyCapsule_New(tensor, name, destroy);
  if (!capsule) {
    tensor->deleter(tensor);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

nb::object toDlpack(const View &view, bool versioned) {
  if (versioned) {
    DLManagedTensorVersioned *tensor = nullptr;
    check(tilewright_view_to_dlpack_versioned(view.handle.get(), &tensor));
    return makeCapsule(tensor, "dltensor_versioned");
  }
  DLManagedTensor *tensor = nullptr;
  check(tilewright_view_to_dlpack(view.handle.get(), &tensor));
  return makeCapsule(tensor, "dltensor");
}

Dims shapeOf(const View &view) {
  const int64_t *dims = tilewright_view_dims(view.handle.get());
  return Dims(dims, dims + tilewright_view_rank(view.handle.get()));
}

std::optional<Dims> stridesOf(const View &view) {
  const int64_t *strides = tilewright_view_strides(view.handle.get());
  if (!strides)
    return std::nullopt;
  return Dims(strides, strides + tilewright_view_rank(view.handle.get()));
}

/// The bytes from the first element to the last, and the driver's buffer that they
/// count in; 0 where they are addresses.
struct Span {
  uint64_t buffer = 0, begin = 0, end = 0;

  explicit Span(const tilewright_view *view) {
    uint64_t native = 0, offset = 0;
    check(tilewright_view_native(view, &native, &offset));
    bool isAddress = native == tilewright_view_address(view);
    buffer = isAddress ? 0 : native;
    begin = isAddress ? native : offset;
    end = begin + tilewright_view_size(view);
    const int64_t *dims = tilewright_view_dims(view);
    const int64_t *strides = tilewright_view_strides(view);
    if (!strides || end == begin)
      return;
    int64_t count = 1, last = 0;
    for (int32_t d = 0, rank = tilewright_view_rank(view); d < rank; ++d) {
      count *= dims[d];
      last += (dims[d] - 1) * strides[d];
    }
    uint64_t element = std::max<uint64_t>(1, (end - begin) / count);
    end = begin + (last + 1) * element;
  }
};

bool overlap(const View &one, const nb::list &others) {
  Span first(one.handle.get());
  for (nb::handle other : others) {
    Span second(nb::cast<const View &>(other).handle.get());
    if (first.buffer == second.buffer && first.begin < second.end &&
        second.begin < first.end)
      return true;
  }
  return false;
}

} // namespace

void bindViews(nb::module_ &module) {
  nb::class_<View>(module, "View")
      .def_prop_ro("dtype",
                   [](const View &view) {
                     return tilewright_view_dtype(view.handle.get());
                   })
      .def_prop_ro("shape", &shapeOf)
      .def_prop_ro("strides", &stridesOf, "Elements; None for a dense view.")
      .def_prop_ro("nbytes",
                   [](const View &view) {
                     return tilewright_view_size(view.handle.get());
                   })
      .def_prop_ro("address",
                   [](const View &view) {
                     return tilewright_view_address(view.handle.get());
                   })
      .def("overlaps", &overlap, nb::arg("others"),
           "Whether it may have a byte in common with one of the others, all of one "
           "device.")
      .def_prop_ro("read_only",
                   [](const View &view) {
                     return tilewright_view_read_only(view.handle.get()) != 0;
                   })
      .def(
          "write",
          [](const View &view, const Stream &stream, uintptr_t address,
             uint64_t size) {
            unlocked([&] {
              return tilewright_view_write(view.handle.get(),
                                           stream.handle.get(),
                                           (const void *)address, size);
            });
          },
          nb::arg("stream"), nb::arg("address"), nb::arg("size"))
      .def(
          "read",
          [](const View &view, const Stream &stream, uintptr_t address,
             uint64_t size) {
            unlocked([&] {
              return tilewright_view_read(view.handle.get(),
                                          stream.handle.get(), size,
                                          (void *)address);
            });
          },
          nb::arg("stream"), nb::arg("address"), nb::arg("size"))
      .def("to_dlpack", &toDlpack, nb::arg("versioned"));
  module.def("allocate", &allocate, nb::arg("device"), nb::arg("dtype"),
             nb::arg("shape"));
  module.def("of_host_memory", &ofHostMemory, nb::arg("device"),
             nb::arg("address"), nb::arg("dtype"), nb::arg("shape"),
             nb::arg("strides"), nb::arg("read_only"), nb::arg("owner"));
  module.def("from_dlpack", &fromDlpack, nb::arg("device"), nb::arg("capsule"),
             nb::arg("dtype") = 0);
  module.def("dtype_name", &tilewright_dtype_name, nb::arg("dtype"));
}

} // namespace tilewright::python
