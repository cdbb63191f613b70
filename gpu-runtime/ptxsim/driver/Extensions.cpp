// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry points of our own, declared in Extensions.h. Their presence is how a program tells the simulator from a GPU's
// driver.

#include "driver/Extensions.h"
#include "driver/State.h"

#include <algorithm>
#include <cstring>

using namespace tilewright::ptxsim;

extern "C" {

const char *ptxsimVersion(void) { return "ptxsim 1"; }

size_t ptxsimFindings(char *buffer, size_t bytes) {
  std::lock_guard<std::recursive_timed_mutex> lock(driver().mutex);
  std::string json = driver().findings.json();
  if (buffer && bytes != 0) {
    size_t length = std::min(bytes - 1, json.size());
    std::memcpy(buffer, json.data(), length);
    buffer[length] = 0;
  }
  return json.size() + 1;
}

void ptxsimClearFindings(void) {
  std::lock_guard<std::recursive_timed_mutex> lock(driver().mutex);
  driver().findings.clear();
}

int ptxsimDefineSubBuffer(unsigned long long address, size_t bytes, const char *label) {
  std::lock_guard<std::recursive_timed_mutex> lock(driver().mutex);
  if (!driver().initialised || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  Allocation *allocation = driver().memory->find(address);
  if (!allocation || !allocation->contains(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  SubBuffer buffer = {address, address + bytes, label ? label : ""};
  auto at = std::upper_bound(allocation->subBuffers.begin(), allocation->subBuffers.end(), buffer,
                             [](const SubBuffer &a, const SubBuffer &b) { return a.begin < b.begin; });
  allocation->subBuffers.insert(at, std::move(buffer));
  // What another buffer left at these addresses means nothing to this one.
  std::memset(driver().memory->shadow(address), 0, bytes);
  return CUDA_SUCCESS;
}

int ptxsimBeginUse(unsigned long long address, size_t bytes, void *stream) {
  std::lock_guard<std::recursive_timed_mutex> lock(driver().mutex);
  if (!driver().initialised)
    return CUDA_ERROR_INVALID_VALUE;
  CUstream resolved = nullptr;
  if (stream)
    if (CUresult result = resolveStream(static_cast<CUstream>(stream), resolved))
      return result;
  return beginUse(address, bytes, resolved);
}

int ptxsimPoison(unsigned long long address, size_t bytes, void *stream) {
  std::lock_guard<std::recursive_timed_mutex> lock(driver().mutex);
  return driver().initialised ? poison(address, bytes, static_cast<CUstream>(stream)) : CUDA_ERROR_INVALID_VALUE;
}

void ptxsimSetDeadline(unsigned long long nanoseconds) { threadDeadline() = nanoseconds; }

void ptxsimCancel(void *context) { static_cast<CUcontext>(context)->cancelled = true; }

int ptxsimEndSubBuffer(unsigned long long address) {
  std::lock_guard<std::recursive_timed_mutex> lock(driver().mutex);
  Allocation *allocation = driver().initialised ? driver().memory->find(address) : nullptr;
  if (!allocation)
    return CUDA_ERROR_INVALID_VALUE;
  auto &buffers = allocation->subBuffers;
  auto found = std::find_if(buffers.begin(), buffers.end(),
                            [&](const SubBuffer &buffer) { return buffer.begin == address; });
  if (found == buffers.end())
    return CUDA_ERROR_INVALID_VALUE;
  buffers.erase(found);
  return CUDA_SUCCESS;
}

} // extern "C"
