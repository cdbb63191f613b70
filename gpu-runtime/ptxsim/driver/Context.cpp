// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contexts: the primary one, created ones, and the stack of current ones that every host thread has.

#include "driver/State.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

constexpr unsigned allFlags = 0xff;

std::unique_ptr<CUctx_st> makeContext(unsigned flags) {
  Driver &state = driver();
  auto context = std::make_unique<CUctx_st>();
  context->flags = flags;
  context->id = state.nextContext++;
  context->legacy.context = context.get();
  context->legacy.id = state.nextStream++;
  state.live.insert(context.get());
  return context;
}

void endPrimary() {
  Driver &state = driver();
  if (!state.primary)
    return;
  synchroniseContext(state.primary.get());
  reportFindings();
  destroyContents(state.primary.get());
  state.live.erase(state.primary.get());
  state.primary.reset();
}

CUresult create(CUcontext *context, unsigned flags, CUdevice device) {
  if (!context || (flags & ~allFlags))
    return CUDA_ERROR_INVALID_VALUE;
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  Driver &state = driver();
  state.contexts.push_back(makeContext(flags));
  *context = state.contexts.back().get();
  contextStack().push_back(*context);
  return CUDA_SUCCESS;
}

} // namespace

namespace api {

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  Driver &state = driver();
  if (!state.primary) {
    state.primary = makeContext(state.primaryFlags);
    state.primary->isPrimary = true;
  }
  ++state.primaryUses;
  *context = state.primary.get();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  Driver &state = driver();
  if (state.primaryUses == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (--state.primaryUses == 0)
    endPrimary();
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return api::cuDevicePrimaryCtxRelease_v2(device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  Driver &state = driver();
  if (state.primary) {
    // The context stays the same object for those who hold it; all it owned is gone.
    synchroniseContext(state.primary.get());
    reportFindings();
    destroyContents(state.primary.get());
  }
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return api::cuDevicePrimaryCtxReset_v2(device); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  if (flags & ~allFlags)
    return CUDA_ERROR_INVALID_VALUE;
  driver().primaryFlags = flags;
  if (driver().primary)
    driver().primary->flags = flags;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return api::cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  if (!flags || !active)
    return CUDA_ERROR_INVALID_VALUE;
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  *flags = driver().primaryFlags;
  *active = driver().primary != nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
  return create(context, flags, device);
}
CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *, int count, unsigned flags, CUdevice device) {
  return count != 0 ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : create(context, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice device) {
  return params ? CUDA_ERROR_NOT_SUPPORTED : create(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  Driver &state = driver();
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  if (!state.isLive(context) || context->isPrimary)
    return CUDA_ERROR_INVALID_CONTEXT;
  synchroniseContext(context);
  reportFindings();
  destroyContents(context);
  state.live.erase(context);
  std::vector<CUcontext> &stack = contextStack();
  if (!stack.empty() && stack.back() == context)
    stack.pop_back();
  // The object itself is kept, so that its address is not taken for a new context while threads still hold it.
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!driver().isLive(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  contextStack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  std::vector<CUcontext> &stack = contextStack();
  if (stack.empty() || !stack.back())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (context)
    *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  std::vector<CUcontext> &stack = contextStack();
  if (context && !driver().isLive(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!stack.empty())
    stack.pop_back();
  if (context)
    stack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  *context = contextStack().empty() ? nullptr : contextStack().back();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  if (contextStack().empty())
    return CUDA_ERROR_INVALID_CONTEXT;
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned *flags) {
  CUcontext context;
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = currentContext(context))
    return result;
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  if (!context)
    if (CUresult result = currentContext(context))
      return result;
  if (!driver().isLive(context))
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *id = context->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  synchroniseContext(context);
  reportFindings();
  return context->sticky;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  if (context && !driver().isLive(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  CUcontext context;
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = currentContext(context))
    return result;
  if (static_cast<int>(limit) < 0 || static_cast<int>(limit) > 7)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  auto found = context->limits.find(limit);
  size_t standard = limit == CU_LIMIT_STACK_SIZE         ? 1024
                    : limit == CU_LIMIT_PRINTF_FIFO_SIZE ? 1048576
                    : limit == CU_LIMIT_MALLOC_HEAP_SIZE ? 8388608
                                                         : 0;
  *value = found == context->limits.end() ? standard : found->second;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  CUcontext context;
  if (CUresult result = currentContext(context))
    return result;
  if (static_cast<int>(limit) < 0 || static_cast<int>(limit) > 7)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  context->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
  CUcontext context;
  if (!config)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = currentContext(context))
    return result;
  *config = CU_FUNC_CACHE_PREFER_NONE;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  CUcontext context;
  return currentContext(context);
}

} // namespace api
} // namespace tilewright::ptxsim
