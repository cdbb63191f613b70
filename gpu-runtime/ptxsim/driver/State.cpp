// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's one state, and what all parts of the API need: the current context, streams, queues and failures.

#include "driver/State.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>

namespace tilewright::ptxsim {

Driver &driver() {
  // Never destroyed: other libraries' exit handlers may still call the API.
  static Driver *state = new Driver;
  return *state;
}

std::vector<CUcontext> &contextStack() {
  static thread_local std::vector<CUcontext> stack;
  return stack;
}

uint64_t &threadDeadline() {
  static thread_local uint64_t value = 0;
  return value;
}

bool &perThreadDefault() {
  static thread_local bool value = false;
  return value;
}

CUresult currentContext(CUcontext &context) {
  context = contextStack().empty() ? nullptr : contextStack().back();
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!driver().isLive(context))
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (context->cancelled)
    failContext(context, CUDA_ERROR_LAUNCH_TIMEOUT);
  return context->sticky;
}

CUresult resolveStream(CUstream handle, CUstream &stream) {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  if (handle == nullptr)
    handle = perThreadDefault() ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  if (handle == CU_STREAM_LEGACY) {
    stream = &context->legacy;
    return CUDA_SUCCESS;
  }
  if (handle == CU_STREAM_PER_THREAD) {
    auto &slot = context->perThread[std::hash<std::thread::id>()(std::this_thread::get_id())];
    if (!slot) {
      slot = std::make_unique<CUstream_st>();
      slot->context = context;
      slot->id = driver().nextStream++;
    }
    stream = slot.get();
    return CUDA_SUCCESS;
  }
  if (!driver().isLive(handle) || handle->context != context)
    return driver().isLive(handle) ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  stream = handle;
  return CUDA_SUCCESS;
}

OperationRef enqueue(CUstream stream, std::function<void(const Operation &)> work, OperationKind kind,
                     std::vector<OperationRef> dependencies) {
  CUcontext context = stream->context;
  dependencies.push_back(stream->last);
  // The legacy default stream waits for all blocking streams, and they for it.
  if (stream == &context->legacy) {
    for (const auto &other : context->streams)
      if (!(other->flags & CU_STREAM_NON_BLOCKING))
        dependencies.push_back(other->last);
    for (const auto &[thread, other] : context->perThread)
      dependencies.push_back(other->last);
  } else if (!(stream->flags & CU_STREAM_NON_BLOCKING)) {
    dependencies.push_back(context->legacy.last);
  }
  stream->last = driver().queue.enqueue(stream->id, std::move(dependencies), std::move(work), kind);
  // Later calls may be refused because of what was just found, so it is told now.
  reportFindings();
  return stream->last;
}

void synchroniseContext(CUcontext context) {
  Queue &queue = driver().queue;
  queue.wait(context->legacy.last);
  for (const auto &[thread, stream] : context->perThread)
    queue.wait(stream->last);
  for (const auto &stream : context->streams)
    queue.wait(stream->last);
}

void destroyContents(CUcontext context) {
  Driver &state = driver();
  for (const auto &stream : context->streams)
    state.live.erase(stream.get());
  for (const auto &event : context->events)
    state.live.erase(event.get());
  for (const auto &module : context->modules) {
    state.live.erase(module.get());
    for (const auto &[name, function] : module->functions)
      state.live.erase(function.get());
  }
  context->streams.clear();
  context->events.clear();
  context->modules.clear();
  context->perThread.clear();
  context->legacy.last.reset();
  context->sticky = CUDA_SUCCESS;
  context->cancelled = false;
  state.memory->releaseOwner(context);
  for (auto it = state.hostAllocations.begin(); it != state.hostAllocations.end();)
    if (auto here = it++; here->second.context == context)
      releaseHost(here->first);
}

void failContext(CUcontext context, CUresult error) {
  if (context->sticky == CUDA_SUCCESS)
    context->sticky = error;
}

void writeReport() {
  const Driver &state = driver();
  if (state.options.reportPath.empty())
    return;
  FILE *file = std::fopen(state.options.reportPath.c_str(), "w");
  bool written = file && std::fputs(state.findings.json().c_str(), file) >= 0;
  if (file)
    written = std::fclose(file) == 0 && written;
  static bool isKnown = false;
  if (!written && !std::exchange(isKnown, true))
    std::fprintf(stderr, "ptxsim: PTXSIM_REPORT: cannot write '%s': %s\n", state.options.reportPath.c_str(),
                 std::strerror(errno));
}

void reportFindings() {
  Driver &state = driver();
  static size_t printed = 0;
  printed = std::min(printed, state.findings.size());
  if (printed == state.findings.size())
    return;
  size_t known = state.findings.size();
  std::fputs(state.findings.text(printed, known).c_str(), stderr);
  printed = known;
  writeReport();
}

} // namespace tilewright::ptxsim
