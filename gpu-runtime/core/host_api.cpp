// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that host programs call, and their table; see host_api.h. Those of tensors are in
// host_tensors.cpp.

#include "core/host_functions.h"

#include "core/number_text.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tilewright::runtime;

namespace {

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
