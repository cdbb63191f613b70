// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that host programs call; see host_api.h. Host code has no
// unwind tables: nothing may be thrown through it, so each function runs in
// `guarded`, which also makes it a no-op once an error is recorded.

#include "core/host_api.h"

#include "core/few.h"
#include "core/number_text.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace tilewright::runtime;

tw_view::~tw_view() {
  if (staged)
    std::free(mapped);
}

CallViews::Place *CallViews::find(const tw_view *view) {
  auto in = [&](Place *places, size_t count) -> Place * {
    // Of unrelated memory, perhaps: as numbers.
    uintptr_t begin = reinterpret_cast<uintptr_t>(places), at = reinterpret_cast<uintptr_t>(view);
    if (at < begin || at - begin >= count * sizeof(Place))
      return nullptr;
    Place &place = places[(at - begin) / sizeof(Place)];
    return place.view && &*place.view == view ? &place : nullptr;
  };
  if (Place *place = in(first, kFirst))
    return place;
  for (size_t i = 0; i < more.size(); ++i)
    if (Place *place = in(more[i].get(), sizeOf(i)))
      return place;
  return nullptr;
}

tw_view *CallViews::add(View view) {
  if (!unused && fresh == end) {
    auto places = std::make_unique<Place[]>(sizeOf(more.size()));
    more.push_back(std::move(places));
    fresh = more.back().get();
    end = fresh + sizeOf(more.size() - 1);
  }
  Place &place = unused ? *unused : *fresh++;
  if (&place == unused)
    unused = place.nextUnused;
  tw_view &result = place.view.emplace();
  result.view = std::move(view);
  return &result;
}

void CallViews::remove(const tw_view *view) {
  Place &place = *find(view);
  place.view.reset();
  place.nextUnused = unused;
  unused = &place;
}

void tw_context::record(Status status) {
  if (error.isOk() && !status.isOk())
    error = std::move(status);
}

tw_view *tw_context::own(View view) {
  return views.add(std::move(view));
}

bool tw_context::isLive(const tw_view *view, const char *where) {
  if (views.has(view))
    return true;
  record(internalError(std::string(where) + ": the host program passed " +
                       (view ? "a tensor that it has released" : "no tensor")));
  return false;
}

namespace {

// Runs `body`; exceptions become errors, in words that need no memory.
template <typename Body> void caught(tw_context *context, Body body) noexcept {
  try {
    body();
  } catch (const std::bad_alloc &) {
    context->record(outOfMemory("no host memory"));
  } catch (const std::exception &) {
    context->record(internalError("unexpected"));
  }
}

// The same unless an error is recorded.
template <typename Body> void guarded(tw_context *context, Body body) noexcept {
  if (context && context->ok())
    caught(context, body);
}

bool readDims(tw_context *context, const char *where, int32_t rank,
              const int64_t *dims, std::vector<int64_t> &result) {
  if (rank < 0 || rank > kMaxRank || (rank && !dims)) {
    context->record(internalError(std::string(where) + ": rank " +
                                  std::to_string(rank) + " is out of range"));
    return false;
  }
  result.assign(dims, dims + rank);
  return true;
}

Status newTensor(tw_context *context, tw_dtype dtype, std::vector<int64_t> dims,
                 View &view) {
  Device &device = *context->program.device();
  if (Status s =
          allocateView(device, &context->stream, dtype, std::move(dims), view))
    return s;
  if (device.poison)
    return context->stream.poison(*view.buffer, 0, view.bytes);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

tw_view *apiAlloc(tw_context *context, int32_t dtype, int32_t rank,
                  const int64_t *dims) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> shape;
    if (!readDims(context, "alloc", rank, dims, shape))
      return;
    View view;
    if (Status s = newTensor(context, static_cast<tw_dtype>(dtype),
                             std::move(shape), view))
      return context->record(std::move(s));
    result = context->own(std::move(view));
  });
  return result;
}

tw_view *apiPlace(tw_context *context, tw_view *arena, int64_t offset,
                  int32_t dtype, int32_t rank, const int64_t *dims) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> shape;
    if (!context->isLive(arena, "place") ||
        !readDims(context, "place", rank, dims, shape))
      return;
    const View &from = arena->view;
    View view;
    if (Status s = makeView(from.buffer, from.offset + uint64_t(offset),
                            static_cast<tw_dtype>(dtype), std::move(shape), view))
      return context->record(std::move(s).in("place"));
    if (offset < 0 || offset + view.bytes > from.bytes)
      return context->record(internalError(
          "place: " + view.text() + " at byte " + std::to_string(offset) +
          " does not fit into " + from.text()));
    if (context->program.device()->poison)
      if (Status s =
              context->stream.poison(*view.buffer, view.offset, view.bytes))
        return context->record(std::move(s));
    result = context->own(std::move(view));
  });
  return result;
}

tw_view *apiConstant(tw_context *context, int32_t id) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    const std::vector<View> &constants = context->program.constants();
    if (id < 0 || size_t(id) >= constants.size())
      return context->record(internalError(
          "the host program asks for constant " + std::to_string(id) + " of " +
          std::to_string(constants.size())));
    if (!constants[id].buffer)
      return context->record(internalError(
          "the host program asks for constant " + std::to_string(id) +
          ", which is there only while the program is loaded"));
    result = context->own(constants[id]);
  });
  return result;
}

void apiRetain(tw_context *context, tw_view *view) {
  guarded(context, [&] {
    if (view && context->isLive(view, "retain"))
      ++view->references;
  });
}

// Also runs after an error: it only ever lets go.
void apiRelease(tw_context *context, tw_view *view) {
  if (!context || !view)
    return;
  if (!context->views.has(view))
    return caught(context, [&] {
      context->record(
          internalError("release: the host program released a tensor twice"));
    });
  if (--view->references == 0)
    context->views.remove(view);
}

int64_t apiDim(tw_context *context, const tw_view *view, int32_t d) {
  int64_t result = 0;
  guarded(context, [&] {
    if (!context->isLive(view, "dim"))
      return;
    if (d < 0 || size_t(d) >= view->view.dims.size())
      return context->record(
          internalError("dim: the host program asks for dim " +
                        std::to_string(d) + " of " + view->view.text()));
    result = view->view.dims[d];
  });
  return result;
}

void apiDispatch(tw_context *context, int32_t id, int32_t numViews,
                 tw_view *const *views, int32_t numScalars,
                 const uint64_t *scalars) {
  guarded(context, [&] {
    size_t count = context->program.desc().dispatches.size();
    if (id < 0 || size_t(id) >= count || numViews < 0 || numScalars < 0)
      return context->record(
          internalError("the host program launches dispatch " +
                        std::to_string(id) + " of " + std::to_string(count)));
    Few<const View *> operands(numViews);
    for (int32_t i = 0; i < numViews; ++i) {
      if (!context->isLive(views[i], "dispatch"))
        return;
      operands[i] = &views[i]->view;
    }
    context->record(context->program.launch(id, context->stream,
                                            operands.data(), operands.size(),
                                            scalars, numScalars));
  });
}

tw_view *apiClone(tw_context *context, const tw_view *source) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    if (!context->isLive(source, "clone"))
      return;
    View view;
    const View &from = source->view;
    if (Status s = allocateLike(*context->program.device(), &context->stream,
                                from, view))
      return context->record(std::move(s));
    if (Status s = context->stream.copy(*view.buffer, 0, *from.buffer,
                                        from.offset, from.bytes))
      return context->record(std::move(s));
    result = context->own(std::move(view));
  });
  return result;
}

void apiCopy(tw_context *context, tw_view *target, const tw_view *source) {
  guarded(context, [&] {
    if (!context->isLive(target, "copy") || !context->isLive(source, "copy"))
      return;
    const View &to = target->view, &from = source->view;
    if (to.dtype != from.dtype || to.dims != from.dims)
      return context->record(invalidArgument(
          "copy: the source is " + from.text() + ", the target " + to.text()));
    if (to.buffer == from.buffer && to.offset == from.offset &&
        to.strides == from.strides)
      return;
    context->record(copyElements(context->stream, to, from));
  });
}

tw_view *apiReshape(tw_context *context, tw_view *source, int32_t rank,
                    const int64_t *dims) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> shape;
    if (!context->isLive(source, "reshape") ||
        !readDims(context, "reshape", rank, dims, shape))
      return;
    const View &from = source->view;
    if (Status s = requireDense(from, "reshape"))
      return context->record(std::move(s));
    int64_t elements, bytes;
    if (Status s = denseSize(shape, from.dtype, elements, bytes))
      return context->record(std::move(s).in("reshape"));
    if (elements != from.elements)
      return context->record(programError(
          "reshape: " + from.text() + " has " + std::to_string(from.elements) +
          " elements, " + shapeText(shape, from.dtype) + " has " +
          std::to_string(elements)));
    View view;
    if (Status s = makeView(from.buffer, from.offset, from.dtype,
                            std::move(shape), view))
      return context->record(std::move(s));
    result = context->own(std::move(view));
  });
  return result;
}

tw_view *apiWindow(tw_context *context, tw_view *source, int32_t rank,
                   const int64_t *offsets, const int64_t *sizes,
                   const int64_t *strides, uint64_t dropped) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> begin, count, step;
    if (!context->isLive(source, "window") ||
        !readDims(context, "window", rank, offsets, begin) ||
        !readDims(context, "window", rank, sizes, count) ||
        !readDims(context, "window", rank, strides, step))
      return;
    View view;
    if (Status s = makeWindow(source->view, begin, count, step, dropped, view))
      return context->record(std::move(s));
    result = context->own(std::move(view));
  });
  return result;
}

tw_view *apiIm2col(tw_context *context, tw_view *source, int32_t rank,
                   const int64_t *sizes, int32_t sourceRank,
                   const int64_t *steps, const char *what) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> count, moves;
    if (!context->isLive(source, "im2col") ||
        !readDims(context, "im2col", rank, sizes, count))
      return;
    if (sourceRank < 0 || sourceRank > kMaxRank || (sourceRank * rank != 0 && !steps))
      return context->record(internalError("im2col: no steps"));
    moves.assign(steps, steps + size_t(sourceRank) * size_t(rank));
    View view;
    if (Status s = makeWindows(source->view, count, moves, view))
      return context->record(std::move(s).in(what));
    result = context->own(std::move(view));
  });
  return result;
}

tw_view *apiPad(tw_context *context, tw_view *source, int32_t rank,
                const int64_t *low, const int64_t *high, const char *what) {
  tw_view *result = nullptr;
  guarded(context, [&] {
    std::vector<int64_t> before, behind;
    if (!context->isLive(source, "pad") ||
        !readDims(context, "pad", rank, low, before) ||
        !readDims(context, "pad", rank, high, behind))
      return;
    View view;
    if (Status s = makePadded(source->view, before, behind, view))
      return context->record(std::move(s).in(what));
    result = context->own(std::move(view));
  });
  return result;
}

int64_t apiStride(tw_context *context, const tw_view *view, int32_t d) {
  int64_t result = 0;
  guarded(context, [&] {
    if (!context->isLive(view, "stride"))
      return;
    if (d < 0 || size_t(d) >= view->view.dims.size())
      return context->record(
          internalError("stride: the host program asks for dim " +
                        std::to_string(d) + " of " + view->view.text()));
    result = view->view.stride(d);
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Host access
//===----------------------------------------------------------------------===//

void *apiMap(tw_context *context, tw_view *view, int32_t write) {
  void *result = nullptr;
  guarded(context, [&] {
    if (!context->isLive(view, "map"))
      return;
    if (view->mapped)
      return context->record(
          internalError("map: the tensor is already mapped"));
    Stream &stream = context->stream;
    const View &from = view->view;
    if (write && from.buffer->isReadOnly())
      return context->record(
          invalidArgument("map: the tensor's memory is read-only"));
    void *memory = from.buffer->driver().hostPointer();
    if (memory) {
      memory = static_cast<char *>(memory) + from.offset;
    } else if (!from.isDense()) {
      return context->record(requireDense(from, "map"));
    } else {
      memory = std::aligned_alloc(64, (size_t(from.bytes) + 64) / 64 * 64);
      if (!memory)
        return context->record(
            outOfMemory("map: no host memory for " + from.text()));
      view->staged = true;
    }
    view->mapped = memory;
    view->mappedForWriting = write != 0;
    // A tensor fresh from alloc has nothing to read.
    if (view->staged && !from.buffer->mayHaveContents())
      std::memset(memory, 0, from.bytes);
    else if (view->staged)
      if (Status s = stream.read(memory, *from.buffer, from.offset, from.bytes))
        return context->record(std::move(s).in("map"));
    Status status = stream.wait().in("map");
    if (status.isOk())
      status = stream.takeFailedCheck();
    if (status) {
      // Nothing writes there after a failure.
      if (view->staged)
        std::free(memory);
      view->mapped = nullptr;
      view->staged = false;
      return context->record(std::move(status));
    }
    result = memory;
  });
  return result;
}

void apiUnmap(tw_context *context, tw_view *view) {
  guarded(context, [&] {
    if (!view || !context->isLive(view, "unmap"))
      return;
    if (!view->mapped)
      return context->record(internalError("unmap: the tensor is not mapped"));
    const View &to = view->view;
    Status status;
    if (view->staged && view->mappedForWriting)
      status =
          context->stream.write(*to.buffer, to.offset, view->mapped, to.bytes);
    if (view->staged)
      std::free(view->mapped);
    view->mapped = nullptr;
    view->staged = false;
    context->record(std::move(status).in("unmap"));
  });
}

//===----------------------------------------------------------------------===//
// Checks and printing
//===----------------------------------------------------------------------===//

void apiCheck(tw_context *context, int32_t condition, const char *message) {
  guarded(context, [&] {
    if (!condition)
      context->record(programError(message ? message : "a check failed"));
  });
}

void apiCheckEqual(tw_context *context, int64_t a, int64_t b,
                   const char *message) {
  guarded(context, [&] {
    if (a != b)
      context->record(programError(
          std::string(message ? message : "two values differ") + " (" +
          std::to_string(a) + " vs " + std::to_string(b) + ")"));
  });
}

void apiCheckLater(tw_context *context, tw_view *number, int32_t count,
                   const char *const *messages) {
  guarded(context, [&] {
    if (!context->isLive(number, "check_later"))
      return;
    const View &from = number->view;
    if (from.dtype != TW_I32 || from.elements != 1 || count < 0 ||
        (count && !messages))
      return context->record(internalError("check_later: " + from.text() +
                                           " is no number of a message"));
    LaterCheck check;
    check.call = context;
    check.where = context->where;
    check.messages.assign(messages, messages + count);
    context->record(context->stream.checkLater(*from.buffer, from.offset,
                                               std::move(check)));
  });
}

int32_t apiOk(tw_context *context) { return context && context->ok(); }

void apiPrint(tw_context *context, const char *text, int64_t length) {
  guarded(context, [&] {
    if (text && length > 0)
      context->program.print(std::string_view(text, size_t(length)));
  });
}

void printFormatted(tw_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void printFormatted(tw_context *context, const char *format, ...) {
  char buffer[64];
  va_list arguments;
  va_start(arguments, format);
  int length = std::vsnprintf(buffer, sizeof(buffer), format, arguments);
  va_end(arguments);
  apiPrint(context, buffer, length);
}

void apiPrintI64(tw_context *context, int64_t value) {
  printFormatted(context, "%" PRId64, value);
}
void apiPrintU64(tw_context *context, uint64_t value) {
  printFormatted(context, "%" PRIu64, value);
}
void apiPrintF64(tw_context *context, double value) {
  guarded(context, [&] { context->program.print(numberText(value)); });
}
void apiPrintF32(tw_context *context, float value) {
  apiPrintF64(context, static_cast<double>(value));
}

} // namespace

const TilewrightHostApi &tilewright::runtime::hostApi() {
  static const TilewrightHostApi table = {
      TW_PROGRAM_ABI_VERSION,
      0,
      apiAlloc,
      apiConstant,
      apiRetain,
      apiRelease,
      apiDim,
      apiDispatch,
      apiClone,
      apiCopy,
      apiReshape,
      apiMap,
      apiUnmap,
      apiCheck,
      apiCheckEqual,
      apiOk,
      apiPrint,
      apiPrintI64,
      apiPrintU64,
      apiPrintF64,
      apiPrintF32,
      apiWindow,
      apiStride,
      apiIm2col,
      apiPlace,
      apiPad,
      apiCheckLater,
  };
  return table;
}
