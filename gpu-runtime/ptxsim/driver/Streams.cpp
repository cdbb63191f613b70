// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams and events.

#include "driver/State.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

CUresult checkEvent(CUevent event) {
  if (!event || !driver().isLive(event))
    return CUDA_ERROR_INVALID_HANDLE;
  return CUDA_SUCCESS;
}

template <typename Object> void removeFrom(std::vector<std::unique_ptr<Object>> &objects, const Object *object) {
  driver().live.erase(object);
  objects.erase(std::remove_if(objects.begin(), objects.end(),
                               [&](const std::unique_ptr<Object> &candidate) { return candidate.get() == object; }),
                objects.end());
}

CUresult elapsed(float *milliseconds, CUevent start, CUevent end) {
  if (!milliseconds)
    return CUDA_ERROR_INVALID_VALUE;
  if (checkEvent(start) || checkEvent(end))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!start->recorded || !end->recorded || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_HANDLE;
  if (start->context->sticky)
    return start->context->sticky;
  if (!start->recorded->done || !end->recorded->done)
    return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>((end->recorded->finished - start->recorded->finished) / 1000);
  return CUDA_SUCCESS;
}

} // namespace

namespace api {

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  CUcontext context;
  if (!stream || (flags & ~CU_STREAM_NON_BLOCKING))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = currentContext(context))
    return result;
  auto created = std::make_unique<CUstream_st>();
  created->context = context;
  created->flags = flags;
  created->priority = std::clamp(priority, -5, 0);
  created->id = driver().nextStream++;
  *stream = created.get();
  driver().live.insert(*stream);
  context->streams.push_back(std::move(created));
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) { return api::cuStreamCreateWithPriority(stream, flags, 0); }

CUresult cuStreamDestroy_v2(CUstream stream) {
  if (!stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD || !driver().isLive(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  // Work that is still queued is finished at the next chance; here, at once.
  driver().queue.wait(stream->last);
  removeFrom(stream->context->streams, stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
  CUstream stream;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  // The legacy stream is done when all blocking streams are.
  if (stream == &stream->context->legacy)
    for (const auto &other : stream->context->streams)
      if (!(other->flags & CU_STREAM_NON_BLOCKING))
        driver().queue.wait(other->last);
  driver().queue.wait(stream->last);
  reportFindings();
  return stream->context->sticky;
}

CUresult cuStreamQuery(CUstream handle) {
  CUstream stream;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  bool done = driver().queue.poll(stream->last);
  reportFindings();
  return stream->context->sticky ? stream->context->sticky : done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  CUstream stream;
  if (flags > 1)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  if (CUresult result = checkEvent(event))
    return result;
  // An event that was never recorded is complete. One of another stream says nothing of kernels in this one, unless that
  // stream has waited for them.
  if (event->recorded)
    enqueue(stream, nullptr, event->recorded->stream == stream->id ? OperationKind::Work : OperationKind::Note,
            {event->recorded});
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
  CUstream stream;
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream handle, int *priority) {
  CUstream stream;
  if (!priority)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *context) {
  CUstream stream;
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  *context = stream->context;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
  CUstream stream;
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  *id = stream->id;
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
  CUstream stream;
  if (!status)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *userData, unsigned flags) {
  CUstream stream;
  if (!callback || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  enqueue(stream, [=](const Operation &) { callback(handle, stream->context->sticky, userData); });
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *userData) {
  CUstream stream;
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  enqueue(stream, [=](const Operation &) {
    if (!stream->context->sticky)
      function(userData);
  });
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  CUcontext context;
  if (!event || (flags & ~7u))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = currentContext(context))
    return result;
  auto created = std::make_unique<CUevent_st>();
  created->context = context;
  created->flags = flags;
  *event = created.get();
  driver().live.insert(*event);
  context->events.push_back(std::move(created));
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  if (CUresult result = checkEvent(event))
    return result;
  removeFrom(event->context->events, event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream handle) {
  CUstream stream;
  if (CUresult result = resolveStream(handle, stream))
    return result;
  if (CUresult result = checkEvent(event))
    return result;
  if (event->context != stream->context)
    return CUDA_ERROR_INVALID_HANDLE;
  event->recorded = enqueue(stream, nullptr, OperationKind::Note);
  return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return flags > 1 ? CUDA_ERROR_INVALID_VALUE : api::cuEventRecord(event, stream);
}

CUresult cuEventSynchronize(CUevent event) {
  if (CUresult result = checkEvent(event))
    return result;
  driver().queue.wait(event->recorded);
  reportFindings();
  return event->context->sticky;
}

CUresult cuEventQuery(CUevent event) {
  if (CUresult result = checkEvent(event))
    return result;
  bool done = driver().queue.poll(event->recorded);
  reportFindings();
  return event->context->sticky ? event->context->sticky : done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}
CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}

} // namespace api
} // namespace tilewright::ptxsim
