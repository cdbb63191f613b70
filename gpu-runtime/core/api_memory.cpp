// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C API: buffers and views.

#include "core/api_handles.h"

using namespace tilewright::runtime;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

tilewright_status *tilewright_buffer_allocate(tilewright_device *device,
                                              uint64_t size,
                                              tilewright_buffer **buffer) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(device);
    TILEWRIGHT_REQUIRE(buffer);
    std::shared_ptr<Buffer> created;
    if (Status s = device->object->allocate(size, nullptr, created))
      return s;
    *buffer = new tilewright_buffer(std::move(created));
    return Status::ok();
  });
}
tilewright_status *tilewright_buffer_import(tilewright_device *device,
                                            uint64_t native, uint64_t size,
                                            tilewright_buffer **buffer) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(device);
    TILEWRIGHT_REQUIRE(buffer);
    std::shared_ptr<Buffer> created;
    if (Status s = device->object->importBuffer(native, size, /*readOnly=*/false, created))
      return s;
    *buffer = new tilewright_buffer(std::move(created));
    return Status::ok();
  });
}
void tilewright_buffer_retain(tilewright_buffer *buffer) {
  retainHandle(buffer);
}
void tilewright_buffer_release(tilewright_buffer *buffer) {
  releaseHandle(buffer);
}
uint64_t tilewright_buffer_size(tilewright_buffer *buffer) {
  return buffer ? buffer->object->size() : 0;
}
uint64_t tilewright_buffer_address(tilewright_buffer *buffer) {
  return buffer ? buffer->object->address() : 0;
}

tilewright_status *tilewright_buffer_write(tilewright_buffer *buffer,
                                           tilewright_stream *stream,
                                           uint64_t offset, const void *source,
                                           uint64_t size) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(buffer);
    TILEWRIGHT_REQUIRE(stream);
    return stream->object->write(*buffer->object, offset, source, size);
  });
}
tilewright_status *tilewright_buffer_read(tilewright_buffer *buffer,
                                          tilewright_stream *stream,
                                          uint64_t offset, uint64_t size,
                                          void *target) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(buffer);
    TILEWRIGHT_REQUIRE(stream);
    return stream->object->read(target, *buffer->object, offset, size);
  });
}
tilewright_status *tilewright_buffer_fill(tilewright_buffer *buffer,
                                          tilewright_stream *stream,
                                          uint64_t offset, uint64_t size,
                                          uint32_t pattern,
                                          uint32_t pattern_size) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(buffer);
    TILEWRIGHT_REQUIRE(stream);
    return stream->object->fill(*buffer->object, offset, size, pattern,
                                pattern_size);
  });
}
tilewright_status *tilewright_buffer_copy(tilewright_buffer *target,
                                          uint64_t target_offset,
                                          tilewright_buffer *source,
                                          uint64_t source_offset, uint64_t size,
                                          tilewright_stream *stream) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(target);
    TILEWRIGHT_REQUIRE(source);
    TILEWRIGHT_REQUIRE(stream);
    return stream->object->copy(*target->object, target_offset, *source->object,
                                source_offset, size);
  });
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {

Status readDims(int32_t dtype, int32_t rank, const int64_t *dims,
                std::vector<int64_t> &result) {
  if (!isValidDtype(dtype))
    return invalidArgument("element type " + std::to_string(dtype) +
                           " is unknown; expected one of " + dtypeList());
  if (rank < 0 || rank > kMaxRank)
    return invalidArgument("rank " + std::to_string(rank) +
                           " is out of range; expected 0 to " +
                           std::to_string(kMaxRank));
  if (rank && !dims)
    return nullArgument("dims");
  result.assign(dims, dims + rank);
  return Status::ok();
}

/// Bytes of the elements side by side.
uint64_t denseBytes(const View &view) {
  return uint64_t(tensorBytes(view.elements, view.dtype));
}

tilewright_view *newView(View view) {
  return new tilewright_view(std::make_shared<const View>(std::move(view)));
}

} // namespace

const char *tilewright_dtype_name(int32_t dtype) { return dtypeName(dtype); }
uint32_t tilewright_dtype_size(int32_t dtype) {
  return dtypeBytes(static_cast<tw_dtype>(dtype));
}

tilewright_status *tilewright_view_create(tilewright_buffer *buffer,
                                          uint64_t offset, int32_t dtype,
                                          int32_t rank, const int64_t *dims,
                                          tilewright_view **view) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(buffer);
    TILEWRIGHT_REQUIRE(view);
    std::vector<int64_t> shape;
    if (Status s = readDims(dtype, rank, dims, shape))
      return s;
    View made;
    if (Status s =
            makeView(buffer->object, offset, static_cast<tw_dtype>(dtype),
                     std::move(shape), made))
      return s;
    *view = newView(std::move(made));
    return Status::ok();
  });
}
tilewright_status *tilewright_view_create_strided(
    tilewright_buffer *buffer, uint64_t offset, int32_t dtype, int32_t rank,
    const int64_t *dims, const int64_t *strides, tilewright_view **view) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(buffer);
    TILEWRIGHT_REQUIRE(view);
    std::vector<int64_t> shape;
    if (Status s = readDims(dtype, rank, dims, shape))
      return s;
    if (rank)
      TILEWRIGHT_REQUIRE(strides);
    View made;
    if (Status s = makeStridedView(
            buffer->object, offset, static_cast<tw_dtype>(dtype),
            std::move(shape), std::vector<int64_t>(strides, strides + rank),
            made))
      return s;
    *view = newView(std::move(made));
    return Status::ok();
  });
}
tilewright_status *tilewright_view_allocate(tilewright_device *device,
                                            int32_t dtype, int32_t rank,
                                            const int64_t *dims,
                                            tilewright_view **view) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(device);
    TILEWRIGHT_REQUIRE(view);
    std::vector<int64_t> shape;
    if (Status s = readDims(dtype, rank, dims, shape))
      return s;
    View made;
    if (Status s =
            allocateView(*device->object, nullptr, static_cast<tw_dtype>(dtype),
                         std::move(shape), made))
      return s;
    *view = newView(std::move(made));
    return Status::ok();
  });
}
void tilewright_view_retain(tilewright_view *view) { retainHandle(view); }
void tilewright_view_release(tilewright_view *view) { releaseHandle(view); }
int32_t tilewright_view_dtype(const tilewright_view *view) {
  return view ? view->object->dtype : 0;
}
int32_t tilewright_view_rank(const tilewright_view *view) {
  return view ? static_cast<int32_t>(view->object->dims.size()) : 0;
}
const int64_t *tilewright_view_dims(const tilewright_view *view) {
  return view ? view->object->dims.data() : nullptr;
}
const int64_t *tilewright_view_strides(const tilewright_view *view) {
  return view && !view->object->isDense() ? view->object->strides.data()
                                          : nullptr;
}
uint64_t tilewright_view_size(const tilewright_view *view) {
  return view ? denseBytes(*view->object) : 0;
}
uint64_t tilewright_view_address(const tilewright_view *view) {
  return view ? view->object->address() : 0;
}

tilewright_status *tilewright_view_native(const tilewright_view *view,
                                          uint64_t *native,
                                          uint64_t *offset) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(view);
    TILEWRIGHT_REQUIRE(native);
    TILEWRIGHT_REQUIRE(offset);
    DriverBuffer &memory = view->object->buffer->driver();
    bool hasAddress = memory.address() != 0;
    *native = memory.native() + (hasAddress ? view->object->offset : 0);
    *offset = hasAddress ? 0 : memory.nativeOffset() + view->object->offset;
    return Status::ok();
  });
}
int32_t tilewright_view_read_only(const tilewright_view *view) {
  return view && view->object->buffer->isReadOnly();
}

namespace {

Status checkSize(const View &view, uint64_t size) {
  if (size == denseBytes(view))
    return Status::ok();
  return invalidArgument("a tensor " + view.text() + " takes " +
                         std::to_string(denseBytes(view)) + " bytes; got " +
                         std::to_string(size));
}

} // namespace

tilewright_status *tilewright_view_write(tilewright_view *view,
                                         tilewright_stream *stream,
                                         const void *source, uint64_t size) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(view);
    TILEWRIGHT_REQUIRE(stream);
    if (Status s = checkSize(*view->object, size))
      return s;
    return forEachRun(*view->object, [&](uint64_t at, uint64_t dense,
                                         uint64_t bytes) {
      return stream->object->write(*view->object->buffer, at,
                                   static_cast<const char *>(source) + dense,
                                   bytes);
    });
  });
}
tilewright_status *tilewright_view_read(tilewright_view *view,
                                        tilewright_stream *stream,
                                        uint64_t size, void *target) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(view);
    TILEWRIGHT_REQUIRE(stream);
    if (Status s = checkSize(*view->object, size))
      return s;
    return forEachRun(*view->object, [&](uint64_t at, uint64_t dense,
                                         uint64_t bytes) {
      return stream->object->read(static_cast<char *>(target) + dense,
                                  *view->object->buffer, at, bytes);
    });
  });
}
